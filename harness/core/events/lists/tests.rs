use super::*;

const A: &str = "0a0a0a0a0a0a";
const B: &str = "1b1b1b1b1b1b";
const C: &str = "2c2c2c2c2c2c";

fn shape(lists: &[Json]) -> List {
    let mut all = Lists::default();
    for list in lists {
        all.add(list.as_array().unwrap());
    }
    all.finish()
}

fn messages(ids: &[&str]) -> Json {
    Json::Array(ids.iter().map(|id| Json::object([("id".to_owned(), Json::from(*id))])).collect())
}

#[test]
fn lists_have_a_range_and_a_total() {
    let List { range, total, .. } = shape(&[messages(&[]), messages(&[A, B]), messages(&[C])]);
    assert_eq!((range, total), (Some((0, 2)), Some(3)));
}

#[test]
fn a_list_that_grows_at_either_end_or_in_its_middle_keeps_its_order() {
    assert!(!shape(&[messages(&[A]), messages(&[A, B]), messages(&[A, B, C])]).reordered);
    assert!(!shape(&[messages(&[A]), messages(&[B, A]), messages(&[C, B, A])]).reordered);
    assert!(!shape(&[messages(&[A, C]), messages(&[A, B, C])]).reordered);
}

#[test]
fn elements_that_appear_in_a_different_order_are_reordered() {
    assert!(shape(&[messages(&[A, B, C]), messages(&[C, B, A])]).reordered);
    assert!(shape(&[messages(&[A, B, C]), messages(&[A, C, B])]).reordered);
    let ids = |ids: [&str; 2]| Json::Array(ids.map(Json::from).to_vec());
    assert!(shape(&[ids([A, B]), ids([B, A])]).reordered);
}

#[test]
fn elements_without_ids_and_elements_that_appear_twice_have_no_order() {
    assert!(!shape(&[messages(&["first", "second"]), messages(&["second", "first"])]).reordered);
    assert!(!shape(&[messages(&[A, B, A])]).reordered);
}
