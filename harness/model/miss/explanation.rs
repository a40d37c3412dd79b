//! Why a call missed: the nearest recorded turn, and where the two conversations part.

use similar::{ChangeTag, TextDiff};

use super::caller_rule;
use crate::fixture::Fixture;
use crate::json::{Json, Layout};
use crate::key::{Rules, plain_conversation};
use crate::model::miss::Reason;
use crate::model::replay::Lookup;
use crate::text::around;

/// The most lines of a diff that are shown.
const DIFF_LINES: usize = 20;
/// Texts are compared word by word up to this many characters between their common ends.
const COMPARED: usize = 20_000;

/// The lines that explain a miss: what fits, or the nearest turn and the difference.
pub(crate) fn evidence(
    reason: &Reason,
    lookup: &Lookup,
    fixture: &Fixture,
    rules: &Rules,
    served: &[bool],
) -> Vec<String> {
    let messages = lookup.conversation.len();
    let mut lines = vec![format!("messages   {messages} in the key: {}", outline(&lookup.conversation))];
    match reason {
        Reason::Ambiguous { .. } => {
            let group = fixture.table.of_conversation(rules.conversation_hash(&lookup.conversation));
            let turns = group.map(|group| group.turns.as_slice()).unwrap_or_default();
            lines.extend(caller_rule::lines(turns, lookup.checks.as_ref().map(|checks| &checks.texts), fixture));
        }
        Reason::OtherCaller { .. } => lines.push(
            "to fix     if the caller was renamed on purpose, record again, or add the new name to [aliases] in \
             scenarios/suite.toml"
                .to_owned(),
        ),
        Reason::AllServed { .. } => lines.push(format!(
            "to fix     the system asks more often than when it was recorded, {} of {} turns are still open",
            served.iter().filter(|served| !**served).count(),
            served.len()
        )),
        _ => lines.extend(nearest_lines(lookup, fixture, rules, served)),
    }
    lines
}

fn nearest_lines(lookup: &Lookup, fixture: &Fixture, rules: &Rules, served: &[bool]) -> Vec<String> {
    let turns = fixture.table.turns();
    if turns.is_empty() {
        return vec![format!("nearest    none: {} holds no turn", fixture.path.display())];
    }
    let Some((index, conversation)) = nearest(lookup, fixture, rules, served) else {
        let open = served.iter().filter(|served| !**served).count();
        return vec![format!(
            "nearest    not known: {} keeps hashes and no conversations; {open} of its {} turns are still open",
            fixture.path.display(),
            turns.len()
        )];
    };
    let state = if served[index] { "served before" } else { "not yet served" };
    let caller = turns[index].caller.as_deref().unwrap_or("(no caller)");
    let mut lines = vec![format!("nearest    {}, by `{caller}`, {state}", fixture.place_of(index))];
    let over_another_wire =
        turns[index].wire.as_ref().is_some_and(|wire| lookup.api.is_some_and(|api| api != wire.api));
    lines.extend(if over_another_wire {
        parting(&plain_conversation(&conversation), &plain_conversation(&lookup.conversation))
    } else {
        parting(&conversation, &lookup.conversation)
    });
    lines
}

/// How near a turn is to a call; the greatest is the nearest. Fields in order of their weight.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Nearness {
    /// Messages in common, place by place, in thousandths of the longer conversation.
    common: usize,
    same_caller: bool,
    /// The less the lengths differ, the more.
    same_length: usize,
    /// Characters in common where the two part.
    alike: usize,
    not_served: bool,
}

/// The recorded turn that is most like a call, and its conversation.
pub(crate) fn nearest(
    lookup: &Lookup,
    fixture: &Fixture,
    rules: &Rules,
    served: &[bool],
) -> Option<(usize, Vec<Json>)> {
    let mut best: Option<(Nearness, usize, Vec<Json>)> = None;
    let called = &lookup.conversation;
    for (index, turn) in fixture.table.turns().iter().enumerate() {
        let Some(conversation) = fixture.conversation(index, rules) else { continue };
        let common = conversation.iter().zip(called).filter(|(a, b)| a == b).count();
        let nearness = Nearness {
            common: 1000 * common / conversation.len().max(called.len()).max(1),
            same_caller: lookup.caller.is_some() && turn.caller == lookup.caller,
            same_length: usize::MAX - conversation.len().abs_diff(called.len()),
            alike: alike(&conversation, called),
            not_served: !served[index],
        };
        if best.as_ref().is_none_or(|(found, _, _)| nearness > *found) {
            best = Some((nearness, index, conversation));
        }
    }
    best.map(|(_, index, conversation)| (index, conversation))
}

/// How many characters the first differing messages share at both ends.
fn alike(recorded: &[Json], called: &[Json]) -> usize {
    let Some((a, b)) = recorded.iter().zip(called).find(|(a, b)| a != b) else { return 0 };
    let (a, b) = (a.print(Layout::Python), b.print(Layout::Python));
    let (prefix, suffix) = common_ends(&a, &b);
    prefix + suffix
}

/// Where two conversations part: which message, which field, which words.
fn parting(recorded: &[Json], called: &[Json]) -> Vec<String> {
    let at = recorded.iter().zip(called).take_while(|(a, b)| a == b).count();
    let place = |messages: &[Json]| format!("message {} of {}", at + 1, messages.len());
    match (recorded.get(at), called.get(at)) {
        (Some(a), Some(b)) => {
            let (field, a, b) = first_difference(a, b, String::new());
            let message = describe(&called[at]);
            let mut lines = vec![format!("they part  at {} ({message}), in `{field}`:", place(called))];
            lines.extend(diff(&text_of(a), &text_of(b)));
            lines
        }
        (Some(a), None) => vec![
            format!("they part  the call ends where the recorded conversation goes on, at {}:", place(recorded)),
            format!("  - {}", around(&describe_whole(a), 0)),
        ],
        (None, Some(b)) => vec![
            format!("they part  the call goes on where the recorded conversation ends, at {}:", place(called)),
            format!("  + {}", around(&describe_whole(b), 0)),
        ],
        (None, None) => vec!["they part  nowhere: the conversations are equal, their callers are not".to_owned()],
    }
}

/// The first field in which two messages differ: its path, and both values.
pub(crate) fn first_difference<'a>(
    a: &'a Json,
    b: &'a Json,
    path: String,
) -> (String, Option<&'a Json>, Option<&'a Json>) {
    let deeper = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Json::Object(left), Json::Object(right)) => {
            // The type and the name come first: other text in another kind of message is no news.
            let mut keys: Vec<&str> = left.keys().chain(right.keys()).collect();
            keys.sort_by_key(|key| (!matches!(*key, "type" | "name"), *key));
            for key in keys {
                match (left.get(key), right.get(key)) {
                    (Some(l), Some(r)) if l == r => {}
                    (Some(l), Some(r)) => return first_difference(l, r, deeper(key)),
                    (l, r) => return (deeper(key), l, r),
                }
            }
            (path, Some(a), Some(b))
        }
        (Json::Array(left), Json::Array(right)) => {
            let at = left.iter().zip(right).take_while(|(l, r)| l == r).count();
            let path = format!("{path}[{at}]");
            match (left.get(at), right.get(at)) {
                (Some(l), Some(r)) => first_difference(l, r, path),
                (l, r) => (path, l, r),
            }
        }
        _ => (path, Some(a), Some(b)),
    }
}

fn text_of(value: Option<&Json>) -> String {
    match value {
        None => "(absent)".to_owned(),
        Some(Json::Str(text)) => text.clone(),
        Some(other) => other.print(Layout::Python),
    }
}

/// Two texts as a diff of at most [`DIFF_LINES`] lines, and the words that changed.
fn diff(recorded: &str, called: &str) -> Vec<String> {
    let (prefix, suffix) = common_ends(recorded, called);
    let (left, right) = (&recorded[prefix..recorded.len() - suffix], &called[prefix..called.len() - suffix]);
    let mut lines = Vec::new();
    if left.len().max(right.len()) <= COMPARED {
        let first_line = recorded[..prefix].matches('\n').count();
        let lines_diff = TextDiff::from_lines(recorded, called);
        let changes = lines_diff.iter_all_changes().filter(|change| {
            let at = change.old_index().or(change.new_index()).unwrap_or(0);
            change.tag() != ChangeTag::Equal || (at + 1 == first_line && !change.value().trim().is_empty())
        });
        for change in changes {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            let line = change.value().trim_end_matches(['\n', '\r']);
            let start = if change.tag() == ChangeTag::Equal { 0 } else { offset_in_line(recorded, prefix) };
            lines.push(format!("  {sign} {}", around(line, start)));
        }
    } else {
        lines.push(format!("  - {}", around(&left.replace('\n', "⏎"), 0)));
        lines.push(format!("  + {}", around(&right.replace('\n', "⏎"), 0)));
    }
    let more = lines.len().saturating_sub(DIFF_LINES - 2);
    if more > 0 {
        lines.truncate(DIFF_LINES - 2);
        lines.push(format!("    … {more} more lines"));
    }
    lines.extend(words(recorded, called, prefix, suffix));
    lines
}

/// The words around the first and last difference: `"replay." → "reply."`.
fn words(recorded: &str, called: &str, prefix: usize, suffix: usize) -> Option<String> {
    let start = recorded[..prefix].rfind(char::is_whitespace).map_or(0, |i| i + white_space_at(recorded, i));
    let ending = |text: &str| {
        let end = text.len() - suffix;
        end + text[end..].find(char::is_whitespace).unwrap_or(suffix)
    };
    let (a, b) = (recorded.get(start..ending(recorded))?, called.get(start..ending(called))?);
    let short = |text: &str| text.chars().count() <= 60;
    (short(a) && short(b)).then(|| format!("  words {a:?} → {b:?}"))
}

/// What changed from one text to another, on one line: the words around it, or of longer changes their beginnings.
pub(crate) fn change(recorded: &str, called: &str) -> String {
    const SHOWN: usize = 60;
    let (prefix, suffix) = common_ends(recorded, called);
    let whole_words = |text: &str| {
        let boundary = |c: char| c.is_whitespace();
        let start = text[..prefix].rfind(boundary).map_or(0, |i| i + white_space_at(text, i));
        let end = text.len() - suffix;
        let end = end + text[end..].find(boundary).unwrap_or(suffix);
        let words = text[start.min(end)..end].trim();
        match words.char_indices().nth(SHOWN) {
            _ if words.is_empty() => "nothing".to_owned(),
            Some((at, _)) => format!("{:?}…", &words[..at]),
            None => format!("{words:?}"),
        }
    };
    format!("{} → {}", whole_words(recorded), whole_words(called))
}

fn white_space_at(text: &str, at: usize) -> usize {
    text[at..].chars().next().map_or(0, char::len_utf8)
}

fn offset_in_line(text: &str, offset: usize) -> usize {
    offset - text[..offset].rfind('\n').map_or(0, |i| i + 1)
}

/// How many bytes two texts share at the front and, of the rest, at the back; always whole characters.
fn common_ends(a: &str, b: &str) -> (usize, usize) {
    let prefix: usize = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    let back = a[prefix..].chars().rev().zip(b[prefix..].chars().rev());
    (prefix, back.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum())
}

/// The kinds of a conversation's messages, `human, ai (2 tool calls), tool read_file`.
fn outline(messages: &[Json]) -> String {
    let shown: Vec<String> = messages.iter().rev().take(6).rev().map(describe).collect();
    let dots = if messages.len() > shown.len() { "…, " } else { "" };
    if shown.is_empty() { "none is left of the request".to_owned() } else { format!("{dots}{}", shown.join(", ")) }
}

/// What a message is, in a few words: `tool `read_file``.
pub(crate) fn describe(message: &Json) -> String {
    let kind = message.str_of("type").unwrap_or("message");
    let name = message.str_of("name").map(|name| format!(" `{name}`")).unwrap_or_default();
    let calls = message.get("tool_calls").and_then(Json::as_array).unwrap_or_default();
    let names: Vec<&str> = calls.iter().filter_map(|call| call.str_of("name")).collect();
    let calls = if names.is_empty() { String::new() } else { format!(" calling {}", names.join(", ")) };
    format!("{kind}{name}{calls}")
}

fn describe_whole(message: &Json) -> String {
    format!("{}: {}", describe(message), text_of(message.get("content")).replace('\n', "⏎"))
}

#[cfg(test)]
mod tests;
