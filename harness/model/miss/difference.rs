//! The differences between a call's conversation and a recorded one, in the order of the messages.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::field::{FieldDifference, field_difference, first_difference, pointer_of, text_of, value_change};
use super::follows::follows;
use super::messages::{describe, in_short, one_line, texts, tool_of};
use super::words::{change_within, diff};
use retake_base::cause::{Cause, CauseKind};
use retake_base::line::{Line, Lines, Side};
use retake_base::text::{around, counted};
use retake_core::conversation::OPAQUE;
use retake_core::json::{Json, Layout};

/// How many characters of each side of a changed text the first line of a failure shows.
const WORDS: usize = 36;

/// One difference between a recorded conversation and a call's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The difference in the words of a failure's first line.
    pub cause: Cause,
    /// The evidence: the place of the difference, and both texts.
    pub lines: Lines,
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
        Difference {
            cause: Cause::new(kind, what),
            lines: Lines::default(),
            recorded: String::new(),
            called: String::new(),
            who: String::new(),
            of_tools: false,
            done: String::new(),
        }
    }

    /// The difference in the words of a failure's first line.
    pub fn cause(&self) -> &Cause {
        &self.cause
    }

    /// Whether this difference follows from an earlier one: the same change, seen again in a later call or at another place.
    pub fn follows_from(&self, earlier: &Difference) -> bool {
        follows(earlier, self)
    }

    /// The same difference of a call by this caller, as it is printed.
    pub(super) fn by(self, who: &str) -> Difference {
        Difference { who: who.to_owned(), ..self }
    }
}

impl Difference {
    /// Whether this is about the tool of a result, and not about a call.
    fn is_of_result(&self) -> bool {
        self.cause.what.contains("is a result of tool")
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
    let (front, back) = common(recorded, called);
    let middle = Middle {
        recorded: front..recorded.len() - back,
        called: front..called.len() - back,
        messages: (recorded, called),
        who,
    };
    let found = joined(middle.differences(), recorded, called, who);
    let mut kept: Vec<Difference> = Vec::new();
    for difference in found {
        if !kept.iter().any(|other| difference.follows_from(other)) {
            kept.push(difference);
        }
    }
    kept
}

/// Returns how alike two conversations are: how many messages they have in common, and in how many steps one becomes the other.
pub(super) fn likeness(recorded: &[Json], called: &[Json]) -> (usize, usize) {
    let (front, back) = common(recorded, called);
    let (a, b) = (&recorded[front..recorded.len() - back], &called[front..called.len() - back]);
    let same = |op: &DiffOp| if let DiffOp::Equal { len, .. } = op { *len } else { 0 };
    let equal: usize = ops(a, b, whole).iter().map(same).sum();
    let of_kinds = ops(a, b, label);
    let alike: usize = of_kinds.iter().map(same).sum();
    let other = |op: &DiffOp| op.old_range().len().max(op.new_range().len()) - same(op);
    let steps = alike.saturating_sub(equal) + of_kinds.iter().map(other).sum::<usize>();
    (front + back + equal, steps)
}

/// Returns how many messages two conversations share at the front and, in the rest, at the back.
fn common(recorded: &[Json], called: &[Json]) -> (usize, usize) {
    let front = recorded.iter().zip(called).take_while(|(a, b)| a == b).count();
    let rest = recorded.len().min(called.len()) - front;
    let back = recorded.iter().rev().zip(called.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    (front, back)
}

fn whole(message: &Json) -> String {
    message.print(Layout::Compact)
}

/// The type of a message.
fn label(message: &Json) -> String {
    message.str_of("type").unwrap_or_default().to_owned()
}

fn ops(a: &[Json], b: &[Json], of: fn(&Json) -> String) -> Vec<DiffOp> {
    let (a, b): (Vec<String>, Vec<String>) = (a.iter().map(of).collect(), b.iter().map(of).collect());
    capture_diff_slices(Algorithm::Myers, &a, &b)
}

/// Two conversations without the messages that they share at the beginning and at the end.
struct Middle<'a> {
    recorded: std::ops::Range<usize>,
    called: std::ops::Range<usize>,
    /// All messages of the recorded conversation and of the call.
    messages: (&'a [Json], &'a [Json]),
    who: &'a str,
}

impl Middle<'_> {
    fn differences(&self) -> Vec<Difference> {
        let Middle { recorded, called, messages: (all_recorded, all_called), .. } = self;
        let (a, b) = (&all_recorded[recorded.clone()], &all_called[called.clone()]);
        if a.is_empty() && b.is_empty() {
            return Vec::new();
        }
        if let Some(order) = self.order(a, b) {
            return vec![order];
        }
        let mut found = Vec::new();
        for op in ops(a, b, whole) {
            let (of_a, of_b) = (op.old_range(), op.new_range());
            match op {
                DiffOp::Equal { .. } => {}
                _ => self.region(
                    of_a.start + recorded.start..of_a.end + recorded.start,
                    of_b.start + called.start..of_b.end + called.start,
                    &mut found,
                ),
            }
        }
        found
    }

    /// Returns the difference if both sides have the same messages in a different order.
    fn order(&self, a: &[Json], b: &[Json]) -> Option<Difference> {
        // A result that comes before its call has lost the name of its tool.
        let text = |message: &Json| {
            let parts =
                ["type", "content", "tool_calls"].map(|key| message.get(key).map(|part| part.print(Layout::Compact)));
            parts.into_iter().map(Option::unwrap_or_default).collect::<Vec<_>>().join("\n")
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
        let was = a.iter().position(|message| text(message) == text(moved))? + self.recorded.start;
        let what = format!(
            "the messages of {} come in a different order: message {} ({}) was recorded as message {}",
            self.who,
            self.called.start + 1,
            in_short(moved),
            was + 1
        );
        let lines = |side: Side, messages: &[Json]| -> Lines {
            messages.iter().map(|message| Line::of(side, 2, around(&one_line(message), 0))).collect()
        };
        let mut shown = Lines::from(&*format!("difference at message {}, in their order:", self.called.start + 1));
        shown.extend(lines(Side::Gone, a).into_iter().chain(lines(Side::Come, b)));
        Some(self.difference(CauseKind::MessageOrder, what, shown, String::new(), String::new()))
    }

    /// Compares a region in which all messages differ: messages of the same kind are paired, the rest is missing or extra.
    fn region(&self, recorded: std::ops::Range<usize>, called: std::ops::Range<usize>, found: &mut Vec<Difference>) {
        if recorded.len() == called.len() {
            return recorded.zip(called).for_each(|(a, b)| self.pair(a, b, found));
        }
        let (a, b) = (&self.messages.0[recorded.clone()], &self.messages.1[called.clone()]);
        for op in ops(a, b, label) {
            let of_a = op.old_range().start + recorded.start..op.old_range().end + recorded.start;
            let of_b = op.new_range().start + called.start..op.new_range().end + called.start;
            let paired = of_a.len().min(of_b.len());
            of_a.clone().zip(of_b.clone()).for_each(|(a, b)| self.pair(a, b, found));
            self.missing(of_a.start + paired..of_a.end, found);
            self.extra(of_b.start + paired..of_b.end, found);
        }
    }

    fn missing(&self, range: std::ops::Range<usize>, found: &mut Vec<Difference>) {
        let all = self.messages.0;
        let Some(first) = all.get(range.start).filter(|_| !range.is_empty()) else { return };
        let (count, who) = (range.len(), self.who);
        let are = if count == 1 { "is" } else { "are" };
        let first_shown = format!("message {} ({})", range.start + 1, in_short(first));
        // A shortened history has no new messages.
        let whole = self.called.is_empty() || self.messages.1.len() < all.len();
        let of_tools = all[range.clone()].iter().all(|message| message.str_of("type") == Some("tool"));
        let (kind, what) = if of_tools {
            let what = format!("{who} sends {} fewer than recorded: {first_shown} is missing", results(count));
            (CauseKind::MessageMissing, what)
        } else if range.start == 0 && whole && range.len() < all.len() {
            let what =
                format!("the history of {who} is shortened at the front: its first {} {are} missing", messages(count));
            (CauseKind::HistoryShortened, what)
        } else if range.end == all.len() && self.called.is_empty() {
            let what =
                format!("the history of {who} is shortened at the end: its last {} {are} missing", messages(count));
            (CauseKind::HistoryShortened, what)
        } else {
            let what = format!("{who} sends {} fewer than recorded: {first_shown} is missing", messages(count));
            (CauseKind::MessageMissing, what)
        };
        let mut lines = Lines::from(&*format!(
            "difference {} of the recorded {} {are} missing, from {first_shown} on:",
            messages(count),
            all.len()
        ));
        let shown = all[range.clone()].iter().take(3);
        lines.extend(shown.map(|message| Line::of(Side::Gone, 2, around(&one_line(message), 0))));
        found.push(Difference { of_tools, ..self.difference(kind, what, lines, texts(&all[range]), String::new()) });
    }

    fn extra(&self, range: std::ops::Range<usize>, found: &mut Vec<Difference>) {
        let all = self.messages.1;
        let Some(first) = all.get(range.start).filter(|_| !range.is_empty()) else { return };
        let (count, who) = (range.len(), self.who);
        let first_shown = format!("message {} ({})", range.start + 1, in_short(first));
        let what = format!("{who} sends {} more than recorded: {first_shown}", messages(count));
        let mut lines = Lines::from(&*format!(
            "difference {} of {} {} not recorded, from {first_shown} on:",
            messages(count),
            all.len(),
            if count == 1 { "was" } else { "were" }
        ));
        let shown = all[range.clone()].iter().take(3);
        lines.extend(shown.map(|message| Line::of(Side::Come, 2, around(&one_line(message), 0))));
        found.push(self.difference(CauseKind::MessageExtra, what, lines, String::new(), texts(&all[range])));
    }

    /// Compares two messages at the same place.
    fn pair(&self, recorded: usize, called: usize, found: &mut Vec<Difference>) {
        let (a, b) = (&self.messages.0[recorded], &self.messages.1[called]);
        if a == b {
            return;
        }
        let (who, place) = (self.who, format!("message {}", called + 1));
        let whole = format!("{place} of {} ({})", self.messages.1.len(), describe(b));
        let (kind_a, kind_b) = (a.str_of("type").unwrap_or_default(), b.str_of("type").unwrap_or_default());
        let part = |field: &str, a: &str, b: &str| {
            let mut lines = Lines::from(&*format!("difference at {whole}, in `{field}`:"));
            lines.extend(diff(a, b));
            lines
        };
        if kind_a != kind_b {
            let what = format!("{place} of {who} is of type `{kind_b}`, recorded: `{kind_a}`");
            let lines = part("type", kind_a, kind_b);
            if let Some(tool) = tool_of(self.messages.0, recorded) {
                let what = format!("{who} goes on without the result of tool `{tool}`: {place} is of type `{kind_b}`");
                let lost = self.difference(CauseKind::MessageMissing, what, lines, String::new(), String::new());
                return found.push(Difference { of_tools: true, ..lost });
            }
            let (text_a, text_b) = (texts(std::slice::from_ref(a)), texts(std::slice::from_ref(b)));
            let difference = self.difference(CauseKind::MessageType, what, lines, text_a, text_b);
            return found.push(Difference { done: format!("{kind_a} → {kind_b}"), ..difference });
        }
        self.calls(a, b, &place, &part, found);
        let (tool_a, tool_b) = (tool_of(self.messages.0, recorded), tool_of(self.messages.1, called));
        if let (true, Some(tool), None) = (kind_b == "tool", a.str_of("name"), b.str_of("name")) {
            let what = format!("{place} of {who} is the result of no tool call, recorded: of tool `{tool}`");
            let lines = part("name", tool, "");
            return found.push(self.difference(CauseKind::ToolCallId, what, lines, tool.to_owned(), String::new()));
        }
        // A result whose call is missing has no name. Then the missing call is the difference.
        if let (true, Some(a), Some(b)) = (kind_b == "tool" && tool_a != tool_b, tool_a, tool_b) {
            let what = format!("{place} of {who} is a result of tool `{b}`, recorded: of `{a}`");
            found.push(self.difference(CauseKind::ToolName, what, part("name", a, b), a.to_owned(), b.to_owned()));
        }
        let (text_a, text_b) = (a.str_of("content").unwrap_or_default(), b.str_of("content").unwrap_or_default());
        if text_a == text_b {
            if a.get("tool_calls") == b.get("tool_calls") && kind_b != "tool" {
                let (field, a, b) = first_difference(a, b, String::new());
                let words = value_change(a, b, WORDS);
                let (a, b) = (text_of(a), text_of(b));
                let what = format!("{place} ({kind_b}) of {who} has a different `{field}` ({words})");
                found.push(self.difference(CauseKind::MessageText, what, part(&field, &a, &b), a, b));
            }
            return;
        }
        let words = change_within(text_a, text_b, WORDS);
        let inside = field_difference(text_a, text_b);
        let (kind, what) = match (kind_b, inside) {
            (OPAQUE, Some(FieldDifference { pointer, words, .. })) => {
                (CauseKind::OtherRequest, format!("the request has a different `{pointer}` than recorded ({words})"))
            }
            (OPAQUE, None) => {
                (CauseKind::OtherRequest, format!("the request has a different body than recorded ({words})"))
            }
            ("tool", inside) => {
                let tool = tool_b.map_or_else(|| "a tool".to_owned(), |tool| format!("tool `{tool}`"));
                let what = match inside {
                    Some(FieldDifference { pointer, words, is_new: true })
                        if pointer.to_lowercase().ends_with("error") =>
                    {
                        format!("{tool} returned an error, where none was recorded ({words})")
                    }
                    Some(FieldDifference { pointer, words, .. }) => {
                        format!("{tool} returned a different `{pointer}` than recorded ({words})")
                    }
                    None => format!("{tool} returned different text than recorded ({words})"),
                };
                (CauseKind::ToolResult, what)
            }
            _ => (
                CauseKind::MessageText,
                format!("{place} ({kind_b}) of {who} says different text than recorded ({words})"),
            ),
        };
        let lines = part("content", text_a, text_b);
        let done = if kind == CauseKind::MessageText { done_to(text_a, text_b) } else { "" };
        let difference = self.difference(kind, what, lines, text_a.to_owned(), text_b.to_owned());
        found.push(Difference { done: done.to_owned(), ..difference });
    }

    /// Compares the tool calls of two messages.
    fn calls(
        &self,
        a: &Json,
        b: &Json,
        place: &str,
        part: &dyn Fn(&str, &str, &str) -> Lines,
        found: &mut Vec<Difference>,
    ) {
        let calls = |message: &Json| message.get("tool_calls").and_then(Json::as_array).unwrap_or_default().to_vec();
        let (a, b) = (calls(a), calls(b));
        let names = |calls: &[Json]| {
            let names: Vec<String> =
                calls.iter().filter_map(|call| Some(format!("`{}`", call.str_of("name")?))).collect();
            if names.is_empty() { "none".to_owned() } else { names.join(", ") }
        };
        let (names_a, names_b) = (names(&a), names(&b));
        if names_a != names_b {
            let tools = if b.len() == 1 { "tool" } else { "tools" };
            let what = format!("{place} of {} calls {tools} {names_b}, recorded: {names_a}", self.who);
            let lines = part("tool_calls", &names_a, &names_b);
            let of_tools = b.len() < a.len();
            let difference = self.difference(CauseKind::ToolName, what, lines, names_a, names_b);
            return found.push(Difference { of_tools, ..difference });
        }
        for (index, (a, b)) in a.iter().zip(&b).enumerate().filter(|(_, (a, b))| a != b) {
            let none = Json::Null;
            let args = |call: &'_ Json| call.get("args").cloned().unwrap_or(none.clone());
            let (args_a, args_b) = (args(a), args(b));
            let (path, old, new) = first_difference(&args_a, &args_b, String::new());
            let pointer = pointer_of(&path);
            let words = value_change(old, new, WORDS);
            let (old, new) = (text_of(old), text_of(new));
            let tool = b.str_of("name").unwrap_or_default();
            let what = match renamed(&args_a, &args_b) {
                Some((was, is)) => format!("the argument `{was}` of tool `{tool}` is called `{is}`"),
                None => {
                    format!("tool `{tool}` is called with a different argument `{pointer}` than recorded ({words})")
                }
            };
            let field = format!("tool_calls[{index}].args.{path}");
            let lines = part(field.trim_end_matches('.'), &old, &new);
            found.push(self.difference(CauseKind::ToolArgument, what, lines, old, new));
        }
    }

    fn difference(&self, kind: CauseKind, what: String, lines: Lines, recorded: String, called: String) -> Difference {
        let (cause, who) = (Cause::new(kind, what), self.who.to_owned());
        Difference { cause, lines, recorded, called, who, of_tools: false, done: String::new() }
    }
}

/// Returns the old and the new name if exactly one argument was renamed and has the same value.
fn renamed<'a>(recorded: &'a Json, called: &'a Json) -> Option<(&'a str, &'a str)> {
    let (Json::Object(a), Json::Object(b)) = (recorded, called) else { return None };
    let gone: Vec<_> = a.iter().filter(|(key, _)| !b.contains_key(key)).collect();
    let come: Vec<_> = b.iter().filter(|(key, _)| !a.contains_key(key)).collect();
    let ([(was, before)], [(is, after)]) = (&gone[..], &come[..]) else { return None };
    (before == after).then_some((was, is))
}

/// Describes what was done to a text as a whole. Empty if its words changed.
fn done_to(recorded: &str, called: &str) -> &'static str {
    let words =
        |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    match (words(recorded), words(called)) {
        (a, b) if a == b => "spelled differently",
        (a, b) if a.starts_with(&b) => "cut at the end",
        (a, b) if a.ends_with(&b) => "cut at the front",
        _ => "",
    }
}

/// Joins differences that are one change: messages that were sent as one, and results that were sent for each other's calls.
fn joined(mut found: Vec<Difference>, recorded: &[Json], called: &[Json], who: &str) -> Vec<Difference> {
    if called.is_empty() && !recorded.is_empty() {
        let what = format!("{who} asks without any message, recorded: {}", messages(recorded.len()));
        let lines = found.into_iter().flat_map(|difference| difference.lines).collect();
        return vec![Difference { lines, ..Difference::of(CauseKind::NoMessages, what).by(who) }];
    }
    let names: Vec<(usize, String, String)> = found
        .iter()
        .enumerate()
        .filter(|(_, difference)| difference.cause.kind == CauseKind::ToolName && difference.is_of_result())
        .map(|(at, difference)| (at, difference.recorded.clone(), difference.called.clone()))
        .collect();
    let sorted = |of: fn(&(usize, String, String)) -> String| {
        let mut all: Vec<String> = names.iter().map(of).collect();
        all.sort();
        all
    };
    if names.len() > 1 && sorted(|name| name.1.clone()) == sorted(|name| name.2.clone()) {
        let tools: Vec<String> = sorted(|name| name.1.clone()).iter().map(|name| format!("`{name}`")).collect();
        let what = format!("{who} sends the results of tools {} for each other's calls", tools.join(" and "));
        found[names[0].0].cause = Cause::new(CauseKind::ToolCallId, what);
        let rest: Vec<usize> = names[1..].iter().map(|name| name.0).collect();
        let mut at = 0..;
        found.retain(|_| !rest.contains(&at.next().unwrap_or_default()));
    }
    let text = |message: &Json| message.str_of("content").unwrap_or_default().trim().to_owned();
    let first = recorded.iter().zip(called).take_while(|(a, b)| a == b).count();
    let merged = called.get(first).map(text).unwrap_or_default();
    let parts = recorded[first..].iter().take_while(|message| {
        let text = text(message);
        !text.is_empty() && merged.contains(&text) && message.str_of("type") == called[first].str_of("type")
    });
    let parts = parts.count();
    if parts > 1 && called.len() < recorded.len() {
        let what = format!("{who} sends messages {} to {} as one", first + 1, first + parts);
        let lines = found.iter().flat_map(|difference| difference.lines.clone()).collect();
        found.retain(|difference| {
            !matches!(
                difference.cause.kind,
                CauseKind::MessageText | CauseKind::MessageMissing | CauseKind::HistoryShortened
            )
        });
        let one = Difference {
            lines,
            recorded: texts(&recorded[first..first + parts]),
            called: merged,
            ..Difference::of(CauseKind::MessageMissing, what).by(who)
        };
        found.insert(0, one);
    }
    found
}

fn results(count: usize) -> String {
    counted(count, "tool result")
}

fn messages(count: usize) -> String {
    counted(count, "message")
}

#[cfg(test)]
mod tests;
