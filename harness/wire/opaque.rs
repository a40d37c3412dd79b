//! Requests that are not chat calls. No conversation can be read from them, so the whole request counts: method, path, query and
//! body.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::{Api, Call, Known, Target, anthropic, gemini, multipart, openai_responses};
use retake_core::conversation::{Message, OPAQUE};
use retake_core::json::Json;

/// Decodes a request into a call whose conversation is a single message. The name of the message is the method and the path, with
/// the query if it counts; its content is the body. If the request counts the tokens of a call, the content is only that call's
/// conversation, while its prompt, tools and so on become checks, as they do for the call itself.
pub(super) fn decode(target: Target<'_>, body: &Json) -> Call {
    let request = |content: Json| Message {
        name: Some(format!("{} {}", target.method, target.stored())),
        content,
        ..Message::new(OPAQUE, "")
    };
    if let Some((counted, field)) = counted(target, body) {
        let conversation = counted_body(body).get(field).cloned();
        let content = Json::object([(field, Json::from(conversation))]);
        return Call {
            api: Api::Opaque,
            messages: vec![request(content).into()],
            stream: false,
            array: false,
            form: Json::Null,
            extra: Json::Null,
            ..counted
        };
    }
    let request = request(body.clone());
    let model = body.str_of("model").unwrap_or_default().to_owned();
    Call { include_usage: false, model, ..Call::of(Api::Opaque, vec![request.into()]) }
}

/// Returns the call whose tokens a request counts, and the name of the field that contains its conversation.
fn counted(target: Target<'_>, body: &Json) -> Option<(Call, &'static str)> {
    let mut segments = target.segments();
    let (last, before) = (segments.next()?, segments.next());
    let body = counted_body(body);
    let (call, field) = match (last, before) {
        _ if !target.is_post() => return None,
        ("count_tokens", Some("messages")) => (anthropic::request::READER.decode(target.path, body), "messages"),
        ("input_tokens", Some("responses")) => (openai_responses::request::decode(body, &Known::default()), "input"),
        (last, _) if last.ends_with(":countTokens") => (gemini::request::decode(target.path, body), "contents"),
        _ => return None,
    };
    call.ok().map(|call| (call, field))
}

/// Returns the request whose tokens are counted. For Gemini it may be in a field of its own.
fn counted_body(body: &Json) -> &Json {
    body.get("generateContentRequest").unwrap_or(body)
}

/// Whether a canonical conversation is a request that only reads. A client that polls sends such a request any number of times,
/// or never.
pub fn only_reads(conversation: &[Json]) -> bool {
    let request = conversation.first().filter(|message| message.str_of("type") == Some(OPAQUE));
    let method = request.and_then(|request| request.str_of("name")?.split(' ').next());
    matches!(method, Some("GET" | "HEAD"))
}

/// Returns the body of any request as JSON: the parsed body if it is JSON, the parts of a multipart form, a string if it is other text,
/// and `{"base64": …}` if it is not text. An empty body becomes null, and the body `null` its text.
pub fn request_body(bytes: &[u8]) -> Json {
    if bytes.is_empty() {
        return Json::Null;
    }
    match (Json::parse_request(bytes), multipart::parts(bytes)) {
        (Ok(Json::Null), _) => "null".into(),
        (Ok(json), _) => json,
        (Err(_), Some(parts)) => Json::object([("multipart", parts)]),
        (Err(_), None) => text_or_base64(bytes.to_vec()),
    }
}

/// Returns what [`request_body`] returned before 0.3, if that was something else: recordings of that time are found by it.
pub fn request_body_before(bytes: &[u8]) -> Option<Json> {
    if bytes.trim_ascii() == b"null" {
        return Some(Json::Null);
    }
    multipart::parts(bytes).map(|_| text_or_base64(with_one_boundary(bytes)))
}

fn text_or_base64(bytes: Vec<u8>) -> Json {
    match String::from_utf8(bytes) {
        Ok(text) => Json::Str(text),
        Err(e) => Json::object([("base64", to_base64(e.as_bytes()).into())]),
    }
}

/// Replaces the boundary between the parts of a multipart form, which clients choose at random, by one that is always the same.
fn with_one_boundary(bytes: &[u8]) -> Vec<u8> {
    let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next().unwrap_or_default();
    let mut out = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for at in memchr::memmem::find_iter(bytes, line) {
        out.extend_from_slice(&bytes[from..at]);
        out.extend_from_slice(b"--boundary");
        from = at + line.len();
    }
    out.extend_from_slice(&bytes[from..]);
    out
}

pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Decodes base64; `None` if the text is not valid.
pub fn from_base64(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

#[cfg(test)]
mod tests;
