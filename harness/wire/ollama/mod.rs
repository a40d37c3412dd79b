//! Ollama's native chat API.

pub(super) mod answer;
pub(super) mod render;
pub(super) mod request;
pub(super) mod stream;
