use super::*;

fn places(classes: &[(&str, usize)]) -> Vec<(String, String)> {
    let of_class = |(class, count): &(&str, usize)| {
        let class = (*class).to_owned();
        (0..*count).map(move |index| (class.clone(), format!("{class}{index}"))).collect::<Vec<_>>()
    };
    classes.iter().flat_map(of_class).collect()
}

#[test]
fn what_fits_is_all_chosen() {
    assert_eq!(spread(places(&[("a", 2), ("b", 1)]), 3), ["a0", "a1", "b0"]);
    assert!(spread(places(&[]), 3).is_empty());
}

#[test]
fn a_class_of_one_is_chosen_beside_a_class_of_hundreds() {
    assert_eq!(spread(places(&[("a", 500), ("b", 1), ("c", 2)]), 7), ["a62", "a187", "a312", "a437", "b0", "c0", "c1"]);
}

#[test]
fn of_more_classes_than_may_be_chosen_each_part_has_one() {
    let classes: Vec<String> = (0..100).map(|index| format!("c{index:02}")).collect();
    let classes: Vec<(&str, usize)> = classes.iter().map(|class| (class.as_str(), 3)).collect();
    let chosen = spread(places(&classes), 4);
    assert_eq!(chosen, ["c121", "c371", "c621", "c871"]);
}
