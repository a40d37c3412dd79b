//! The errors of providers: with a status of their own, and inside of a stream that began well.

use super::{FaultKind, Sent};
use retake_core::json::{Json, Layout};
use retake_wire::{Api, Call, ProviderError, Response};

/// Returns the error for a fault. Its headers let clients that wait before they try again do so at once.
pub(super) fn refused(kind: FaultKind, api: Api, call: &Call) -> Sent {
    let error = error_of(kind, api);
    let (status, name, body) = (error.status, error.kind, error.body(api));
    let body = if api == Api::Gemini && call.stream && call.array { Json::Array(vec![body]) } else { body };
    let own = match api {
        Api::Anthropic => Some(("request-id", REQUEST)),
        Api::OpenAiChat | Api::OpenAiResponses => Some(("x-request-id", REQUEST)),
        Api::Bedrock | Api::BedrockInvoke => Some(("x-amzn-errortype", name)),
        _ => None,
    };
    // A whole number of milliseconds above 0, which the SDKs of OpenAI and Anthropic obey.
    let headers = [("retry-after-ms", "1")].into_iter().chain(own);
    let headers = headers.map(|(name, value)| (name, value.to_owned())).collect();
    Sent { headers, ..Sent::of(&Response::json(status, body)) }
}

/// The id of a request that failed.
const REQUEST: &str = "req_011CSHoEeqs5C35K2UUqR7Fy";

/// A status, the provider's name for the error, and what it says.
type Said = (u16, &'static str, &'static str);

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
    let [anthropic, gemini, ollama, aws, openai] = said(kind);
    let (status, kind, message) = match api {
        Api::Anthropic => anthropic,
        Api::Gemini => gemini,
        Api::Ollama => ollama,
        Api::Bedrock | Api::BedrockInvoke => aws,
        _ => openai,
    };
    ProviderError { status, kind, message, code, request: Some(REQUEST), details }
}

const TOO_LONG_GEMINI: &str = "The input token count (1048580) exceeds the maximum number of tokens allowed (1048576).";
const TOO_LONG_OPENAI: &str =
    "This model's maximum context length is 128000 tokens. Please reduce the length of the messages.";
const FAILED_AWS: &str = "The system encountered an unexpected error during processing. Try your request again.";

/// What Anthropic, Google, Ollama, Amazon and OpenAI say.
fn said(kind: FaultKind) -> [Said; 5] {
    match kind {
        FaultKind::RateLimit | FaultKind::Exhausted => [
            (429, "rate_limit_error", "This request would exceed your account's rate limit. Please try again later."),
            (429, "RESOURCE_EXHAUSTED", "Resource has been exhausted (e.g. check quota)."),
            (429, "", "too many requests"),
            (429, "ThrottlingException", "Too many requests, please wait before trying again."),
            (429, "requests", "Rate limit reached for requests. Please try again in 1ms."),
        ],
        FaultKind::Overloaded => [
            (529, "overloaded_error", "Overloaded"),
            (503, "UNAVAILABLE", "The model is overloaded. Please try again later."),
            (503, "", "server busy, please try again.  maximum pending requests exceeded"),
            (503, "ServiceUnavailableException", "Bedrock is unable to process your request."),
            (503, "server_error", "The engine is currently overloaded, please try again later"),
        ],
        FaultKind::ContextOverflow => [
            (400, "invalid_request_error", "prompt is too long: 200512 tokens > 200000 maximum"),
            (400, "INVALID_ARGUMENT", TOO_LONG_GEMINI),
            (400, "", "the input length exceeds the context length"),
            (400, "ValidationException", "Input is too long for requested model."),
            (400, "invalid_request_error", TOO_LONG_OPENAI),
        ],
        FaultKind::Unauthorized => [
            (401, "authentication_error", "invalid x-api-key"),
            (401, "UNAUTHENTICATED", "Request had invalid authentication credentials."),
            (401, "", "unauthorized"),
            (403, "UnrecognizedClientException", "The security token included in the request is invalid."),
            (401, "invalid_request_error", "Incorrect API key provided."),
        ],
        FaultKind::ModelGone => [
            (404, "not_found_error", "the model was not found"),
            (404, "NOT_FOUND", "The model is not found for API version v1beta."),
            (404, "", "model not found"),
            (404, "ResourceNotFoundException", "This model version has reached the end of its life."),
            (404, "invalid_request_error", "The model does not exist or you do not have access to it."),
        ],
        _ => [
            (500, "api_error", "Internal server error"),
            (500, "INTERNAL", "An internal error has occurred. Please retry."),
            (500, "", "an error was encountered while running the model: unexpected EOF"),
            (500, "InternalServerException", FAILED_AWS),
            (500, "server_error", "The server had an error while processing your request. Sorry about that!"),
        ],
    }
}

/// Returns the frame with which a provider says, in a stream that began well, that it cannot go on. `sent` is the number of frames
/// before it.
pub(super) fn in_stream(api: Api, sent: usize) -> String {
    // Anthropic's capacity runs out in the middle of streams; the others have internal errors.
    let kind = if matches!(api, Api::Anthropic | Api::Gemini) { FaultKind::Overloaded } else { FaultKind::Error500 };
    let error = error_of(kind, api);
    let (event, body) = match api {
        Api::OpenAiResponses => {
            let fields = [
                ("type", Json::from("error")),
                ("code", error.kind.into()),
                ("message", error.message.into()),
                ("param", Json::Null),
                ("sequence_number", sent.into()),
            ];
            ("event: error\n", Json::object(fields))
        }
        Api::Anthropic => ("event: error\n", error.body(api)),
        Api::Ollama => return error.body(api).print(Layout::Compact) + "\n",
        Api::Bedrock | Api::BedrockInvoke => {
            (":exception-type internalServerException\n", Json::object([("message", error.message.into())]))
        }
        Api::OpenAiChat | Api::Gemini | Api::Declared(_) | Api::Opaque => ("", error.body(api)),
    };
    format!("{event}data: {}\n\n", body.print(Layout::Compact))
}
