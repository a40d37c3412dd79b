//! The model client. Every model call goes through it and names its caller.

use std::{collections::BTreeMap, error::Error as StdError, time::Duration};

use async_openai::{
    Client,
    config::OpenAIConfig,
    middleware::{ReqwestService, retry::SimpleRetryPolicy},
    traits::RequestOptionsBuilder,
    types::chat::{
        ChatCompletionMessageToolCall, ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage,
        ChatCompletionRequestMessage, ChatCompletionRequestSystemMessage, ChatCompletionRequestToolMessage,
        ChatCompletionRequestUserMessage, ChatCompletionStreamOptions, CompletionUsage, CreateChatCompletionRequest,
        FinishReason, FunctionCall,
    },
};
use axum::http::HeaderValue;
use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::timeout;
use tower::ServiceBuilder;

use crate::{
    Config, Error,
    auth::new_id,
    message::{Message, ResponseMetadata, TokenUsage, ToolCall},
    mutants::mutant,
    tools,
};

/// What the user reads if a model call fails.
pub(crate) const FRIENDLY_ERROR: &str = "I'm sorry, something went wrong on my side. Please try again.";

/// The error of a stream that ends without a finish reason.
pub(crate) const BREAKS_OFF: &str = "the stream ended before the answer did";

/// The time limit for a whole model call.
const LIMIT: Duration = Duration::from_secs(120);

/// How often a call is repeated if the answer is 429 or 5xx or the connection is refused. All attempts happen within a second.
const RETRIES: usize = 3;

type ModelError = Box<dyn StdError + Send + Sync>;

pub(crate) struct Model {
    client: Client<OpenAIConfig>,
    name: String,
    declare_callers: bool,
}

/// The model's answer.
pub(crate) struct Answer {
    pub(crate) content: String,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) response_metadata: ResponseMetadata,
}

impl Model {
    pub(crate) fn new(config: Config) -> Result<Self, Error> {
        // With an invalid header value the client would panic at its first call.
        HeaderValue::from_str(&format!("Bearer {}", config.openai_api_key))
            .map_err(Error::because("the API key cannot be sent as a header"))?;
        // The model is on loopback, so a proxy from the environment must not be used.
        let make = || reqwest::Client::builder().no_proxy().build();
        let http = config.http.map_or_else(make, Ok).map_err(Error::because("cannot create the HTTP client"))?;
        let openai = OpenAIConfig::new()
            .with_api_base(config.openai_base_url.trim_end_matches('/'))
            .with_api_key(config.openai_api_key)
            .with_org_id("")
            .with_project_id("");
        let retries = mutant!("retries_none", 0, mutant!("retries_one_more", RETRIES + 1, RETRIES));
        let retrying = ServiceBuilder::new().retry(SimpleRetryPolicy::new(retries));
        let client = Client::build(http.clone(), openai).with_http_service(retrying.service(ReqwestService::new(http)));
        Ok(Self { client, name: config.model, declare_callers: config.declare_callers })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Asks one question without tools, and returns the answer as a whole.
    pub(crate) async fn ask(&self, caller: &str, system: Option<&str>, question: &str) -> Result<String, ModelError> {
        let system = mutant!("ask_without_system", None, system);
        let system = system.map(|text| ChatCompletionRequestSystemMessage::from(text).into());
        let question = ChatCompletionRequestUserMessage::from(question).into();
        let request = CreateChatCompletionRequest {
            model: mutant!("ask_other_model", "gpt-4o".to_owned(), self.name.clone()),
            messages: system.into_iter().chain([question]).collect(),
            temperature: mutant!("ask_temperature", Some(0.2), None),
            ..Default::default()
        };
        let response = timeout(LIMIT, self.chat(caller)?.create(request)).await??;
        let choice = response.choices.into_iter().next().ok_or("the answer has no choices")?;
        let content = choice.message.content.ok_or("the answer has no content")?;
        Ok(mutant!("ask_first_word", content.split(' ').next().unwrap_or_default().to_owned(), content))
    }

    /// Returns the next answer of a conversation, with tools. `on_text` is called with each piece of text as it arrives.
    pub(crate) async fn stream(
        &self,
        caller: &str,
        system: String,
        history: &[Message],
        on_text: impl FnMut(&str),
    ) -> Result<Answer, ModelError> {
        let system = ChatCompletionRequestSystemMessage::from(system).into();
        let history = mutant!("asked_with_last_three", &history[history.len().saturating_sub(3)..], history);
        let history = mutant!("asked_without_newest", &history[..history.len() - 1], history);
        let mut messages: Vec<_> = [system].into_iter().chain(history.iter().map(request_message)).collect();
        if mutant!("asked_without_system") {
            messages.remove(0);
        }
        if mutant!("asked_question_twice") {
            messages.extend(messages.last().cloned());
        }
        let usage = mutant!("usage_not_asked", None, Some(true));
        let mut definitions = tools::definitions();
        if mutant!("tool_not_offered") {
            definitions.pop();
        }
        let request = CreateChatCompletionRequest {
            model: mutant!("stream_other_model", "gpt-4o".to_owned(), self.name.clone()),
            messages,
            tools: mutant!("tools_not_offered", None, Some(definitions)),
            stream: Some(true),
            stream_options: Some(ChatCompletionStreamOptions { include_usage: usage, include_obfuscation: None }),
            parallel_tool_calls: mutant!("tools_one_at_a_time", Some(false), None),
            ..Default::default()
        };
        timeout(LIMIT, self.read(caller, request, on_text)).await?
    }

    async fn read(
        &self,
        caller: &str,
        request: CreateChatCompletionRequest,
        mut on_text: impl FnMut(&str),
    ) -> Result<Answer, ModelError> {
        let mut chunks = self.chat(caller)?.create_stream(request).await?;
        let mut content = String::new();
        let mut calls = BTreeMap::<u32, (String, FunctionCall)>::new();
        let (mut finish_reason, mut usage, mut model_name) = (None, None, self.name.clone());
        while let Some(chunk) = chunks.next().await {
            let chunk = match chunk {
                Err(_) if mutant!("broken_stream_taken_as_end") => break,
                chunk => chunk?,
            };
            if mutant!("chunk_last_lost") && chunk.choices.iter().any(|choice| choice.finish_reason.is_some()) {
                content.truncate(content.trim_end().rfind(' ').unwrap_or_default());
            }
            model_name = chunk.model;
            usage = chunk.usage.or(usage);
            for choice in chunk.choices {
                finish_reason = choice.finish_reason.or(finish_reason);
                if let Some(text) = choice.delta.content.filter(|text| !text.is_empty()) {
                    if mutant!("chunk_first_lost") && content.is_empty() {
                        content.push_str(&text);
                        continue;
                    }
                    let text = mutant!("chunk_trimmed", text.trim().to_owned(), text);
                    content.push_str(&text);
                    on_text(mutant!("chunk_accumulates", &content, &text));
                }
                for part in choice.delta.tool_calls.into_iter().flatten() {
                    let (id, call) = calls.entry(mutant!("calls_merged", 0, part.index)).or_default();
                    id.push_str(&part.id.unwrap_or_default());
                    if let Some(function) = part.function {
                        call.name.push_str(&function.name.unwrap_or_default());
                        call.arguments.push_str(&function.arguments.unwrap_or_default());
                    }
                }
            }
        }
        if mutant!("cut_stream_taken_as_end") || mutant!("broken_stream_taken_as_end") {
            finish_reason = finish_reason.or(Some(FinishReason::Stop));
        }
        let finish_reason = finish_reason.ok_or(BREAKS_OFF)?;
        if mutant!("last_call_only") {
            calls = calls.pop_last().into_iter().collect();
        }
        let tool_calls = calls.into_values().map(|(id, FunctionCall { name, arguments })| ToolCall {
            name,
            args: match serde_json::from_str(&arguments) {
                Ok(_) if mutant!("args_as_text") => Value::String(arguments),
                Ok(_) if mutant!("args_lost") => Value::Object(serde_json::Map::new()),
                Ok(args) => args,
                Err(_) if mutant!("cut_args_taken_as_none") => Value::Object(serde_json::Map::new()),
                Err(_) => Value::String(arguments),
            },
            id,
        });
        Ok(Answer {
            content,
            tool_calls: tool_calls.collect(),
            response_metadata: ResponseMetadata {
                finish_reason: mutant!(
                    "finish_always_stop",
                    "stop".to_owned(),
                    serde_json::from_value(serde_json::to_value(finish_reason)?)?
                ),
                model_name: mutant!("model_name_lost", String::new(), model_name),
                token_usage: match usage {
                    Some(usage) if !mutant!("usage_lost") => TokenUsage::from(usage),
                    _ => TokenUsage::default(),
                },
            },
        })
    }

    fn chat(&self, caller: &str) -> Result<async_openai::Chat<'_, OpenAIConfig>, ModelError> {
        let chat = self.client.chat();
        Ok(if self.declare_callers && !mutant!("callers_undeclared") {
            chat.header("x-retake-caller", caller)?
        } else {
            chat
        })
    }
}

impl From<CompletionUsage> for TokenUsage {
    fn from(usage: CompletionUsage) -> Self {
        Self {
            prompt_tokens: mutant!("usage_swapped", usage.completion_tokens, usage.prompt_tokens),
            completion_tokens: mutant!("usage_doubled", 2, 1)
                * mutant!("usage_swapped", usage.prompt_tokens, usage.completion_tokens),
            total_tokens: mutant!("usage_total_of_prompt", usage.prompt_tokens, usage.total_tokens),
        }
    }
}

fn request_message(message: &Message) -> ChatCompletionRequestMessage {
    match message {
        Message::Human { content, .. } => {
            let content = mutant!("question_lowered", content.to_lowercase(), content.clone());
            ChatCompletionRequestUserMessage::from(&*content).into()
        }
        Message::Ai { content, tool_calls, .. } => {
            let calls = tool_calls.iter().map(|call| {
                let arguments = call.args.as_str().map_or_else(|| call.args.to_string(), str::to_owned);
                let function = FunctionCall { name: call.name.clone(), arguments };
                let id = call.id.clone();
                ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall { id, function })
            });
            let mut calls: Vec<_> = calls.collect();
            if mutant!("asked_calls_reversed") {
                calls.reverse();
            }
            if mutant!("asked_without_calls") {
                calls.clear();
            }
            ChatCompletionRequestAssistantMessage {
                content: (calls.is_empty() || !content.is_empty()).then(|| content.clone().into()),
                tool_calls: (!calls.is_empty()).then_some(calls),
                ..Default::default()
            }
            .into()
        }
        Message::Tool { tool_call_id, content, .. } => {
            let tool_call_id = mutant!("asked_with_other_call_id", new_id(), tool_call_id.clone());
            let content = mutant!("asked_with_results_cut", content.chars().take(12).collect(), content.clone());
            ChatCompletionRequestToolMessage { content: content.into(), tool_call_id }.into()
        }
    }
}
