//! OpenAI's Chat Completions API, as offered by OpenAI, Azure, OpenRouter, Groq, Mistral, DeepSeek, vLLM and others.

pub(super) mod answer;
pub(super) mod render;
pub(super) mod request;
pub(super) mod stream;
mod tool_calls;
