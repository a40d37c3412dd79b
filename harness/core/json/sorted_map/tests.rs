use crate::json::{Json, Object};

#[test]
fn keys_are_sorted_and_a_repeated_key_has_its_last_value() {
    let entries = [("b", 1), ("a", 2), ("b", 3), ("B", 4), ("a", 5), ("b", 6)];
    let mut object: Object = entries.into_iter().map(|(key, n)| (key.to_owned(), Json::Int(n))).collect();
    let read = |object: &Object| -> Vec<(String, Json)> { object.clone().into_iter().collect() };
    let expected = [("B", 4), ("a", 5), ("b", 6)].map(|(key, n)| (key.to_owned(), Json::Int(n)));
    assert_eq!(read(&object), expected);
    assert_eq!(object.insert("a", Json::Null), Some(Json::Int(5)));
    assert_eq!(object.remove("B"), Some(Json::Int(4)));
    object.extend([("b".to_owned(), Json::Bool(true)), ("0".to_owned(), Json::Null)]);
    assert_eq!(object.keys().collect::<Vec<_>>(), ["0", "a", "b"]);
    assert_eq!((object.get("b"), object.contains_key("B")), (Some(&Json::Bool(true)), false));
    assert_eq!(*object.or_insert_with("c", || Json::Int(7)), Json::Int(7));
    assert_eq!(object.len(), 4);
}
