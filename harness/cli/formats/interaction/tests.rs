use super::*;

#[test]
fn the_path_includes_the_query_but_not_the_fragment() {
    for (url, path) in [
        ("https://api.openai.com/v1/responses", Some("/v1/responses")),
        ("https://a:8080/x:y?alt=sse#stream", Some("/x:y?alt=sse")),
        ("/v1/messages", Some("/v1/messages")),
        ("https://a", None),
        ("", None),
    ] {
        assert_eq!(path_of(url), path, "{url}");
    }
}
