//! A fixture as a conversation that a person reads. Pure.
//!
//! An agent sends its whole history with each call; a fixture stores each message once, and so it is shown: what a turn adds
//! to the one that it goes on from, and the answer.

use std::collections::BTreeMap;

use super::columns::{first_lines, ruled, wrapped};
use crate::conversation::{Answer, Block};
use crate::fixture::{Fixture, Turn};
use crate::json::{Json, Layout};
use crate::key::{Check, Hash, Rules};
use crate::text::counted;
use crate::wire::Body;

/// How many lines of a text are shown, but of a single turn.
const LINES: usize = 8;

/// How a fixture is shown.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    pub(crate) fixture: &'a Fixture,
    pub(crate) rules: &'a Rules,
    /// The names of the scenarios that are fed by it.
    pub(crate) used_by: &'a [String],
    /// The most characters of a line.
    pub(crate) width: usize,
}

impl Shown<'_> {
    /// All turns, each with what it adds.
    pub(crate) fn whole(&self) -> String {
        let mut lines = self.head();
        let mut prompts: BTreeMap<&str, Option<Hash>> = BTreeMap::new();
        for (index, turn) in self.turns().iter().enumerate() {
            lines.push(String::new());
            lines.push(self.rule(index, turn));
            let prompt = turn.checks.map(|checks| checks.prompt);
            if prompts.insert(caller(turn), prompt) != Some(prompt) {
                lines.extend(self.setting(turn, LINES));
            }
            let added = turn.input.as_ref().map(|input| input.messages.as_slice());
            lines.extend(self.messages(added, LINES));
            lines.extend(self.answer(turn, LINES));
        }
        for (server, exchanges) in &self.fixture.tools {
            lines.extend([String::new(), self.ruled(&format!("tool server {server}"), "")]);
            for exchange in exchanges {
                let (word, answer) = match &exchange.answer {
                    Ok(answer) => ("answered", answer),
                    Err(error) => ("failed", error),
                };
                let asked = format!("{} {}", exchange.method, exchange.params.print(Layout::Python));
                lines.extend(self.told("asked", &asked, LINES));
                lines.extend(self.told(word, &answer.print(Layout::Python), LINES));
            }
        }
        lines.join("\n")
    }

    /// One turn, with its whole conversation and nothing cut; `None` where there is none of this index.
    pub(crate) fn turn(&self, index: usize) -> Option<String> {
        let turn = self.turns().get(index)?;
        let mut lines = vec![self.rule(index, turn)];
        lines.extend(self.setting(turn, usize::MAX - 1));
        let conversation = self.fixture.conversation(index, self.rules);
        lines.extend(self.messages(conversation.as_deref(), usize::MAX - 1));
        lines.extend(self.answer(turn, usize::MAX - 1));
        lines.push(String::new());
        for (name, value) in self.details(turn) {
            lines.extend(self.told(name, &value, usize::MAX - 1));
        }
        Some(lines.join("\n"))
    }

    fn turns(&self) -> &[Turn] {
        self.fixture.table.turns()
    }

    fn head(&self) -> Vec<String> {
        let turns = self.turns();
        let mut callers: Vec<(&str, usize)> = Vec::new();
        for turn in turns {
            match callers.iter_mut().find(|(name, _)| *name == caller(turn)) {
                Some((_, count)) => *count += 1,
                None => callers.push((caller(turn), 1)),
            }
        }
        let by: Vec<String> = callers.iter().map(|(caller, count)| format!("{caller} ({count})")).collect();
        let (mut read, mut written) = (0, 0);
        for usage in turns.iter().filter_map(|turn| turn.output.usage) {
            (read, written) = (read + usage.input, written + usage.output);
        }
        let mut lines = vec![self.fixture.path.display().to_string()];
        let mut tell = |text: String| lines.extend(wrapped(&text, 2, self.width));
        tell(format!("{} by {}; {read} tokens read, {written} written", counted(turns.len(), "turn"), by.join(", ")));
        tell(format!("recorded from {}", self.origins().join(", ")));
        for (note, value) in &self.fixture.notes {
            let text = value.as_str().map_or_else(|| value.print(Layout::Python), str::to_owned);
            if note != "model" && note != "scenario" {
                tell(format!("{note}: {text}"));
            }
        }
        if !self.used_by.is_empty() {
            tell(format!("replayed in {}", self.used_by.join(", ")));
        }
        for why in &self.fixture.unstable {
            tell(format!("written without a proof, since this varied: {why}"));
        }
        lines
    }

    /// Models and the APIs over which they were recorded, each once.
    fn origins(&self) -> Vec<String> {
        let mut origins: Vec<String> = Vec::new();
        for turn in self.turns() {
            let model = self.text(turn, Check::Model).filter(|model| !model.is_empty());
            let model = model.or(turn.output.model.as_deref()).unwrap_or("an unknown model");
            let origin = match &turn.wire {
                Some(wire) => format!("{model} over {}", wire.api.name()),
                None => format!("{model}, or written by hand"),
            };
            if !origins.contains(&origin) {
                origins.push(origin);
            }
        }
        origins
    }

    /// `── turns[2] · lead_agent ─────────── 201 + 16 tokens ──`, and below it why the turn is there.
    fn rule(&self, index: usize, turn: &Turn) -> String {
        let tokens = turn.output.usage;
        let tokens = tokens.map(|usage| format!("{} + {} tokens", usage.input, usage.output)).unwrap_or_default();
        let rule = self.ruled(&format!("turns[{index}] · {}", caller(turn)), &tokens);
        let why = wrapped(&self.why(index, turn), 3, self.width).join("\n");
        format!("{rule}\n{why}")
    }

    fn ruled(&self, title: &str, end: &str) -> String {
        let end = if end.is_empty() { String::new() } else { format!(" {end} ──") };
        ruled(title, self.width.saturating_sub(end.chars().count())) + &end
    }

    /// Why a turn is there: what came since the call before it, or what tells it from one of the same conversation.
    fn why(&self, index: usize, turn: &Turn) -> String {
        let same = self.turns()[..index].iter().rposition(|other| {
            other.key.conversation_hash == turn.key.conversation_hash && turn.input.is_some() == other.input.is_some()
        });
        if let Some(same) = same {
            let other = &self.turns()[same];
            let differs = |check: Check| self.text(turn, check) != self.text(other, check);
            let what = if caller(turn) != caller(other) {
                "by another caller"
            } else if differs(Check::Prompt) {
                "with another system prompt"
            } else if differs(Check::Tools) {
                "with other tools"
            } else if differs(Check::Model) {
                "with another model"
            } else if differs(Check::Settings) {
                "with other settings"
            } else if turn.request != other.request {
                "with another request around it"
            } else {
                "made again"
            };
            return format!("the conversation of turns[{same}], {what}");
        }
        let Some(input) = &turn.input else { return "the fixture keeps the hash of its conversation only".to_owned() };
        let results: Vec<String> = input
            .messages
            .iter()
            .filter(|message| message.str_of("type") == Some("tool"))
            .map(|message| message.str_of("name").map_or_else(|| "a tool".to_owned(), |name| format!("`{name}`")))
            .collect();
        let asked = input.messages.last().and_then(|message| message.str_of("type"));
        let what = match asked {
            _ if !results.is_empty() => format!("has the result of {}", results.join(", ")),
            Some("human") if input.after.is_none() => "begins a conversation".to_owned(),
            Some("human") => "is asked more".to_owned(),
            Some("opaque") => "is a request of no chat model".to_owned(),
            None if self.text(turn, Check::Prompt).is_some_and(|prompt| !prompt.is_empty()) => {
                "is asked by a system prompt alone".to_owned()
            }
            _ => "goes on".to_owned(),
        };
        match input.after {
            None => what,
            Some(after) if after.keep.is_some() => format!("goes on from within turns[{}]: {what}", after.turn),
            Some(after) => format!("goes on from turns[{}]: {what}", after.turn),
        }
    }

    /// Prompt and tools of a turn.
    fn setting(&self, turn: &Turn, most: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let prompt = self.text(turn, Check::Prompt).filter(|prompt| !prompt.is_empty());
        lines.extend(prompt.into_iter().flat_map(|prompt| self.told("system", prompt, most)));
        let tools = self.text(turn, Check::Tools).and_then(|tools| Json::parse(tools.as_bytes()).ok());
        let names = tools.as_ref().map(tool_names).unwrap_or_default();
        if !names.is_empty() {
            lines.extend(self.told("tools", &names.join(", "), most));
        }
        lines
    }

    fn messages(&self, messages: Option<&[Json]>, most: usize) -> Vec<String> {
        let message = |message: &Json| {
            let kind = message.str_of("type").unwrap_or("message");
            let label = match (kind, message.str_of("name")) {
                ("tool", Some(name)) => format!("← {name}"),
                (_, Some(name)) => format!("{kind} {name}"),
                (_, None) => kind.to_owned(),
            };
            let text = message.str_of("content").unwrap_or_default();
            let calls = message.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
            let calls = calls.iter().map(|call| {
                let args = call.get("args").map(|args| args.print(Layout::Python)).unwrap_or_default();
                format!("calls {} {args}", call.str_of("name").unwrap_or_default())
            });
            let parts: Vec<String> =
                Some(text.to_owned()).filter(|text| !text.is_empty()).into_iter().chain(calls).collect();
            self.told(&label, &parts.join("\n"), most)
        };
        messages.unwrap_or_default().iter().flat_map(message).collect()
    }

    fn answer(&self, turn: &Turn, most: usize) -> Vec<String> {
        let Answer { blocks, finish, .. } = &turn.output;
        let mut lines: Vec<String> = Vec::new();
        for block in blocks {
            lines.extend(match block {
                Block::Text(text) => self.told("→ ai", text, most),
                Block::Reasoning(text) => self.told("→ thinks", text, most),
                Block::Refusal(text) => self.told("→ refuses", text, most),
                Block::ToolCall(call) => {
                    self.told("→ calls", &format!("{} {}", call.name, call.args.print(Layout::Python)), most)
                }
                Block::Native(native) => {
                    self.told(&format!("→ {}", native.kind()), &native.block.print(Layout::Python), most)
                }
            });
        }
        if let Some(wire) = turn.wire.as_ref().filter(|wire| blocks.is_empty() || wire.response.status >= 300) {
            let response = &wire.response;
            let body = match &response.body {
                Body::Json(json) => json.json().print(Layout::Python),
                Body::Text(text) => text.clone(),
                Body::Frames(frames) => frames.iter().collect(),
                Body::Binary(bytes) => format!("({} bytes)", bytes.len()),
            };
            lines.extend(self.told(&format!("→ {}", response.status), &body, most));
        }
        if let Some(finish) = finish.as_ref().filter(|finish| !matches!(finish.as_str(), "stop" | "tool_calls")) {
            lines.extend(self.told("→ ends by", finish.as_str(), most));
        }
        lines
    }

    /// What is stored beside the conversation.
    fn details(&self, turn: &Turn) -> Vec<(&'static str, String)> {
        let mut details = Vec::new();
        let model = self.text(turn, Check::Model).filter(|model| !model.is_empty()).or(turn.output.model.as_deref());
        details.extend(model.map(|model| ("model", model.to_owned())));
        let settings = self.text(turn, Check::Settings).filter(|settings| !matches!(*settings, "" | "{}"));
        details.extend(settings.map(|settings| ("settings", settings.to_owned())));
        if let Some(wire) = &turn.wire {
            let response = &wire.response;
            let body = match &response.body {
                Body::Json(_) => "JSON".to_owned(),
                Body::Text(_) => "text".to_owned(),
                Body::Frames(frames) => counted(frames.iter().count(), "frame"),
                Body::Binary(bytes) => counted(bytes.len(), "byte"),
            };
            let (api, status) = (wire.api.name(), response.status);
            details.push(("wire", format!("{api}, {status} {}, {body}", response.content_type)));
        }
        details.push(("key", format!("{}\n{}", turn.key.conversation_hash, turn.key.input_hash)));
        details
    }

    fn text(&self, turn: &Turn, check: Check) -> Option<&str> {
        let hash = turn.checks.as_ref()?.of(check)?;
        self.fixture.texts.get(&hash).map(AsRef::as_ref)
    }

    /// A label and a text beside it, cut where it is longer than `most` lines.
    fn told(&self, label: &str, text: &str, most: usize) -> Vec<String> {
        const INDENT: usize = 16;
        let (mut lines, more) = first_lines(text, INDENT, self.width, most);
        if more > 0 {
            lines.push(format!("{:INDENT$}… {}", "", counted(more, "more line")));
        }
        let label = format!("  {label}");
        match lines.first_mut() {
            Some(first) if label.chars().count() < INDENT => {
                format!("{label:<INDENT$}{}", first.trim_start()).trim_end().clone_into(first);
            }
            _ => lines.insert(0, label),
        }
        lines
    }
}

fn caller(turn: &Turn) -> &str {
    turn.caller.as_deref().unwrap_or("unknown")
}

/// The names of tools, in whichever API's form they are stored.
fn tool_names(tools: &Json) -> Vec<String> {
    let of = |tool: &Json| {
        let name = tool.str_of("name").or_else(|| tool.get("function")?.str_of("name")).or_else(|| tool.str_of("type"));
        name.map(str::to_owned)
    };
    match tools {
        Json::Array(tools) => tools.iter().flat_map(|tool| match tool.get("functionDeclarations") {
            Some(Json::Array(declared)) => declared.iter().filter_map(of).collect(),
            _ => of(tool).into_iter().collect::<Vec<_>>(),
        }),
        _ => return Vec::new(),
    }
    .collect()
}
