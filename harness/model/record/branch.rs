//! A recording that branches off an earlier one: calls up to a turn get their recorded answers, and from there on the provider is
//! asked, about something else than the system asked if that is wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::pending_call::PendingCall;
use crate::lookup::Lookup;
use crate::registry::Scope;
use crate::replay::Replay;
use crate::served::Served;
use retake_base::lock::Mutex;
use retake_core::json::{Json, Layout, Object};
use retake_core::key::{Rules, UNKNOWN_CALLER};
use retake_wire::Api;
use retake_wire::fixture::{Fixture, Table};

/// The branch of a recording.
#[derive(Debug)]
pub struct Branch {
    /// The replay of what is before the branch.
    pub prefix: Arc<Replay>,
    rewrite: Rewrite,
    /// Whether it takes nothing but the answers of tool servers, and no such server is asked.
    pub only_tools: bool,
    recalled: AtomicUsize,
    /// Why it ended before the system did; `None` if it did not.
    ended: Mutex<Option<String>>,
}

/// What is asked instead of what the system asks. Each change is for one caller, or for all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rewrite {
    /// The models, each with its caller.
    pub models: Vec<(Option<String>, String)>,
    /// The system prompts, each with its caller.
    pub prompts: Vec<(Option<String>, String)>,
    /// The settings: the path of a field in the request's body, and its value.
    pub settings: Vec<(String, Json)>,
}

impl Branch {
    /// Branches off a fixture before a turn.
    pub fn new(fixture: &Fixture, from: usize, rules: &Arc<Rules>, rewrite: Rewrite) -> Branch {
        let turns = fixture.table.turns().iter().take(from).cloned().collect();
        let prefix = Fixture { table: Table::new(turns), ..fixture.clone() };
        let prefix = Arc::new(Replay::new(Arc::new(prefix), rules.clone(), Scope::new("fork")));
        Branch { prefix, rewrite, only_tools: false, recalled: AtomicUsize::new(0), ended: Mutex::default() }
    }

    /// Takes nothing of a fixture but the answers of its tool servers.
    pub fn of_tools(fixture: &Fixture, rules: &Arc<Rules>) -> Branch {
        Branch { only_tools: true, ..Branch::new(fixture, 0, rules, Rewrite::default()) }
    }

    /// How many calls got their recorded answers.
    pub fn recalled(&self) -> usize {
        self.recalled.load(Ordering::Relaxed)
    }

    /// Ends the branch where a tool server would have to be asked: no more calls go to the provider. The first reason counts.
    pub fn end(&self, reason: &str) {
        let live = if self.only_tools {
            "--live-tools would ask the server itself"
        } else {
            "the suite does not allow live tools: fork = { tools = \"live\" }"
        };
        self.ended.lock().get_or_insert_with(|| format!("{reason}, and {live}"));
    }

    /// Why the branch ended before the system did; `None` if it did not.
    pub fn ended(&self) -> Option<String> {
        self.ended.lock().clone()
    }

    /// Takes the recorded answer to a call that comes before the branch.
    pub(crate) fn recall(&self, lookup: &Lookup, request: &Json) -> Option<Served> {
        let served = self.prefix.recall(lookup, request)?;
        self.recalled.fetch_add(1, Ordering::Relaxed);
        Some(served)
    }

    /// Returns the call as it goes to the provider.
    pub(crate) fn rewritten(&self, mut call: PendingCall, rules: &Rules) -> PendingCall {
        let caller = call.caller.as_deref().map(|caller| rules.caller(Some(caller)));
        let caller = caller.as_deref().unwrap_or(UNKNOWN_CALLER);
        let Rewrite { models, prompts, settings } = &self.rewrite;
        let of = |all: &[(Option<String>, String)]| {
            // What names the caller counts before what is for all.
            let own = all.iter().find(|(whose, _)| whose.as_deref() == Some(caller));
            own.or_else(|| all.iter().find(|(whose, _)| whose.is_none())).map(|(_, text)| text.clone())
        };
        let (model, prompt) = (of(models), of(prompts));
        let is_untouched = model.is_none() && prompt.is_none() && settings.is_empty();
        let Some(body) = call.request.as_object_mut().filter(|_| call.api != Api::Opaque && !is_untouched) else {
            return call;
        };
        if let Some(model) = model {
            match call.api {
                Api::Bedrock | Api::BedrockInvoke => call.path = with_segment(&call.path, &model),
                Api::Gemini => call.path = with_model(&call.path, &model),
                Api::Declared(declared) => set_at(body, &declared.model, &model),
                _ => _ = body.insert("model".into(), model.as_str().into()),
            }
            call.model = model;
        }
        if let Some(prompt) = prompt {
            set_prompt(call.api, body, &prompt);
        }
        for (path, value) in settings {
            let table = match call.api {
                Api::Gemini if !path.contains('.') => Some("generationConfig"),
                Api::Ollama if !path.contains('.') => Some("options"),
                Api::Bedrock if !path.contains('.') => Some("inferenceConfig"),
                _ => None,
            };
            let keys: Vec<&str> = table.into_iter().chain(path.split('.')).collect();
            set(body, &keys, value);
        }
        call.body = call.request.print(Layout::Compact).into();
        call
    }
}

fn set(body: &mut Object, keys: &[&str], value: &Json) {
    match keys {
        [] => {}
        [key] => drop(body.insert((*key).into(), value.clone())),
        [key, below @ ..] => {
            let table = body.entry((*key).into()).or_default();
            if table.as_object().is_none() {
                *table = Json::Object(Object::new());
            }
            table.as_object_mut().into_iter().for_each(|table| set(table, below, value));
        }
    }
}

/// Sets a text at the first of the places that an API declares.
fn set_at(body: &mut Object, pointers: &[String], text: &str) {
    if let Some(at) = pointers.first() {
        set(body, &at.split('/').skip(1).collect::<Vec<_>>(), &text.into());
    }
}

/// Replaces the model in a path of Gemini's API: `/v1beta/models/gemini-2.5-pro:generateContent`.
fn with_model(path: &str, model: &str) -> String {
    let (head, method) = path.rsplit_once(':').unwrap_or((path, ""));
    let folder = head.rfind("models/").map_or(head, |at| &head[..at + "models/".len()]);
    format!("{folder}{model}:{method}")
}

/// Replaces the model in a path of Bedrock's: `/model/us.amazon.nova-lite-v1%3A0/converse`.
fn with_segment(path: &str, model: &str) -> String {
    let model: String = url::form_urlencoded::byte_serialize(model.as_bytes()).collect();
    match (path.find("/model/"), path.rfind('/')) {
        (Some(from), Some(to)) => format!("{}/model/{model}{}", &path[..from], &path[to..]),
        _ => path.to_owned(),
    }
}

fn set_prompt(api: Api, body: &mut Object, prompt: &str) {
    let text = || Json::from(prompt);
    match api {
        Api::Anthropic | Api::BedrockInvoke => drop(body.insert("system".into(), text())),
        Api::Bedrock => drop(body.insert("system".into(), Json::Array(vec![Json::object([("text", text())])]))),
        Api::Gemini => {
            body.remove("system_instruction");
            let part = Json::object([("text", text())]);
            body.insert("systemInstruction".into(), Json::object([("parts", Json::Array(vec![part]))]));
        }
        Api::OpenAiResponses => {
            without_system(body, "input");
            body.insert("instructions".into(), text());
        }
        Api::OpenAiChat | Api::Ollama => {
            without_system(body, "messages");
            let message = Json::object([("role", "system".into()), ("content", text())]);
            if let Some(Json::Array(messages)) = body.get_mut("messages") {
                messages.insert(0, message);
            }
        }
        Api::Declared(declared) => set_at(body, &declared.prompt, prompt),
        Api::Opaque => {}
    }
}

fn without_system(body: &mut Object, list: &str) {
    if let Some(Json::Array(messages)) = body.get_mut(list) {
        messages.retain(|message| !matches!(message.str_of("role"), Some("system" | "developer")));
    }
}

#[cfg(test)]
mod tests;
