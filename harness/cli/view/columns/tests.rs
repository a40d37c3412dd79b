use super::*;

#[test]
fn lines_break_at_spaces_and_never_exceed_the_width() {
    let lines = wrapped("one two three four five six seven", 2, 22);
    assert_eq!(lines, ["  one two three four", "  five six seven"]);
    let long = "x".repeat(50);
    assert!(wrapped(&long, 2, 22).iter().all(|line| line.chars().count() <= 22));
    assert_eq!(wrapped("a\n\nb\n", 1, 40), [" a", "", " b"]);
}

#[test]
fn omitted_lines_are_counted_and_a_single_line_is_never_omitted() {
    assert_eq!(first_lines("a\nb\nc", 0, 40, 2), (vec!["a".into(), "b".into(), "c".into()], 0));
    assert_eq!(first_lines("a\nb\nc\nd", 0, 40, 2), (vec!["a".into(), "b".into()], 2));
}

#[test]
fn a_line_has_no_breaks_and_is_not_wider_than_asked() {
    assert_eq!(in_a_line("a\n  b\u{1b}[31m c", 40), "a b\\u{1b}[31m c");
    assert_eq!(in_a_line("abcdefgh", 5), "abcd…");
}
