//! Translates between each provider's API and Retake's own types: a request becomes a [`Call`], a recorded response
//! becomes an [`Answer`](retake_core::conversation::Answer), and an answer becomes a response that the provider's own clients accept.
//!
//! There is one module for each provider API, and the functions listed here choose between them. All code here is pure: it takes
//! parsed bodies, returns responses without sending them, and does not panic on any input. It does not compute keys, decide
//! which turn answers a call, or send bytes; the modules `key` and `model` do that.

#![allow(missing_docs)] // only items whose names do not say it all are documented

mod answer;
mod anthropic;
mod api;
mod bedrock;
mod call;
mod content_encoding;
mod declared;
mod decode;
pub mod fixture;
mod form;
mod gemini;
mod histories;
mod known;
mod limited;
mod marked;
mod multipart;
mod ollama;
mod opaque;
mod openai_chat;
mod openai_responses;
mod parts;
mod request;
mod respond;
mod response;
mod results;
mod shape;
mod spoken;
mod target;
#[cfg(test)]
mod tests;

pub use answer::{decode_read, decode_response};
pub use api::{Api, api_of_path, is_host_of_provider, is_of_provider, known_opaque};
pub use bedrock::invoke::count_headers;
pub use call::{Call, Shared, checked_headers};
pub use content_encoding::Decoder;
pub use declared::Declaration;
pub use decode::{chat_body, decode, read_body};
pub use histories::Histories;
pub use known::Known;
pub use limited::{Limited, Quota, limit_headers, limited};
pub use opaque::{from_base64, only_reads, request_body, request_body_before, to_base64};
pub use openai_chat::stream::without_usage;
pub use parts::events::encoded;
pub use parts::fields::WireError;
pub use parts::frames::Frames;
pub use parts::sse::split_frames;
pub use request::{EMPTY, system_of};
pub use respond::{ProviderError, as_recorded, error_response, model_description, models_response, render, respond};
pub use response::{Body, RenderFor, Response, Unrenderable, oddities};
pub use results::{IN_PLACE, Results, expressible_in_every_api};
pub use shape::{WireChange, WireChangeKind, WireShape};
pub use spoken::{broken_off, last_text};
pub use target::Target;
