use super::Series;
use crate::json::Json;

fn of(numbers: &[i64]) -> Series {
    let mut series = Series::default();
    for number in numbers {
        series.add(&Json::Int(*number));
    }
    series
}

#[test]
fn numbers_that_count_are_told_by_where_they_begin() {
    for (numbers, from) in [
        (&[0, 1, 2, 3][..], Some(0)),
        (&[1, 2, 3, 1, 2, 1], Some(1)),
        (&[0], Some(0)),
        (&[0, 0, 0], None),
        (&[0, 2, 1], None),
        (&[4, 5, 6], None),
        (&[0, 1, 1, 2], None),
    ] {
        assert_eq!(of(numbers).from(), from, "{numbers:?}");
    }
}

#[test]
fn few_numbers_do_not_show_that_a_place_counts() {
    assert!(of(&[0, 1, 2]).is_telling());
    assert!(!of(&[1, 2, 1, 2]).is_telling());
    assert!(!of(&[0, 1, 2, 2]).is_telling());
}
