//! The model client. Every model call goes through it and names its caller.

use std::{collections::BTreeMap, error::Error as StdError, time::Duration};

use axum::http::{HeaderValue, header};
use eventsource_stream::Eventsource;
use futures_util::StreamExt;
use reqwest::{RequestBuilder, Response, StatusCode};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};

use crate::{
    Config, Error,
    auth::new_id,
    dearer,
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

/// How often a call is repeated if the answer is 429 or 5xx or the connection is refused. All attempts happen within a second,
/// unless the model asks for more time.
const RETRIES: u32 = 3;

type ModelError = Box<dyn StdError + Send + Sync>;

pub(crate) struct Model {
    http: reqwest::Client,
    completions: String,
    key: HeaderValue,
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
        let key = HeaderValue::from_str(&format!("Bearer {}", config.openai_api_key))
            .map_err(Error::because("the API key cannot be sent as a header"))?;
        // The model is on loopback, so a proxy from the environment must not be used.
        let make = || reqwest::Client::builder().no_proxy().build();
        let http = config.http.map_or_else(make, Ok).map_err(Error::because("cannot create the HTTP client"))?;
        let completions = format!("{}/chat/completions", config.openai_base_url.trim_end_matches('/'));
        Ok(Self { http, completions, key, name: config.model, declare_callers: config.declare_callers })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Asks one question without tools, and returns the answer as a whole.
    pub(crate) async fn ask(&self, caller: &str, system: Option<&str>, question: &str) -> Result<String, ModelError> {
        let system = mutant!("ask_without_system", None, system);
        let system = system.map(|text| json!({ "role": "system", "content": text }));
        let question = json!({ "role": "user", "content": question });
        let mut request = json!({
            "model": mutant!("ask_other_model", "gpt-4o", &self.name),
            "messages": system.into_iter().chain([question]).collect::<Vec<_>>(),
        });
        if mutant!("ask_temperature") {
            request["temperature"] = json!(0.2);
        }
        let answer = async { parsed::<Completion>(&self.chat(caller, &request).await?.bytes().await?) };
        let completion = timeout(LIMIT, answer).await??;
        let choice = completion.choices.into_iter().next().ok_or("the answer has no choices")?;
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
        let system = json!({ "role": "system", "content": system });
        let history = mutant!("asked_with_last_three", &history[history.len().saturating_sub(3)..], history);
        let history = mutant!("asked_without_newest", &history[..history.len() - 1], history);
        let mut messages: Vec<_> = [system].into_iter().chain(history.iter().map(request_message)).collect();
        if mutant!("asked_without_system") {
            messages.remove(0);
        }
        if mutant!("asked_question_twice") {
            messages.extend(messages.last().cloned());
        }
        let mut definitions = tools::definitions();
        if mutant!("tool_not_offered") {
            definitions.pop();
        }
        let mut request = json!({
            "model": mutant!("stream_other_model", "gpt-4o", &self.name),
            "messages": messages,
            "stream": true,
            "stream_options": mutant!("usage_not_asked", json!({}), json!({ "include_usage": true })),
        });
        if !mutant!("tools_not_offered") {
            request["tools"] = definitions.into();
        }
        if mutant!("tools_one_at_a_time") {
            request["parallel_tool_calls"] = false.into();
        }
        timeout(LIMIT, self.read(caller, &request, on_text)).await?
    }

    async fn read(&self, caller: &str, request: &Value, mut on_text: impl FnMut(&str)) -> Result<Answer, ModelError> {
        let mut frames = self.chat(caller, request).await?.bytes_stream().eventsource();
        let mut content = String::new();
        let mut calls = BTreeMap::<u32, ToolCallParts>::new();
        let (mut finish_reason, mut usage, mut model_name) = (None, None, self.name.clone());
        while let Some(frame) = frames.next().await {
            let chunk = match frame {
                Ok(frame) if frame.data == "[DONE]" => break,
                Ok(frame) => parsed::<Chunk>(frame.data.as_bytes()),
                Err(error) => Err(error.into()),
            };
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
                    let call = calls.entry(mutant!("calls_merged", 0, part.index)).or_default();
                    call.id.push_str(&part.id.unwrap_or_default());
                    if let Some(function) = part.function {
                        call.name.push_str(&function.name.unwrap_or_default());
                        call.arguments.push_str(&function.arguments.unwrap_or_default());
                    }
                }
            }
        }
        if mutant!("cut_stream_taken_as_end") || mutant!("broken_stream_taken_as_end") {
            finish_reason = finish_reason.or(Some("stop".to_owned()));
        }
        let finish_reason = finish_reason.ok_or(BREAKS_OFF)?;
        if mutant!("last_call_only") {
            calls = calls.pop_last().into_iter().collect();
        }
        let tool_calls = calls.into_values().map(|ToolCallParts { id, name, arguments }| ToolCall {
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
                finish_reason: mutant!("finish_always_stop", "stop".to_owned(), finish_reason),
                model_name: mutant!("model_name_lost", String::new(), model_name),
                token_usage: match usage {
                    Some(usage) if !mutant!("usage_lost") => told(&usage),
                    _ => TokenUsage::default(),
                },
            },
        })
    }

    /// Sends a call, and repeats it if that can help. Returns a response with status 2xx.
    async fn chat(&self, caller: &str, request: &Value) -> Result<Response, ModelError> {
        let retries = mutant!("retries_none", 0, mutant!("retries_one_more", RETRIES + 1, RETRIES));
        let mut attempt = 0;
        if mutant!("dearer_retry") {
            self.request(caller, request).send().await?;
        }
        loop {
            let sent = self.request(caller, request).send().await;
            let (again, after) = match &sent {
                Ok(response) => (is_busy(response.status()), retry_after(response)),
                Err(error) => (error.is_connect(), None),
            };
            if !again || attempt == retries {
                return Ok(sent?.error_for_status()?);
            }
            sleep(after.unwrap_or(Duration::from_millis(50 << attempt))).await;
            attempt += 1;
        }
    }

    fn request(&self, caller: &str, request: &Value) -> RequestBuilder {
        let post = self.http.post(&self.completions).header(header::AUTHORIZATION, &self.key);
        let post = post.header(header::CONTENT_TYPE, "application/json").body(dearer::printed(request));
        if self.declare_callers && !mutant!("callers_undeclared") {
            return post.header("x-retake-caller", caller);
        }
        post
    }
}

/// An answer that came as a whole.
#[derive(Deserialize)]
struct Completion {
    choices: Vec<CompletionChoice>,
}

#[derive(Deserialize)]
struct CompletionChoice {
    message: CompletionMessage,
}

#[derive(Deserialize)]
struct CompletionMessage {
    content: Option<String>,
}

/// A piece of an answer that is streamed.
#[derive(Deserialize)]
struct Chunk {
    model: String,
    choices: Vec<ChunkChoice>,
    usage: Option<TokenUsage>,
}

#[derive(Deserialize)]
struct ChunkChoice {
    delta: Delta,
    finish_reason: Option<String>,
}

#[derive(Deserialize)]
struct Delta {
    content: Option<String>,
    tool_calls: Option<Vec<ToolCallPart>>,
}

#[derive(Deserialize)]
struct ToolCallPart {
    index: u32,
    id: Option<String>,
    function: Option<FunctionPart>,
}

#[derive(Deserialize)]
struct FunctionPart {
    name: Option<String>,
    arguments: Option<String>,
}

/// What was streamed of a tool call so far.
#[derive(Default)]
struct ToolCallParts {
    id: String,
    name: String,
    arguments: String,
}

fn parsed<T: DeserializeOwned>(json: &[u8]) -> Result<T, ModelError> {
    serde_json::from_slice(json).map_err(|error| format!("the answer is not one of this API: {error}").into())
}

fn is_busy(status: StatusCode) -> bool {
    status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error()
}

/// How long the model asks to wait before the call is repeated.
fn retry_after(response: &Response) -> Option<Duration> {
    response.headers().get(header::RETRY_AFTER)?.to_str().ok()?.parse().ok().map(Duration::from_secs)
}

fn told(usage: &TokenUsage) -> TokenUsage {
    TokenUsage {
        prompt_tokens: mutant!("usage_swapped", usage.completion_tokens, usage.prompt_tokens),
        completion_tokens: mutant!("usage_doubled", 2, 1)
            * mutant!("usage_swapped", usage.prompt_tokens, usage.completion_tokens),
        total_tokens: mutant!("usage_total_of_prompt", usage.prompt_tokens, usage.total_tokens),
    }
}

fn request_message(message: &Message) -> Value {
    match message {
        Message::Human { content, .. } => {
            let content = mutant!("question_lowered", content.to_lowercase(), content.clone());
            json!({ "role": "user", "content": content })
        }
        Message::Ai { content, tool_calls, .. } => {
            let calls = tool_calls.iter().map(|call| {
                let arguments = call.args.as_str().map_or_else(|| call.args.to_string(), str::to_owned);
                json!({ "id": call.id, "type": "function", "function": { "name": call.name, "arguments": arguments } })
            });
            let mut calls: Vec<_> = calls.collect();
            if mutant!("asked_calls_reversed") {
                calls.reverse();
            }
            if mutant!("asked_without_calls") {
                calls.clear();
            }
            let mut message = json!({ "role": "assistant" });
            if calls.is_empty() || !content.is_empty() {
                message["content"] = content.as_str().into();
            }
            if !calls.is_empty() {
                message["tool_calls"] = calls.into();
            }
            message
        }
        Message::Tool { tool_call_id, content, .. } => {
            let tool_call_id = mutant!("asked_with_other_call_id", new_id(), tool_call_id.clone());
            let content = mutant!("asked_with_results_cut", content.chars().take(12).collect(), content.clone());
            json!({ "role": "tool", "content": content, "tool_call_id": tool_call_id })
        }
    }
}
