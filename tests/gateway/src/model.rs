//! The model: every call goes through here and says who makes it.

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
        FunctionCall,
    },
};
use axum::http::HeaderValue;
use futures_util::StreamExt;
use serde_json::Value;
use tokio::time::timeout;
use tower::ServiceBuilder;

use crate::{
    Config, Error,
    message::{Message, ResponseMetadata, TokenUsage, ToolCall},
    tools,
};

/// What a user reads when a model call failed.
pub(crate) const FRIENDLY_ERROR: &str = "I'm sorry, something went wrong on my side. Please try again.";

/// For a whole call.
const LIMIT: Duration = Duration::from_secs(120);

/// How often a call is made again that was answered with 429 or 5xx, or whose connection was refused: within a second.
const RETRIES: usize = 3;

type ModelError = Box<dyn StdError + Send + Sync>;

pub(crate) struct Model {
    client: Client<OpenAIConfig>,
    name: String,
    declare_callers: bool,
}

/// What the model said.
pub(crate) struct Answer {
    pub(crate) content: String,
    pub(crate) tool_calls: Vec<ToolCall>,
    pub(crate) response_metadata: ResponseMetadata,
}

impl Model {
    pub(crate) fn new(config: Config) -> Result<Self, Error> {
        // The client would panic at its first call.
        HeaderValue::from_str(&format!("Bearer {}", config.openai_api_key))
            .map_err(Error::because("the API key cannot be sent as a header"))?;
        // The model is on loopback, where a proxy of the environment has no business.
        let make = || reqwest::Client::builder().no_proxy().build();
        let http = config.http.map_or_else(make, Ok).map_err(Error::because("cannot make the HTTP client"))?;
        let openai = OpenAIConfig::new()
            .with_api_base(config.openai_base_url.trim_end_matches('/'))
            .with_api_key(config.openai_api_key)
            .with_org_id("")
            .with_project_id("");
        let retrying = ServiceBuilder::new().retry(SimpleRetryPolicy::new(RETRIES));
        let client = Client::build(http.clone(), openai).with_http_service(retrying.service(ReqwestService::new(http)));
        Ok(Self { client, name: config.model, declare_callers: config.declare_callers })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// One question without tools, answered in one piece.
    pub(crate) async fn ask(&self, caller: &str, system: Option<&str>, question: &str) -> Result<String, ModelError> {
        let system = system.map(|text| ChatCompletionRequestSystemMessage::from(text).into());
        let question = ChatCompletionRequestUserMessage::from(question).into();
        let request = CreateChatCompletionRequest {
            model: self.name.clone(),
            messages: system.into_iter().chain([question]).collect(),
            ..Default::default()
        };
        let response = timeout(LIMIT, self.chat(caller)?.create(request)).await??;
        let choice = response.choices.into_iter().next().ok_or("the answer has no choices")?;
        Ok(choice.message.content.ok_or("the answer has no content")?)
    }

    /// The next answer of a conversation, with tools. `on_text` sees its text as it comes.
    pub(crate) async fn stream(
        &self,
        caller: &str,
        system: String,
        history: &[Message],
        on_text: impl FnMut(&str),
    ) -> Result<Answer, ModelError> {
        let system = ChatCompletionRequestSystemMessage::from(system).into();
        let request = CreateChatCompletionRequest {
            model: self.name.clone(),
            messages: [system].into_iter().chain(history.iter().map(request_message)).collect(),
            tools: Some(tools::definitions()),
            stream: Some(true),
            stream_options: Some(ChatCompletionStreamOptions { include_usage: Some(true), include_obfuscation: None }),
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
            let chunk = chunk?;
            model_name = chunk.model;
            usage = chunk.usage.or(usage);
            for choice in chunk.choices {
                finish_reason = choice.finish_reason.or(finish_reason);
                if let Some(text) = choice.delta.content.filter(|text| !text.is_empty()) {
                    on_text(&text);
                    content.push_str(&text);
                }
                for part in choice.delta.tool_calls.into_iter().flatten() {
                    let (id, call) = calls.entry(part.index).or_default();
                    id.push_str(&part.id.unwrap_or_default());
                    if let Some(function) = part.function {
                        call.name.push_str(&function.name.unwrap_or_default());
                        call.arguments.push_str(&function.arguments.unwrap_or_default());
                    }
                }
            }
        }
        let finish_reason = finish_reason.ok_or("the stream ended before the answer did")?;
        let tool_calls = calls.into_values().map(|(id, FunctionCall { name, arguments })| ToolCall {
            name,
            args: serde_json::from_str(&arguments).unwrap_or(Value::String(arguments)),
            id,
        });
        Ok(Answer {
            content,
            tool_calls: tool_calls.collect(),
            response_metadata: ResponseMetadata {
                finish_reason: serde_json::from_value(serde_json::to_value(finish_reason)?)?,
                model_name,
                token_usage: usage.map_or_else(TokenUsage::default, TokenUsage::from),
            },
        })
    }

    fn chat(&self, caller: &str) -> Result<async_openai::Chat<'_, OpenAIConfig>, ModelError> {
        let chat = self.client.chat();
        Ok(if self.declare_callers { chat.header("x-retake-caller", caller)? } else { chat })
    }
}

impl From<CompletionUsage> for TokenUsage {
    fn from(usage: CompletionUsage) -> Self {
        Self {
            prompt_tokens: usage.prompt_tokens,
            completion_tokens: usage.completion_tokens,
            total_tokens: usage.total_tokens,
        }
    }
}

fn request_message(message: &Message) -> ChatCompletionRequestMessage {
    match message {
        Message::Human { content, .. } => ChatCompletionRequestUserMessage::from(&**content).into(),
        Message::Ai { content, tool_calls, .. } => {
            let calls = tool_calls.iter().map(|call| {
                let arguments = call.args.as_str().map_or_else(|| call.args.to_string(), str::to_owned);
                let function = FunctionCall { name: call.name.clone(), arguments };
                let id = call.id.clone();
                ChatCompletionMessageToolCalls::Function(ChatCompletionMessageToolCall { id, function })
            });
            let calls: Vec<_> = calls.collect();
            ChatCompletionRequestAssistantMessage {
                content: (calls.is_empty() || !content.is_empty()).then(|| content.clone().into()),
                tool_calls: (!calls.is_empty()).then_some(calls),
                ..Default::default()
            }
            .into()
        }
        Message::Tool { tool_call_id, content, .. } => {
            ChatCompletionRequestToolMessage { content: content.clone().into(), tool_call_id: tool_call_id.clone() }
                .into()
        }
    }
}
