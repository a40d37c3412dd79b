//! Short descriptions of messages and answers.

use retake_base::text::clipped;
use retake_core::json::Json;
use retake_wire::fixture::Turn;

/// Lists the last messages of a conversation: ``human, ai calling read_file, tool `read_file` ``.
pub(super) fn outline(messages: &[Json]) -> String {
    let shown: Vec<String> = messages.iter().rev().take(6).rev().map(describe).collect();
    let dots = if messages.len() > shown.len() { "…, " } else { "" };
    if shown.is_empty() {
        "no message of the request is part of it".to_owned()
    } else {
        format!("{dots}{}", shown.join(", "))
    }
}

/// Describes a message in a few words: ``tool `read_file` ``.
pub fn describe(message: &Json) -> String {
    let kind = message.str_of("type").unwrap_or("message");
    let name = message.str_of("name").map(|name| format!(" `{name}`")).unwrap_or_default();
    let calls = message.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
    let names: Vec<&str> = calls.iter().filter_map(|call| call.str_of("name")).collect();
    let calls = if names.is_empty() { String::new() } else { format!(" calling {}", names.join(", ")) };
    format!("{kind}{name}{calls}")
}

/// Describes a message by its kind and first words, for the first line of a failure.
pub(super) fn in_short(message: &Json) -> String {
    let text: String = message.str_of("content").unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    let about = describe(message);
    if text.is_empty() { about } else { format!("{about} {:?}", clipped(&text, 30)) }
}

/// A message on one line, with its whole text.
pub(super) fn one_line(message: &Json) -> String {
    format!("{}: {}", describe(message), message.str_of("content").unwrap_or_default().replace('\n', "⏎"))
}

/// The texts of messages, a line each.
pub(super) fn texts(messages: &[Json]) -> String {
    messages.iter().filter_map(|message| message.str_of("content")).collect::<Vec<_>>().join("\n")
}

/// Returns the tool whose result a message is: by the message's own name, or by the tool call that it answers.
pub(super) fn tool_of(messages: &[Json], index: usize) -> Option<&str> {
    let message = messages.get(index).filter(|message| message.str_of("type") == Some("tool"))?;
    message.str_of("name").or_else(|| {
        let mut before = messages[..index].iter().rev();
        let place = before.clone().take_while(|message| message.str_of("type") == Some("tool")).count();
        let calls = before.nth(place)?.get("tool_calls")?.as_array()?;
        calls.get(place)?.str_of("name")
    })
}

/// Names the caller of a call, or the call itself by its first words if the caller is not known.
pub fn who(caller: Option<&str>, messages: &[Json], prompt: &str) -> String {
    if let Some(caller) = caller {
        return format!("`{caller}`");
    }
    // What an API does not declare comes before the messages.
    let mut said = messages.iter().filter(|message| message.str_of("type") != Some("fields"));
    let first = said.next().and_then(|message| message.str_of("content")).unwrap_or_default();
    let text = if first.trim().is_empty() { prompt } else { first };
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.is_empty() { "a call".to_owned() } else { format!("the call {:?}", clipped(&text, 32)) }
}

/// The status with which a model refused a call.
pub(super) fn failed_with(turn: &Turn) -> Option<u16> {
    turn.wire.as_ref().map(|wire| wire.response.status).filter(|status| *status >= 400)
}

/// Describes the answer of a turn in a few words: `calls read_file`, `answers "Paris."`, or `answers with status 429`.
pub fn answer_in_short(turn: &Turn) -> String {
    if let Some(status) = failed_with(turn) {
        return format!("answers with status {status}");
    }
    let calls: Vec<&str> = turn.output.tool_calls().iter().map(|call| call.name.as_str()).collect();
    let text: String = turn.output.text().chars().take(60).collect();
    match (text.is_empty(), calls.is_empty()) {
        (_, true) => format!("answers {text:?}"),
        (true, false) => format!("calls {}", calls.join(", ")),
        (false, false) => format!("answers {text:?}, calls {}", calls.join(", ")),
    }
}

/// Describes the last message of a conversation for the first line of a failure.
pub(super) fn said_last(messages: &[Json]) -> String {
    let Some(last) = messages.last() else { return "a call without messages".to_owned() };
    let text = last.str_of("content").unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    match last.str_of("type") {
        _ if text.is_empty() => describe(last),
        Some("human") => format!("{:?}", clipped(&text, 48)),
        _ => format!("{} {:?}", describe(last), clipped(&text, 40)),
    }
}
