//! The errors of providers: with a status of their own, and inside of a stream that began well.

use super::{End, FaultKind, Sent};
use retake_core::json::{Json, Layout};
use retake_wire::{Api, Call, ProviderError};

/// Returns the error for a fault. Its headers let clients that wait before they try again do so at once.
pub(super) fn refused(kind: FaultKind, api: Api, call: &Call) -> Sent {
    let error = error_of(kind, api);
    let status = error.status;
    let mut body = error.body(api);
    if api == Api::Gemini && call.stream && call.array {
        body = Json::Array(vec![body]);
    }
    let text = body.print(Layout::Compact);
    // A whole number of milliseconds above 0, which the SDKs of OpenAI and Anthropic obey.
    let mut headers = vec![("retry-after-ms", "1".to_owned())];
    match api {
        Api::Anthropic => headers.push(("request-id", REQUEST.to_owned())),
        Api::OpenAiChat | Api::OpenAiResponses => headers.push(("x-request-id", REQUEST.to_owned())),
        Api::Gemini | Api::Ollama | Api::Declared(_) | Api::Opaque => {}
    }
    Sent {
        status,
        headers,
        content_type: "application/json".to_owned(),
        length: Some(text.len()),
        pieces: vec![text.into()],
        end: End::Whole,
    }
}

/// The id of a request that failed.
const REQUEST: &str = "req_011CSHoEeqs5C35K2UUqR7Fy";

fn error_of(kind: FaultKind, api: Api) -> ProviderError<'static> {
    let limited = matches!(kind, FaultKind::RateLimit | FaultKind::Exhausted);
    let code = match kind {
        FaultKind::ContextOverflow => Some("context_length_exceeded"),
        FaultKind::Unauthorized => Some("invalid_api_key"),
        FaultKind::ModelGone => Some("model_not_found"),
        _ => limited.then_some("rate_limit_exceeded"),
    };
    let retry = [("@type", "type.googleapis.com/google.rpc.RetryInfo"), ("retryDelay", "0.001s")];
    let retry = Json::object(retry.map(|(key, value)| (key, Json::from(value))));
    let details = limited.then(|| Json::Array(vec![retry]));
    let of = |status, kind, message| ProviderError { status, kind, message, code, request: Some(REQUEST), details };
    match (kind, api) {
        (FaultKind::RateLimit | FaultKind::Exhausted, Api::Anthropic) => {
            of(429, "rate_limit_error", "This request would exceed your account's rate limit. Please try again later.")
        }
        (FaultKind::RateLimit | FaultKind::Exhausted, Api::Gemini) => {
            of(429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota).")
        }
        (FaultKind::RateLimit | FaultKind::Exhausted, Api::Ollama) => of(429, "", "too many requests"),
        (FaultKind::RateLimit | FaultKind::Exhausted, _) => {
            of(429, "requests", "Rate limit reached for requests. Please try again in 1ms.")
        }
        (FaultKind::Overloaded, Api::Anthropic) => of(529, "overloaded_error", "Overloaded"),
        (FaultKind::Overloaded, Api::Gemini) => {
            of(503, "UNAVAILABLE", "The model is overloaded. Please try again later.")
        }
        (FaultKind::Overloaded, Api::Ollama) => {
            of(503, "", "server busy, please try again.  maximum pending requests exceeded")
        }
        (FaultKind::Overloaded, _) => {
            of(503, "server_error", "The engine is currently overloaded, please try again later")
        }
        (FaultKind::ContextOverflow, Api::Anthropic) => {
            of(400, "invalid_request_error", "prompt is too long: 200512 tokens > 200000 maximum")
        }
        (FaultKind::ContextOverflow, Api::Gemini) => of(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1048580) exceeds the maximum number of tokens allowed (1048576).",
        ),
        (FaultKind::ContextOverflow, Api::Ollama) => of(400, "", "the input length exceeds the context length"),
        (FaultKind::ContextOverflow, _) => of(
            400,
            "invalid_request_error",
            "This model's maximum context length is 128000 tokens. Please reduce the length of the messages.",
        ),
        (FaultKind::Unauthorized, Api::Anthropic) => of(401, "authentication_error", "invalid x-api-key"),
        (FaultKind::Unauthorized, Api::Gemini) => {
            of(401, "UNAUTHENTICATED", "Request had invalid authentication credentials.")
        }
        (FaultKind::Unauthorized, Api::Ollama) => of(401, "", "unauthorized"),
        (FaultKind::Unauthorized, _) => of(401, "invalid_request_error", "Incorrect API key provided."),
        (FaultKind::ModelGone, Api::Anthropic) => of(404, "not_found_error", "the model was not found"),
        (FaultKind::ModelGone, Api::Gemini) => of(404, "NOT_FOUND", "The model is not found for API version v1beta."),
        (FaultKind::ModelGone, Api::Ollama) => of(404, "", "model not found"),
        (FaultKind::ModelGone, _) => {
            of(404, "invalid_request_error", "The model does not exist or you do not have access to it.")
        }
        (_, Api::Anthropic) => of(500, "api_error", "Internal server error"),
        (_, Api::Gemini) => of(500, "INTERNAL", "An internal error has occurred. Please retry."),
        (_, Api::Ollama) => of(500, "", "an error was encountered while running the model: unexpected EOF"),
        (_, _) => of(500, "server_error", "The server had an error while processing your request. Sorry about that!"),
    }
}

/// Returns the frame with which a provider says, in a stream that began well, that it cannot go on. `sent` is the number of frames
/// before it.
pub(super) fn in_stream(api: Api, sent: usize) -> String {
    // Anthropic's capacity runs out in the middle of streams; the others have internal errors.
    let kind = if matches!(api, Api::Anthropic | Api::Gemini) { FaultKind::Overloaded } else { FaultKind::Error500 };
    let error = error_of(kind, api);
    match api {
        Api::OpenAiResponses => {
            let fields = [
                ("type", Json::from("error")),
                ("code", error.kind.into()),
                ("message", error.message.into()),
                ("param", Json::Null),
                ("sequence_number", sent.into()),
            ];
            format!("event: error\ndata: {}\n\n", Json::object(fields).print(Layout::Compact))
        }
        Api::Anthropic => format!("event: error\ndata: {}\n\n", error.body(api).print(Layout::Compact)),
        Api::Ollama => error.body(api).print(Layout::Compact) + "\n",
        Api::OpenAiChat | Api::Gemini | Api::Declared(_) | Api::Opaque => {
            format!("data: {}\n\n", error.body(api).print(Layout::Compact))
        }
    }
}
