//! A fixture as a readable conversation. Pure.
//!
//! An agent sends its whole history with each call, but a fixture stores each message only once. It is shown in the same way:
//! each turn with the messages that it adds to an earlier turn, and with its answer.

use std::collections::{BTreeMap, HashSet};

use super::columns::{labelled, ruled, wrapped};
use retake_base::text::{counted, nth_turn};
use retake_core::conversation::{Answer, Block, Usage};
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, Hash, Rules};
use retake_wire::Body;
use retake_wire::fixture::{Fixture, Reply, ToolMessage, Turn};

/// How many lines of a text are shown, unless a single turn is shown completely.
const LINES: usize = 8;

/// A fixture to show, with the options for showing it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shown<'a> {
    pub(crate) fixture: &'a Fixture,
    pub(crate) rules: &'a Rules,
    /// The names of the scenarios that replay it.
    pub(crate) used_by: &'a [String],
    /// The most characters of a line.
    pub(crate) width: usize,
}

impl Shown<'_> {
    /// All turns, each with the messages that it adds.
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
                lines.extend(self.labelled("asked", &said(&exchange.method, &exchange.params), LINES));
                exchange.messages.iter().for_each(|message| lines.extend(self.of_server(message)));
                lines.extend(match &exchange.answer {
                    Some(Ok(answer)) => self.labelled("answered", &answer.print(Layout::Python), LINES),
                    Some(Err(error)) => self.labelled("failed", &error.print(Layout::Python), LINES),
                    None => self.labelled("answered", "nothing", LINES),
                });
                exchange.then.iter().for_each(|message| lines.extend(self.of_server(message)));
            }
        }
        lines.join("\n")
    }

    /// A message that a tool server sent, and what the agent answered if it was a request.
    fn of_server(&self, ToolMessage { method, params, reply }: &ToolMessage) -> Vec<String> {
        let mut lines = self.labelled("sent", &said(method, params), LINES);
        lines.extend(match reply {
            None => Vec::new(),
            Some(Reply::Answer(Ok(answer) | Err(answer))) => {
                self.labelled("agent", &answer.print(Layout::Python), LINES)
            }
            Some(Reply::Nothing) => self.labelled("agent", "nothing", LINES),
        });
        lines
    }

    /// One turn with its whole conversation and all lines; `None` if there is no turn with this index.
    pub(crate) fn turn(&self, index: usize) -> Option<String> {
        let turn = self.turns().get(index)?;
        let mut lines = vec![self.rule(index, turn)];
        lines.extend(self.setting(turn, usize::MAX - 1));
        let conversation = self.fixture.conversation(index, self.rules);
        lines.extend(self.messages(conversation.as_deref(), usize::MAX - 1));
        lines.extend(self.answer(turn, usize::MAX - 1));
        lines.push(String::new());
        for (name, value) in self.details(turn) {
            lines.extend(self.labelled(name, &value, usize::MAX - 1));
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
        let by = if matches!(callers[..], [(NOBODY, _)]) { String::new() } else { format!(" by {}", by.join(", ")) };
        let (mut read, mut written, mut counting) = (0, 0, 0);
        for usage in turns.iter().filter_map(counted_tokens) {
            (read, written, counting) = (read + usage.input, written + usage.output, counting + 1);
        }
        let tokens = match counting {
            0 => "no answer reports its tokens".to_owned(),
            all if all == turns.len() => format!("{read} tokens read, {written} written"),
            some => format!("{read} tokens read, {written} written in the {some} answers that report them"),
        };
        let mut lines = vec![self.fixture.path.display().to_string()];
        let mut tell = |text: String| lines.extend(wrapped(&text, 2, self.width));
        tell(format!("{}{by}; {tokens}", counted(turns.len(), "turn")));
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
        for hole in &self.fixture.holes {
            tell(format!("lacks a call of its trace: {hole}"));
        }
        for why in &self.fixture.unstable {
            tell(format!("written without a proof, because this varied: {why}"));
        }
        lines
    }

    /// The models and the APIs over which they were recorded, without repetitions.
    fn origins(&self) -> Vec<String> {
        let origin = |turn: &Turn| {
            let model = self.text(turn, Check::Model).filter(|model| !model.is_empty());
            let model = model.or(turn.output.model.as_deref()).unwrap_or("an unknown model");
            match &turn.wire {
                Some(wire) => format!("{model} over {}", wire.api.name()),
                None => format!("{model}, or written by hand"),
            }
        };
        let mut known = HashSet::new();
        self.turns().iter().map(origin).filter(|origin| known.insert(origin.clone())).collect()
    }

    /// The line above a turn, `── turn 3 · lead_agent ─────────── 201 + 16 tokens ──`, and below it why the call was made.
    fn rule(&self, index: usize, turn: &Turn) -> String {
        let tokens = counted_tokens(turn);
        let tokens = tokens.map(|usage| format!("{} + {} tokens", usage.input, usage.output)).unwrap_or_default();
        let caller = turn.caller.as_ref().map(|caller| format!(" · {caller}")).unwrap_or_default();
        let rule = self.ruled(&format!("{}{caller}", nth_turn(index)), &tokens);
        let why = wrapped(&self.why(index, turn), 3, self.width).join("\n");
        format!("{rule}\n{why}")
    }

    fn ruled(&self, title: &str, end: &str) -> String {
        let end = if end.is_empty() { String::new() } else { format!(" {end} ──") };
        ruled(title, self.width.saturating_sub(end.chars().count())) + &end
    }

    /// Why the call of a turn was made: what is new since the call before it, or how it differs from an earlier call with the
    /// same conversation.
    fn why(&self, index: usize, turn: &Turn) -> String {
        let same = self.turns()[..index].iter().rposition(|other| {
            other.key.conversation_hash == turn.key.conversation_hash && turn.input.is_some() == other.input.is_some()
        });
        if let Some(same) = same {
            let other = &self.turns()[same];
            let differs = |check: Check| self.text(turn, check) != self.text(other, check);
            let checks = [
                (Check::Prompt, "with a different system prompt"),
                (Check::Tools, "with different tools"),
                (Check::Model, "with a different model"),
                (Check::Settings, "with different settings"),
                (Check::Form, "asking for another form of answer"),
            ];
            let what = match checks.into_iter().find(|(check, _)| differs(*check)) {
                _ if caller(turn) != caller(other) => "by a different caller",
                Some((_, what)) => what,
                None if turn.request != other.request => "in a different request",
                None => "sent again",
            };
            return format!("the conversation of {}, {what}", nth_turn(same));
        }
        let Some(input) = &turn.input else { return "the fixture contains only a hash of its conversation".to_owned() };
        let named = |tool: &Json| tool.str_of("name").map_or_else(|| "a tool".to_owned(), |name| format!("`{name}`"));
        let results = input.messages.iter().filter(|message| message.str_of("type") == Some("tool"));
        let results: Vec<String> = results.map(named).collect();
        let asked = input.messages.last().and_then(|message| message.str_of("type"));
        let what = match asked {
            _ if !results.is_empty() => format!("with the result of {}", results.join(", ")),
            Some("human") if input.after.is_none() => "begins a conversation".to_owned(),
            Some("human") => "with another message of the user".to_owned(),
            Some("opaque") => "is not a chat request".to_owned(),
            None if self.text(turn, Check::Prompt).is_some_and(|prompt| !prompt.is_empty()) => {
                "has only a system prompt".to_owned()
            }
            _ => "with more messages".to_owned(),
        };
        match input.after {
            None => what,
            Some(after) if after.keep.is_some() => format!("continues from within {}, {what}", nth_turn(after.turn)),
            Some(after) => format!("continues from {}, {what}", nth_turn(after.turn)),
        }
    }

    /// The system prompt and the names of the tools of a turn.
    fn setting(&self, turn: &Turn, most: usize) -> Vec<String> {
        let mut lines = Vec::new();
        let prompt = self.text(turn, Check::Prompt).filter(|prompt| !prompt.is_empty());
        lines.extend(prompt.into_iter().flat_map(|prompt| self.labelled("system", prompt, most)));
        let tools = self.text(turn, Check::Tools).and_then(|tools| Json::parse(tools.as_bytes()).ok());
        let names = tools.as_ref().map(tool_names).unwrap_or_default();
        if !names.is_empty() {
            lines.extend(self.labelled("tools", &names.join(", "), most));
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
            self.labelled(&label, &parts.join("\n"), most)
        };
        messages.unwrap_or_default().iter().flat_map(message).collect()
    }

    fn answer(&self, turn: &Turn, most: usize) -> Vec<String> {
        let Answer { blocks, finish, .. } = &turn.output;
        let mut lines: Vec<String> = Vec::new();
        for block in blocks {
            lines.extend(match block {
                Block::Text(text) => self.labelled("→ ai", text, most),
                Block::Reasoning(text) => self.labelled("→ thinks", text, most),
                Block::Refusal(text) => self.labelled("→ refuses", text, most),
                Block::ToolCall(call) => {
                    self.labelled("→ calls", &format!("{} {}", call.name, call.args.print(Layout::Python)), most)
                }
                Block::Native(native) => {
                    self.labelled(&format!("→ {}", native.kind()), &native.block.print(Layout::Python), most)
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
            lines.extend(self.labelled(&format!("→ {}", response.status), &body, most));
        }
        if let Some(finish) = finish.as_ref().filter(|finish| !matches!(finish.as_str(), "stop" | "tool_calls")) {
            lines.extend(self.labelled("→ ended by", finish.as_str(), most));
        }
        lines
    }

    /// What the fixture stores for a turn in addition to the conversation.
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

    /// A label with a text to its right, of at most `most` lines.
    fn labelled(&self, label: &str, text: &str, most: usize) -> Vec<String> {
        labelled(&format!("  {label}"), text, 16, self.width, most)
    }
}

fn said(method: &str, params: &Json) -> String {
    format!("{method} {}", params.print(Layout::Python))
}

/// The tokens of an answer, if it counted any: no answer takes none.
fn counted_tokens(turn: &Turn) -> Option<Usage> {
    turn.output.usage.filter(|usage| usage.input > 0 || usage.output > 0)
}

fn caller(turn: &Turn) -> &str {
    turn.caller.as_deref().unwrap_or(NOBODY)
}

const NOBODY: &str = "no caller";

/// The names of tools, which may be stored in the form of any API.
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
