//! OpenAI's Chat Completions, as OpenAI, Azure, OpenRouter, Groq, Mistral, DeepSeek, vLLM and others speak it.

pub(super) mod request;
mod tool_calls;
