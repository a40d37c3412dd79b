use super::*;
use crate::error::Error;

#[test]
fn nearest_name_is_near() {
    assert_eq!(nearest("jsn", ["json", "post"]), Some("json"));
    assert_eq!(nearest("JSON", ["json", "post"]), Some("json"));
    assert_eq!(nearest("zzz", ["json", "post"]), None);
}

#[test]
fn a_terminal_is_safe_from_what_was_found() {
    let found = "`\x1b[31mred\r\u{202e}\0` é 日本";
    assert_eq!(Error::new(found).help(found).to_string(), {
        let shown = "`\\u{1b}[31mred\\r\\u{202e}\\u{0}` é 日本";
        format!("{shown}\n  {shown}")
    });
    let long = Error::new(format!("`{}` is not a name\nand a second line", "é".repeat(100_000))).to_string();
    assert!(long.ends_with("é` is not a name\nand a second line") && long.starts_with("`éé"), "{long}");
    assert_eq!(long.lines().next().map(|line| line.chars().count()), Some(LONGEST_LINE + 3));
}

#[test]
fn two_texts_are_shown_from_where_they_part() {
    let same = "x".repeat(60);
    let said = |one: &str, other: &str| {
        let (one, other) = apart(one, other, 20);
        format!("{one} / {other}")
    };
    assert_eq!(said("a", "b"), "a / b");
    assert_eq!(said("free.", "free. "), "free. / free.·");
    assert_eq!(said("a  b c\n", "a b c"), "a ·b·c⏎ / a b·c");
    assert_eq!(said("a b", "a\nb"), "a·b / a⏎b");
    assert_eq!(said(&format!("{same}one and more of it"), &same), "…xxxxxxxxxxone and mo… / …xxxxxxxxxx");
    assert_eq!(said(&format!("{same}1"), &format!("{same}2")), "…xxxxxxxxxx1 / …xxxxxxxxxx2");
    assert_eq!(said(&format!("1{same}"), &format!("2{same}")), "1xxxxxxxxxxxxxxxxxxx… / 2xxxxxxxxxxxxxxxxxxx…");
}
