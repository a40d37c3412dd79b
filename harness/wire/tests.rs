mod properties;
mod same_key;

use super::*;
use retake_core::conversation::{Answer, Block, Finish, Usage};

#[test]
fn the_end_of_a_path_identifies_the_api() {
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
fn an_api_is_found_by_its_name() {
    for api in Api::ALL {
        assert_eq!(Api::from_name(api.name()), Some(api));
    }
    assert_eq!(Api::from_name("openai"), None);
}

#[test]
fn each_api_renders_all_the_usage_counts_that_it_can_express() {
    let given = Usage { input: 100, output: 50, cached: 30, cache_written: 20, reasoning: 10 };
    let answer = Answer {
        blocks: vec![Block::Text("hi".to_owned())],
        finish: Some(Finish::Stop),
        usage: Some(given),
        ..Answer::default()
    };
    for api in Api::ALL.into_iter().filter(|api| *api != Api::Opaque) {
        let call = RenderFor { api, stream: false, array: false, include_usage: true, model: "m", seed: "s" };
        let said = decode_response(api, &render(&answer, &call).unwrap()).unwrap().usage.unwrap();
        let expected = match api {
            Api::Anthropic | Api::Bedrock | Api::BedrockInvoke => Usage { reasoning: 0, ..given },
            Api::Ollama => Usage { input: 100, output: 50, ..Usage::default() },
            _ => Usage { cache_written: 0, ..given },
        };
        assert_eq!(said, expected, "{api}");
    }
}
