use super::completed;

#[test]
fn only_missing_entries_are_added_and_only_if_toml_allows_it() {
    let plain = "[package]\nname = \"agent\"\n\n[dev-dependencies]\ntempfile = \"3\"\n";
    let both = completed(plain).unwrap();
    assert!(both.starts_with(plain), "the existing text stays unchanged: {both}");
    assert!(
        both.contains("[dev-dependencies.retake]")
            && both.contains("[[test]]\nname = \"scenarios\"\nharness = false\n")
    );
    assert_eq!(completed(&both).as_deref(), Ok(&*both), "nothing is added twice");
    let inline = "dev-dependencies = { retake = \"0.1\" }\n[package]\nname = \"agent\"\n";
    assert!(!completed(inline).unwrap().contains("[dev-dependencies.retake]"));
    for by_hand in ["dev-dependencies = { a = \"1\" }\n[package]\nname = \"agent\"\n", "[workspace]\n", "[package\n"] {
        assert!(completed(by_hand).is_err(), "{by_hand}");
    }
}
