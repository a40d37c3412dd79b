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
    assert_eq!(
        said("Zo\u{eb} K\u{e9}", "Zoe\u{308} Ke\u{301}"),
        "Zo\u{eb} K\u{e9} (NFC, U+00EB) / Zoe\u{308} Ke\u{301} (NFD, U+0065 U+0308)"
    );
    // What was cut is as far as it goes.
    assert_eq!(
        said("\"Zo\u{eb} is\u{2026}\"", "\"Zoe\u{308} i\u{2026}\""),
        "\"Zo\u{eb} is\u{2026}\" (NFC, U+00EB) / \"Zoe\u{308} i\u{2026}\" (NFD, U+0065 U+0308)"
    );
    assert_eq!(said("Zo\u{eb}", "Zoe"), "Zo\u{eb} / Zoe");
    assert_eq!(said("\u{eb}a", "e\u{308}b"), "\u{eb}a / e\u{308}b");
    assert_eq!(said(&format!("{same}one and more of it"), &same), "…xxxxxxxxxxone and mo… / …xxxxxxxxxx");
    assert_eq!(said(&format!("{same}1"), &format!("{same}2")), "…xxxxxxxxxx1 / …xxxxxxxxxx2");
    assert_eq!(said(&format!("1{same}"), &format!("2{same}")), "1xxxxxxxxxxxxxxxxxxx… / 2xxxxxxxxxxxxxxxxxxx…");
}

#[test]
fn what_is_printed_is_shown_and_not_executed() {
    let cases = [
        ("plain ::text:: of a line\n  a: b\n\t# c [d]\n### e [f]", None),
        ("::add-mask::x", Some("\\u003a:add-mask::x")),
        ("a\n \t\u{3000}::stop-commands::x", Some("a\n \t\u{3000}\\u003a:stop-commands::x")),
        ("a ##vso[task.complete]b", Some("a #\\u0023vso[task.complete]b")),
        ("###[error]", Some("##\\u0023[error]")),
        ("##teamcity[x ##[group]", Some("#\\u0023teamcity[x #\\u0023[group]")),
        ("\u{1b}[31m\u{9b}31m\r\u{7f}\u{202e}é", Some("\\u001b[31m\\u009b31m\\u000d\\u007f\\u202eé")),
        ("\u{1b}", Some("\\u001b")),
    ];
    for (text, wanted) in cases {
        assert_eq!(printed(text), wanted.unwrap_or(text));
        assert_eq!(printed(&printed(text)), printed(text), "once is enough");
    }
    // JSON keeps its meaning.
    let json = "{\"a\": \"##vso[x]\u{9b}\u{7f}\"}";
    assert_eq!(printed(json), "{\"a\": \"#\\u0023vso[x]\\u009b\\u007f\"}");
}

#[test]
fn a_text_has_another_unicode_form() {
    let (composed, decomposed) = ("the caf\u{e9} of Zo\u{eb}", "the cafe\u{301} of Zoe\u{308}");
    let of = |text: &str| in_other_form(text).unwrap();
    assert_eq!(of(decomposed), (composed.to_owned(), "NFD, U+0065 U+0301 in place of NFC, U+00E9".to_owned()));
    assert_eq!(of(composed), (decomposed.to_owned(), "NFC, U+00E9 in place of NFD, U+0065 U+0301".to_owned()));
    assert_eq!(in_other_form("the tables"), None);
}

#[test]
fn digits_are_grouped_by_three() {
    assert_eq!([0, 999, 1_204, 1_000_000].map(in_thousands), ["0", "999", "1,204", "1,000,000"]);
}
