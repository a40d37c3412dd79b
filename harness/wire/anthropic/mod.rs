//! Anthropic's Messages API.

pub(super) mod answer;
pub(super) mod render;
pub(super) mod request;
pub(super) mod stream;
