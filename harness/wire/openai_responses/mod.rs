//! OpenAI's Responses API.

pub(super) mod answer;
pub(super) mod items;
pub(super) mod render;
pub(super) mod request;
pub(super) mod stream;
