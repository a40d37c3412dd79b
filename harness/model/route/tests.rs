use super::*;

#[test]
fn the_provider_is_found_by_path_or_headers() {
    let of = |path: &str, header: Option<&'static str>| {
        let value = axum::http::HeaderValue::from_static("x");
        provider(path, &header.map(|name| (axum::http::HeaderName::from_static(name), value)).into_iter().collect())
    };
    assert_eq!(of("/v1/embeddings", None), Api::OpenAiChat);
    assert_eq!(of("/v1/models", Some("anthropic-version")), Api::Anthropic);
    assert_eq!(of("/v1/messages/count_tokens", None), Api::Anthropic);
    assert_eq!(of("/v1beta/models/m:embedContent", None), Api::Gemini);
    assert_eq!([of("/api/embed", None), of("/api/version", None)], [Api::Ollama; 2]);
    assert_eq!([of("/api/v0/completions", None), of("/api/v1/chat", None)], [Api::OpenAiChat; 2]);
    assert_eq!(of("/v1/threads/thread_1/messages", None), Api::OpenAiChat);
}

#[test]
fn any_method_that_providers_use_is_a_call() {
    let of = |method: Method, path: &str| Route::of(&method, path, &HeaderMap::new());
    for method in [Method::POST, Method::GET, Method::HEAD, Method::PUT, Method::PATCH, Method::DELETE] {
        assert_eq!(of(method, "/v1/responses/resp_1"), Route::Call);
    }
    assert_eq!(of(Method::OPTIONS, "/v1/responses"), Route::Unknown);
    assert_eq!(of(Method::GET, "/v1/models"), Route::Aside(Aside::Models(Api::OpenAiChat)));
    assert_eq!(of(Method::HEAD, "/"), Route::Aside(Aside::Heartbeat));
    assert_eq!(of(Method::GET, "/api/version"), Route::Aside(Aside::Version));
}

/// This happened in a service whose base URL ended with the version that its client adds.
#[test]
fn a_path_with_the_version_twice_is_not_a_call() {
    let of = |path: &str| Route::of(&Method::POST, path, &HeaderMap::new());
    for path in ["/v1/v1/chat/completions", "/v1/v1/messages", "/v1beta/v1beta/models/m:generateContent"] {
        assert_eq!(of(path), Route::Unknown, "{path}");
    }
    for path in
        ["/openai/v1/chat/completions", "/v1/proxy/v1/messages", "/v1/videos/videos", "/v1/v1beta/models/m:countTokens"]
    {
        assert_eq!(of(path), Route::Call, "{path}");
    }
}
