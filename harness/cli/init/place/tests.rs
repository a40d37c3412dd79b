use super::*;

#[test]
fn an_empty_folder_is_asked_about_until_the_answer_is_a_language() {
    for (typed, is) in [
        ("p\n", Language::Python),
        ("TypeScript\n", Language::TypeScript),
        ("what?\n\nrust\n", Language::Rust),
        ("other\n", Language::Other),
    ] {
        assert_eq!(asked(&mut typed.as_bytes()).unwrap(), is, "{typed:?}");
    }
    assert!(asked(&mut "go\n".as_bytes()).unwrap_err().to_string().contains("--language python"));
}
