use super::*;

#[test]
fn prints_place_first_and_help_last() {
    let error = Error::new("unknown field `jsn`")
        .in_file(Path::new("scenarios/a/scenario.toml"))
        .at(Place::of("é\nab jsn", 6))
        .help("did you mean `json`?");
    let text = "scenarios/a/scenario.toml:2:4: unknown field `jsn`\n  did you mean `json`?";
    assert_eq!(error.to_string(), text);
}

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
    let long = Error::new(format!("`{}` is no name\nand a second line", "é".repeat(100_000))).to_string();
    assert!(long.ends_with("é` is no name\nand a second line") && long.starts_with("`éé"), "{long}");
    assert_eq!(long.lines().next().map(|line| line.chars().count()), Some(LONGEST_LINE + 3));
}
