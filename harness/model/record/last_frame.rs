//! Recognizes the frame that marks a streamed answer as complete. Clients go on when they see it, without waiting for the end of
//! the stream.

use memchr::memmem;
use retake_wire::Api;

/// How many bytes before a chunk are searched too, because a chunk may begin in the middle of the frame.
const BEFORE: usize = 64;

/// Whether the frame that ends an answer ends in the last `length` bytes of a stream.
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
