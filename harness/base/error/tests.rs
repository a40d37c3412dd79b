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
