//! The differences between a call's conversation and a recorded one, in the order of the messages.

use std::ops::Range;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices};

use super::blocks::of_blocks;
use super::failed;
use super::field::{change_of, field_difference, first_difference, pointer_of, structured, text_of, value_change};
use super::follows::follows;
use super::messages::{describe, in_short, one_line, texts, tool_of};
use super::words::{change_within, common_ends, diff};
use retake_base::cause::{Cause, CauseKind};
use retake_base::line::{Line, Side, lines_of};
use retake_base::text::{around, counted, listed};
use retake_core::conversation::OPAQUE;
use retake_core::json::{Json, Layout};

/// How many characters of each side of a changed text the first line of a failure shows.
const WORDS: usize = 36;

/// What [`Difference::done`] says of a result that is of another tool.
const OF_RESULT: &str = "answered by another tool";

/// One difference between a recorded conversation and a call's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The difference in the words of a failure's first line.
    pub cause: Cause,
    /// The evidence: the place of the difference, and both texts.
    pub lines: Vec<Line>,
    /// The text that was recorded at this place; empty if there was none.
    pub(super) recorded: String,
    /// The text of the call at this place; empty if there is none.
    pub(super) called: String,
    /// The caller of the call, as it is printed.
    pub(super) who: String,
    /// Whether tool calls or tool results are missing.
    pub(super) of_tools: bool,
    /// What was done to the message, if that can be said in general, such as `cut at the end`. Two differences of one caller
    /// with the same description count as one change.
    pub(super) done: String,
}

impl Difference {
    /// Makes a difference that needs no texts and no evidence besides its cause.
    pub fn of(kind: CauseKind, what: String) -> Difference {
        let (cause, lines) = (Cause::new(kind, what), Vec::new());
        let [recorded, called, who, done] = [const { String::new() }; 4];
        Difference { cause, lines, recorded, called, who, of_tools: false, done }
    }

    /// Whether this difference follows from an earlier one: the same change, seen again in a later call or at another place.
    pub fn follows_from(&self, earlier: &Difference) -> bool {
        follows(earlier, self)
    }

    /// The same difference of a call by this caller, as it is printed.
    pub(super) fn by(self, who: &str) -> Difference {
        Difference { who: who.to_owned(), ..self }
    }

    /// Whether this text was recorded at the place of the difference and is not there any more.
    pub fn lacks(&self, text: &str) -> bool {
        self.recorded.contains(text) && !self.called.contains(text)
    }

    pub(super) fn has_no_text(&self) -> bool {
        self.recorded.is_empty() && self.called.is_empty()
    }
}

/// Returns the differences between a recorded conversation and a call's. `who` names the caller. Empty if there are none.
pub(super) fn differences(recorded: &[Json], called: &[Json], who: &str) -> Vec<Difference> {
    let mut compared = Compared { recorded, called, who, is_cut: false, found: Vec::new() };
    compared.messages();
    compared.join();
    let mut kept: Vec<Difference> = Vec::new();
    for difference in compared.found {
        if !kept.iter().any(|other| difference.follows_from(other)) {
            kept.push(difference);
        }
    }
    kept
}

/// Returns how alike two conversations are: how many messages they have in common, and in how many steps one becomes the other.
pub(super) fn likeness(recorded: &[Json], called: &[Json]) -> (usize, usize) {
    let (of_a, of_b) = middle(recorded, called);
    let shared = recorded.len() - of_a.len();
    let regions = |by| regions((recorded, of_a.clone()), (called, of_b.clone()), by);
    let same = |(a, _, is_same): &(Range<usize>, Range<usize>, bool)| if *is_same { a.len() } else { 0 };
    let equal: usize = regions(whole).iter().map(same).sum();
    let of_kinds = regions(label);
    let alike: usize = of_kinds.iter().map(same).sum();
    let other: usize = of_kinds.iter().filter(|region| !region.2).map(|(a, b, _)| a.len().max(b.len())).sum();
    (shared + equal, alike.saturating_sub(equal) + other)
}

/// Returns what is left of two conversations without the messages that they share at the front and, in the rest, at the back.
fn middle(recorded: &[Json], called: &[Json]) -> (Range<usize>, Range<usize>) {
    let front = recorded.iter().zip(called).take_while(|(a, b)| a == b).count();
    let rest = recorded.len().min(called.len()) - front;
    let back = recorded.iter().rev().zip(called.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    (front..recorded.len() - back, front..called.len() - back)
}

fn whole(message: &Json) -> String {
    message.print(Layout::Compact)
}

/// The type of a message.
fn label(message: &Json) -> String {
    message.str_of("type").unwrap_or_default().to_owned()
}

/// Aligns parts of two conversations. Returns the regions in order, each with whether its messages are the same.
fn regions(
    (recorded, of_a): (&[Json], Range<usize>),
    (called, of_b): (&[Json], Range<usize>),
    by: fn(&Json) -> String,
) -> Vec<(Range<usize>, Range<usize>, bool)> {
    let keys = |messages: &[Json]| messages.iter().map(by).collect::<Vec<_>>();
    let (a, b) = (keys(&recorded[of_a.clone()]), keys(&called[of_b.clone()]));
    let moved = |range: Range<usize>, from: usize| range.start + from..range.end + from;
    let region =
        |op: DiffOp| (moved(op.old_range(), of_a.start), moved(op.new_range(), of_b.start), op.tag() == DiffTag::Equal);
    capture_diff_slices(Algorithm::Myers, &a, &b).into_iter().map(region).collect()
}

/// Two conversations, and how they differ.
struct Compared<'a> {
    recorded: &'a [Json],
    called: &'a [Json],
    who: &'a str,
    /// Whether the call has no message of its own.
    is_cut: bool,
    found: Vec<Difference>,
}

impl Compared<'_> {
    fn messages(&mut self) {
        let (of_a, of_b) = middle(self.recorded, self.called);
        if let Some(order) = self.order(of_a.clone(), of_b.clone()) {
            return self.found.push(order);
        }
        self.is_cut = of_b.is_empty();
        let regions = regions((self.recorded, of_a), (self.called, of_b), whole);
        regions.into_iter().filter(|region| !region.2).for_each(|(a, b, _)| self.region(a, b));
    }

    /// Returns the difference if both sides have the same messages in a different order.
    fn order(&self, of_a: Range<usize>, of_b: Range<usize>) -> Option<Difference> {
        let (a, b) = (&self.recorded[of_a.clone()], &self.called[of_b.clone()]);
        // A result that comes before its call has lost the name of its tool.
        let text = |message: &Json| {
            let part = |key| message.get(key).map(|part| part.print(Layout::Compact)).unwrap_or_default();
            ["type", "content", "tool_calls"].map(part).join("\n")
        };
        let sorted = |messages: &[Json]| {
            let mut texts: Vec<String> = messages.iter().map(text).collect();
            texts.sort();
            texts
        };
        let is_same = a.iter().zip(b).all(|(a, b)| text(a) == text(b));
        if a.len() < 2 || a.len() != b.len() || is_same || sorted(a) != sorted(b) {
            return None;
        }
        let moved = b.first()?;
        let was = a.iter().position(|message| text(message) == text(moved))? + of_a.start;
        let (who, place) = (self.who, of_b.start + 1);
        let difference = match (tool_of(self.recorded, was), tool_of(self.called, of_b.start)) {
            (Some(of), Some(now)) if of != now => of_each_other(who, &[format!("`{now}`"), format!("`{of}`")]),
            _ => {
                let (moved, was) = (in_short(moved), was + 1);
                let what = format!(
                    "the messages of {who} come in a different order: message {place} ({moved}) was recorded as message {was}"
                );
                Difference::of(CauseKind::MessageOrder, what)
            }
        };
        let mut lines = lines_of(&format!("difference at message {place}, in their order:"));
        lines.extend(shown(Side::Gone, a).chain(shown(Side::Come, b)));
        Some(Difference { lines, ..difference.by(who) })
    }

    /// Compares a region in which all messages differ: messages of the same kind are paired, the rest is missing or extra.
    fn region(&mut self, recorded: Range<usize>, called: Range<usize>) {
        if recorded.len() == called.len() {
            return recorded.zip(called).for_each(|(a, b)| self.pair(a, b));
        }
        for (of_a, of_b, _) in regions((self.recorded, recorded), (self.called, called), label) {
            let paired = of_a.len().min(of_b.len());
            of_a.clone().zip(of_b.clone()).for_each(|(a, b)| self.pair(a, b));
            self.missing(of_a.start + paired..of_a.end);
            self.extra(of_b.start + paired..of_b.end);
        }
    }

    fn missing(&mut self, range: Range<usize>) {
        let all = self.recorded;
        let Some(first) = all.get(range.start).filter(|_| !range.is_empty()) else { return };
        let (count, who) = (range.len(), self.who);
        let (messages, of, are) = (counted(count, "message"), all.len(), if count == 1 { "is" } else { "are" });
        let first_shown = format!("message {} ({})", range.start + 1, in_short(first));
        // A shortened history has no new messages.
        let whole = self.is_cut || self.called.len() < all.len();
        let of_tools = all[range.clone()].iter().all(|message| message.str_of("type") == Some("tool"));
        let shortened = |at: &str, which: &str| {
            let what = format!("the history of {who} is shortened at the {at}: its {which} {messages} {are} missing");
            (CauseKind::HistoryShortened, what)
        };
        let (kind, what) = if of_tools {
            let tools: Vec<String> = range.clone().filter_map(|at| Some(format!("`{}`", tool_of(all, at)?))).collect();
            let (results, place) = (if count == 1 { "result" } else { "results" }, range.start + 1);
            let what = format!("the {results} of {} {are} missing in message {place} of {who}", tools.join(" and "));
            (CauseKind::MessageMissing, what)
        } else if range.start == 0 && whole && range.len() < all.len() {
            shortened("front", "first")
        } else if range.end == all.len() && self.is_cut {
            shortened("end", "last")
        } else {
            let what = format!("{who} sends {messages} fewer than recorded: {first_shown} is missing");
            (CauseKind::MessageMissing, what)
        };
        let line = format!("difference {messages} of the recorded {of} {are} missing, from {first_shown} on:");
        let mut lines = lines_of(&line);
        lines.extend(shown(Side::Gone, &all[range.clone()]).take(3));
        self.say(Difference { of_tools, ..Difference::of(kind, what) }, lines, texts(&all[range]), "");
    }

    fn extra(&mut self, range: Range<usize>) {
        let all = self.called;
        let Some(first) = all.get(range.start).filter(|_| !range.is_empty()) else { return };
        let (count, who) = (range.len(), self.who);
        let first_shown = format!("message {} ({})", range.start + 1, in_short(first));
        let (messages, of, were) = (counted(count, "message"), all.len(), if count == 1 { "was" } else { "were" });
        let what = format!("{who} sends {messages} more than recorded: {first_shown}");
        let line = format!("difference {messages} of {of} {were} not recorded, from {first_shown} on:");
        let mut lines = lines_of(&line);
        lines.extend(shown(Side::Come, &all[range.clone()]).take(3));
        self.say(Difference::of(CauseKind::MessageExtra, what), lines, "", texts(&all[range]));
    }

    /// Compares two messages at the same place.
    fn pair(&mut self, recorded: usize, called: usize) {
        let (a, b) = (&self.recorded[recorded], &self.called[called]);
        if a == b {
            return;
        }
        let (who, place) = (self.who, format!("message {}", called + 1));
        let whole = format!("{place} of {} ({})", self.called.len(), describe(b));
        let (kind_a, kind_b) = (a.str_of("type").unwrap_or_default(), b.str_of("type").unwrap_or_default());
        let part = |field: &str, a: &str, b: &str| {
            let mut lines = lines_of(&format!("difference at {whole}, in `{field}`:"));
            lines.extend(diff(a, b));
            lines
        };
        let (tool_a, tool_b) = (tool_of(self.recorded, recorded), tool_of(self.called, called));
        if kind_a != kind_b {
            let lines = part("type", kind_a, kind_b);
            if let Some(tool) = tool_a {
                let what = format!("{who} goes on without the result of tool `{tool}`: {place} is of type `{kind_b}`");
                let lost = Difference { of_tools: true, ..Difference::of(CauseKind::MessageMissing, what) };
                return self.say(lost, lines, "", "");
            }
            let what = format!("{place} of {who} is of type `{kind_b}`, recorded: `{kind_a}`");
            let done = format!("{kind_a} → {kind_b}");
            let (a, b) = (texts(std::slice::from_ref(a)), texts(std::slice::from_ref(b)));
            return self.say(Difference { done, ..Difference::of(CauseKind::MessageType, what) }, lines, a, b);
        }
        self.calls(a, b, &place, &part);
        if let (true, Some(tool), None) = (kind_b == "tool", a.str_of("name"), b.str_of("name")) {
            let what = format!("{place} of {who} is the result of no tool call, recorded: of tool `{tool}`");
            return self.say(Difference::of(CauseKind::ToolCallId, what), part("name", tool, ""), tool, "");
        }
        // A result whose call is missing has no name. Then the missing call is the difference.
        if let (true, Some(a), Some(b)) = (kind_b == "tool" && tool_a != tool_b, tool_a, tool_b) {
            let what = format!("{place} of {who} is a result of tool `{b}`, recorded: of `{a}`");
            let other = Difference { done: OF_RESULT.to_owned(), ..Difference::of(CauseKind::ToolName, what) };
            self.say(other, part("name", a, b), a, b);
        }
        let (text_a, text_b) = (a.str_of("content").unwrap_or_default(), b.str_of("content").unwrap_or_default());
        if text_a == text_b {
            if a.get("tool_calls") == b.get("tool_calls") && kind_b != "tool" {
                let (field, a, b) = first_difference(a, b);
                let words = value_change(a, b, WORDS);
                let (a, b) = (text_of(a), text_of(b));
                let what = format!("{place} ({kind_b}) of {who} has a different `{field}` ({words})");
                self.say(Difference::of(CauseKind::MessageText, what), part(&field, &a, &b), a, b);
            }
            return;
        }
        if let Some(what) = of_blocks(text_a, text_b).filter(|_| kind_b != OPAQUE) {
            let other = Difference::of(CauseKind::MessageText, format!("{place} ({kind_b}) of {who} {what}"));
            return self.say(other, part("content", text_a, text_b), text_a, text_b);
        }
        // The first field that differs, if both texts are JSON.
        let inside = if kind_b == OPAQUE || kind_b == "tool" { field_difference(text_a, text_b) } else { None };
        let (other, words) = match inside {
            Some((pointer, words)) => (Some(format!("a different `{pointer}`")), words),
            None => (None, change_within(text_a, text_b, WORDS)),
        };
        let (kind, what) = match kind_b {
            OPAQUE => {
                let other = other.unwrap_or_else(|| "a different body".to_owned());
                (CauseKind::OtherRequest, format!("the request has {other} than recorded ({words})"))
            }
            "tool" => {
                let tool = tool_b.map_or_else(|| "a tool".to_owned(), |tool| format!("tool `{tool}`"));
                if is_cut(text_a, text_b) {
                    let what = format!("the result of {tool} is cut at the end ({words})");
                    let cut = Difference::of(CauseKind::ToolResult, what);
                    return self.say(cut, part("content", text_a, text_b), text_a, text_b);
                }
                let is_same = structured(text_a).is_some_and(|a| structured(text_b) == Some(a));
                let whole = if is_same { "the same JSON in another spelling" } else { "different text" };
                let other = other.unwrap_or_else(|| whole.to_owned());
                let otherwise = || format!("returned {other} than recorded ({words})");
                let did = failed::change(text_a, text_b, WORDS).unwrap_or_else(otherwise);
                (CauseKind::ToolResult, format!("{tool} {did}"))
            }
            _ => {
                let what = format!("{place} ({kind_b}) of {who} says different text than recorded ({words})");
                (CauseKind::MessageText, what)
            }
        };
        let done = if kind == CauseKind::MessageText { done_to(text_a, text_b) } else { "" };
        let other = Difference { done: done.to_owned(), ..Difference::of(kind, what) };
        self.say(other, part("content", text_a, text_b), text_a, text_b);
    }

    /// Compares the tool calls of two messages.
    fn calls(&mut self, a: &Json, b: &Json, place: &str, part: &dyn Fn(&str, &str, &str) -> Vec<Line>) {
        let calls = |message: &Json| message.get("tool_calls").and_then(Json::as_array).unwrap_or_default().to_vec();
        let (a, b) = (calls(a), calls(b));
        let names = |calls: &[Json]| {
            let names: Vec<&str> = calls.iter().filter_map(|call| call.str_of("name")).collect();
            if names.is_empty() { "none".to_owned() } else { listed(&names) }
        };
        let (names_a, names_b) = (names(&a), names(&b));
        if names_a != names_b {
            let tools = if b.len() == 1 { "tool" } else { "tools" };
            let what = format!("{place} of {} calls {tools} {names_b}, recorded: {names_a}", self.who);
            let other = Difference { of_tools: b.len() < a.len(), ..Difference::of(CauseKind::ToolName, what) };
            return self.say(other, part("tool_calls", &names_a, &names_b), names_a, names_b);
        }
        for (index, (a, b)) in a.iter().zip(&b).enumerate().filter(|(_, (a, b))| a != b) {
            let (args_a, args_b) = (a.get("args").unwrap_or(&Json::Null), b.get("args").unwrap_or(&Json::Null));
            let (path, old, new) = first_difference(args_a, args_b);
            let (pointer, words) = (pointer_of(&path), change_of(args_a, args_b, WORDS));
            let (old, new) = (text_of(old), text_of(new));
            let tool = b.str_of("name").unwrap_or_default();
            let what = match renamed(args_a, args_b) {
                Some((was, is)) => format!("the argument `{was}` of tool `{tool}` is called `{is}`"),
                None if pointer.is_empty() => {
                    let (then, now) = (args_a.kind(), args_b.kind());
                    format!("the arguments of tool `{tool}` are of type `{now}`, recorded: `{then}` ({words})")
                }
                None => {
                    format!("tool `{tool}` is called with a different argument `{pointer}` than recorded ({words})")
                }
            };
            let field = format!("tool_calls[{index}].args.{path}");
            let lines = part(field.trim_end_matches('.'), &old, &new);
            self.say(Difference::of(CauseKind::ToolArgument, what), lines, old, new);
        }
    }

    /// Adds a difference of this caller, with its evidence and the texts on both sides.
    fn say(&mut self, found: Difference, lines: Vec<Line>, recorded: impl Into<String>, called: impl Into<String>) {
        let (recorded, called) = (recorded.into(), called.into());
        self.found.push(Difference { lines, recorded, called, ..found.by(self.who) });
    }

    /// Joins differences that are one change: messages that were sent as one, and results that were sent for each other's calls.
    fn join(&mut self) {
        let Compared { recorded, called, who, ref mut found, .. } = *self;
        if called.is_empty() && !recorded.is_empty() {
            let what = format!("{who} asks without any message, recorded: {}", counted(recorded.len(), "message"));
            let lines = found.drain(..).flat_map(|difference| difference.lines).collect();
            return self.say(Difference::of(CauseKind::NoMessages, what), lines, "", "");
        }
        let of_results: Vec<usize> = (0..found.len()).filter(|at| found[*at].done == OF_RESULT).collect();
        let tools = |of: fn(&Difference) -> &str| {
            let mut tools: Vec<String> = of_results.iter().map(|at| format!("`{}`", of(&found[*at]))).collect();
            tools.sort();
            tools
        };
        let (before, now) = (tools(|result| &result.recorded), tools(|result| &result.called));
        if of_results.len() > 1 && before == now {
            found[of_results[0]].cause = of_each_other(who, &before).cause;
            of_results[1..].iter().rev().for_each(|at| drop(found.remove(*at)));
        }
        let text = |message: &Json| message.str_of("content").unwrap_or_default().trim().to_owned();
        let first = recorded.iter().zip(called).take_while(|(a, b)| a == b).count();
        let merged = called.get(first).map(text).unwrap_or_default();
        let is_part = |message: &&Json| {
            let text = text(message);
            !text.is_empty() && merged.contains(&text) && message.str_of("type") == called[first].str_of("type")
        };
        let parts = recorded[first..].iter().take_while(is_part).count();
        if parts > 1 && called.len() < recorded.len() {
            let what = format!("{who} sends messages {} to {} as one", first + 1, first + parts);
            let lines = found.iter().flat_map(|difference| difference.lines.clone()).collect();
            let of_one = [CauseKind::MessageText, CauseKind::MessageMissing, CauseKind::HistoryShortened];
            found.retain(|difference| !of_one.contains(&difference.cause.kind));
            let recorded = texts(&recorded[first..first + parts]);
            self.say(Difference::of(CauseKind::MessageMissing, what), lines, recorded, merged);
            self.found.rotate_right(1);
        }
    }
}

/// Results that were sent for each other's calls.
fn of_each_other(who: &str, tools: &[String]) -> Difference {
    let what = format!("{who} sends the results of tools {} for each other's calls", tools.join(" and "));
    Difference::of(CauseKind::ToolCallId, what)
}

/// The messages of one side, a line each.
fn shown(side: Side, messages: &[Json]) -> impl Iterator<Item = Line> {
    messages.iter().map(move |message| Line::of(side, 2, around(&one_line(message), 0)))
}

/// Returns the old and the new name if exactly one argument was renamed and has the same value.
fn renamed<'a>(recorded: &'a Json, called: &'a Json) -> Option<(&'a str, &'a str)> {
    let (Json::Object(a), Json::Object(b)) = (recorded, called) else { return None };
    let gone: Vec<_> = a.iter().filter(|(key, _)| !b.contains_key(*key)).collect();
    let come: Vec<_> = b.iter().filter(|(key, _)| !a.contains_key(*key)).collect();
    let ([(was, before)], [(is, after)]) = (&gone[..], &come[..]) else { return None };
    (before == after).then_some((was, is))
}

/// Whether a text begins as another one, which is JSON, and is shorter, and no JSON.
fn is_cut(recorded: &str, called: &str) -> bool {
    let is_json = |text: &str| Json::parse(text.as_bytes()).is_ok();
    called.len() < recorded.len() && common_ends(recorded, called).0 > 0 && is_json(recorded) && !is_json(called)
}

/// Describes what was done to a text as a whole. Empty if its words changed.
fn done_to(recorded: &str, called: &str) -> &'static str {
    let words = |of: &str| of.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    match (words(recorded), words(called)) {
        (a, b) if a == b => "spelled differently",
        (a, b) if a.starts_with(&b) => "cut at the end",
        (a, b) if a.ends_with(&b) => "cut at the front",
        _ => "",
    }
}

#[cfg(test)]
mod tests;
