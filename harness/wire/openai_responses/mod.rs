//! OpenAI's Responses.

pub(super) mod answer;
mod items;
pub(super) mod render;
pub(super) mod request;
pub(super) mod stream;
