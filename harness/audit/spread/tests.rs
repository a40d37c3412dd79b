use super::*;

fn places(classes: &[(&str, usize)]) -> Vec<(String, String)> {
    let of_class = |(class, count): &(&str, usize)| {
        let class = (*class).to_owned();
        (0..*count).map(move |index| (class.clone(), format!("{class}{index}"))).collect::<Vec<_>>()
    };
    classes.iter().flat_map(of_class).collect()
}

#[test]
fn all_places_are_chosen_if_they_fit() {
    assert_eq!(spread(places(&[("a", 2), ("b", 1)]), 3), ["a0", "a1", "b0"]);
    assert!(spread(places(&[]), 3).is_empty());
}

#[test]
fn a_class_of_one_is_chosen_next_to_a_class_of_hundreds() {
    assert_eq!(spread(places(&[("a", 500), ("b", 1), ("c", 2)]), 7), ["a62", "a187", "a312", "a437", "b0", "c0", "c1"]);
}

#[test]
fn classes_are_spread_evenly_if_there_are_too_many() {
    let classes: Vec<String> = (0..100).map(|index| format!("c{index:02}")).collect();
    let classes: Vec<(&str, usize)> = classes.iter().map(|class| (class.as_str(), 3)).collect();
    let chosen = spread(places(&classes), 4);
    assert_eq!(chosen, ["c121", "c371", "c621", "c871"]);
}
