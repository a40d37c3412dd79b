use super::*;

#[test]
fn details_are_read_and_printed() {
    for word in Detail::WORDS {
        assert_eq!(word.parse::<Detail>().unwrap().to_string(), word);
    }
    let error = "type".parse::<Detail>().unwrap_err().to_string();
    assert_eq!(error, "unknown detail `type`, expected `keys`, `types` or `values`\n  did you mean `types`?");
}
