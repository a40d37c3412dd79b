use super::*;

fn parts<'a>(a: &'a str, b: &'a str) -> Option<(&'a str, &'a str)> {
    let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
    permuted(a, b, at).map(|(of_a, of_b)| (&a[of_a], &b[of_b]))
}

#[test]
fn the_same_items_in_a_different_order_are_found() {
    assert_eq!(parts("{'b', 'a'} at 1", "{'a', 'b'} at 2"), Some(("{'b', 'a'}", "{'a', 'b'}")));
    assert_eq!(parts("found b.txt a.txt", "found a.txt b.txt"), Some(("found b.txt a.txt", "found a.txt b.txt")));
    assert_eq!(parts("x\nb c\na\nend", "x\na\nb c\nend"), Some(("b c\na", "a\nb c")));
    assert_eq!(parts(r#"{"b":1,"a":[2]}"#, r#"{"a":[2],"b":1}"#).map(|(a, _)| a), Some(r#"{"b":1,"a":[2]}"#));
    assert_eq!(parts("a b", "a c"), None);
    assert_eq!(parts("12:03", "12:04"), None);
}
