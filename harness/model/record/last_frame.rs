//! The frame with which a stream says that the answer is complete: clients go on at it and do not wait for the end of the
//! bytes.

use crate::wire::Api;
use memchr::memmem;

/// How much before a piece of a stream is looked at, since pieces end anywhere.
const BEFORE: usize = 64;

/// Whether the last `length` bytes of a stream hold the frame that ends an answer.
pub(super) fn is_in_last(api: Api, stream: &[u8], length: usize) -> bool {
    let marks: &[&str] = match api {
        Api::OpenAiChat => &["data: [DONE]", "data:[DONE]"],
        Api::OpenAiResponses => &["response.completed", "response.incomplete", "response.failed"],
        Api::Anthropic => &["message_stop"],
        Api::Gemini => &["\"finishReason\""],
        Api::Ollama => &["\"done\":true", "\"done\": true"],
        Api::Opaque => &[],
    };
    let tail = &stream[stream.len().saturating_sub(length + BEFORE)..];
    marks.iter().any(|mark| memmem::find(tail, mark.as_bytes()).is_some())
}

#[cfg(test)]
mod tests;
