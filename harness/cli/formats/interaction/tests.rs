use super::*;

#[test]
fn a_url_has_a_host_or_a_placeholder_and_a_path_with_its_query() {
    for (url, expected) in [
        ("https://api.openai.com/v1/responses", Some(("api.openai.com", "/v1/responses"))),
        ("https://a:8080/x:y?alt=sse#stream", Some(("a:8080", "/x:y?alt=sse"))),
        ("/v1/messages", Some(("", "/v1/messages"))),
        ("<OLLAMA_API_BASE>/chat/completions", Some(("<OLLAMA_API_BASE>", "/chat/completions"))),
        ("{{ base_url }}/v1/messages", Some(("{{ base_url }}", "/v1/messages"))),
        ("#{BASE}/v1/messages#x", Some(("#{BASE}", "/v1/messages"))),
        ("API_BASE/responses?a=b/c", Some(("API_BASE", "/responses?a=b/c"))),
        ("<API_BASE>chat/completions", Some(("<API_BASE", "/chat/completions"))),
        ("<HOST>:11434/api/chat", Some(("<HOST>:11434", "/api/chat"))),
        ("https://<NAME>.openai.azure.com/openai/x", Some(("<NAME>.openai.azure.com", "/openai/x"))),
        ("https://a/v1/<P>/{L}/c d/50%25?q='<x>'", Some(("a", "/v1/%3CP%3E/%7BL%7D/c%20d/50%25?q='<x>'"))),
        ("http://localhost:9999", Some(("localhost:9999", "/"))),
        ("https://a?b=c#d", Some(("a", "/?b=c"))),
        ("googleapis.com", None),
        ("<API_BASE>", None),
        ("", None),
    ] {
        let found = host_and_path(url);
        assert_eq!(found.as_ref().map(|(host, path)| (*host, &**path)), expected, "{url}");
    }
}
