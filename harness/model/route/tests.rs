use super::*;

#[test]
fn the_provider_shows_in_path_or_headers() {
    let of = |path: &str, header: Option<&'static str>| {
        let value = axum::http::HeaderValue::from_static("x");
        provider(path, &header.map(|name| (axum::http::HeaderName::from_static(name), value)).into_iter().collect())
    };
    assert_eq!(of("/v1/embeddings", None), Api::OpenAiChat);
    assert_eq!(of("/v1/models", Some("anthropic-version")), Api::Anthropic);
    assert_eq!(of("/v1/messages/count_tokens", None), Api::Anthropic);
    assert_eq!(of("/v1beta/models/m:embedContent", None), Api::Gemini);
    assert_eq!(of("/api/embed", None), Api::Ollama);
}
