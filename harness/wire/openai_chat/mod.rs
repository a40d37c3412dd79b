//! OpenAI's Chat Completions, as OpenAI, Azure, OpenRouter, Groq, Mistral, DeepSeek, vLLM and others speak it.

pub(super) mod answer;
pub(super) mod render;
pub(super) mod request;
pub(super) mod stream;
mod tool_calls;
