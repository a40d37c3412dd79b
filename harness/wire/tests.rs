mod properties;
mod same_key;

use super::*;

#[test]
fn an_api_is_known_by_the_end_of_its_path() {
    for path in [
        "/v1/chat/completions",
        "/chat/completions",
        "/api/v1/chat/completions/",
        "/openai/deployments/my-gpt/chat/completions?api-version=2024-10-21",
    ] {
        assert_eq!(api_of_path(path), Some(Api::OpenAiChat), "{path}");
    }
    for path in ["/v1/messages", "/messages?beta=true", "/anthropic/v1/messages/"] {
        assert_eq!(api_of_path(path), Some(Api::Anthropic), "{path}");
    }
    for path in ["/v1/responses", "/responses", "/backend-api/codex/responses"] {
        assert_eq!(api_of_path(path), Some(Api::OpenAiResponses), "{path}");
    }
    for path in ["/v1beta/models/gemini-pro:generateContent", "/v1/x/models/m:streamGenerateContent?alt=sse"] {
        assert_eq!(api_of_path(path), Some(Api::Gemini), "{path}");
    }
    assert_eq!(api_of_path("/api/chat"), Some(Api::Ollama));
    for path in [
        "",
        "/v1beta/models/gemini-pro:countTokens",
        "/api/generate",
        "/chat",
        "/v1/responses/resp_1",
        "/",
        "/v1/completions",
        "/v1/chat/completions/chatcmpl-1",
        "/v1/embeddings?of=/chat/completions",
        "/v1/messages/count_tokens",
        "/v1/messages/batches",
        "/v1/threads/thread_1/messages",
    ] {
        assert_eq!(api_of_path(path), None, "{path}");
    }
}

#[test]
fn names_read_back() {
    for api in Api::ALL {
        assert_eq!(Api::from_name(api.name()), Some(api));
    }
    assert_eq!(Api::from_name("openai"), None);
}
