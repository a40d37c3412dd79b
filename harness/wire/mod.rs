//! The words of each provider's API, and back: a request becomes a [`Call`], an answer becomes an
//! [`Answer`](crate::conversation::Answer), and one becomes a response that the provider's own clients take for theirs.
//!
//! One module a provider API, all behind the functions of this page. Everything is pure: bodies come in parsed, go out
//! unsent, and no input makes it panic. What a call's key is, which turn answers it and how bytes travel is for others
//! to know (`key`, `model`).

mod answer;
mod anthropic;
mod api;
mod call;
mod decode;
mod gemini;
mod known;
mod ollama;
mod opaque;
mod openai_chat;
mod openai_responses;
mod parts;
mod request;
mod respond;
mod response;
mod results;
mod target;
#[cfg(test)]
mod tests;

pub(crate) use answer::decode_read;
pub use answer::decode_response;
pub use api::{Api, api_of_path, is_of_provider};
pub use call::Call;
pub use decode::decode;
pub use known::Known;
pub(crate) use opaque::{from_base64, to_base64};
pub use opaque::{only_reads, request_body};
pub use parts::fields::WireError;
pub use parts::frames::Frames;
pub use parts::sse::split_frames;
pub(crate) use respond::as_recorded;
pub use respond::{error_response, model_description, models_response, render, respond};
pub use response::{Body, RenderFor, Response, Unrenderable};
pub(crate) use results::{Results, told_by_each_api};
pub use target::Target;
