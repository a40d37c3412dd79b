//! Text normalization (KEY.md, section 1): eight passes, each over the result of the previous one.
//!
//! The passes cannot be merged: `/tmp/2026-11-21 10:00:00` is one `<PATH>` only because the date became `<TS>` first,
//! and removing a reminder can join two halves of a date. Instead, each pass searches for a byte sequence that every match of
//! its pattern contains, which is fast. The tests compare the passes with the patterns as KEY.md writes them.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use memchr::{memchr, memmem};
use regex::Regex;

use super::Hash;
use crate::json::{Json, Layout};

/// Replaces text that varies from run to run with fixed words: first by the eight rules of version 1, then by the suite's own
/// rules. The suite's rules act on each text separately, and never on the JSON around the texts.
#[derive(Clone, Debug, Default)]
pub struct Normalizer {
    rules: Vec<OwnRule>,
    eight: Eight,
}

/// Which of version 1's eight rules act.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Eight {
    #[default]
    All,
    /// All but rules 2 to 4: the first fixtures are older than these.
    First,
    /// None: a text stays as it was sent.
    None,
}

/// A rule of the suite.
#[derive(Clone, Debug)]
struct OwnRule {
    pattern: Regex,
    replacement: String,
    /// Whether the rule ever changed a text. Clones of a rule share this flag.
    fired: Arc<AtomicBool>,
}

impl Normalizer {
    /// Creates the rules by which the first deer-flow fixtures were keyed: version 1 without rules 2 to 4.
    pub(super) fn of_first_fixtures() -> Normalizer {
        Normalizer { eight: Eight::First, ..Normalizer::default() }
    }

    /// Creates a normalizer without any rules: what it returns is what was sent.
    pub fn none() -> Normalizer {
        Normalizer { eight: Eight::None, ..Normalizer::default() }
    }

    /// Returns the suite's rules without the eight.
    pub fn own_only(&self) -> Normalizer {
        Normalizer { eight: Eight::None, ..self.clone() }
    }

    /// Adds rules of the suite. Each is a pattern and its replacement, in which `$1` and `${name}` refer to groups.
    pub fn with(mut self, rules: impl IntoIterator<Item = (Regex, String)>) -> Normalizer {
        let rule = |(pattern, replacement)| OwnRule { pattern, replacement, fired: Arc::default() };
        self.rules.extend(rules.into_iter().map(rule));
        self
    }

    /// Returns a normalizer without one of the suite's rules, given by its index.
    pub fn without(&self, rule: usize) -> Normalizer {
        let mut others = self.clone();
        others.rules.remove(rule);
        others
    }

    /// Returns the number of the suite's rules.
    pub fn own_rules(&self) -> usize {
        self.rules.len()
    }

    /// Whether one of the suite's rules, given by its index, changed any text so far.
    pub fn has_fired(&self, rule: usize) -> bool {
        self.rules.get(rule).is_some_and(|rule| rule.fired.load(Ordering::Relaxed))
    }

    /// Applies version 1's rules to a text, then the suite's rules. The result is borrowed if nothing was replaced.
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.with_own_replaced(version_1(text, reminder, self.eight))
    }

    /// Applies only version 1's rules to a text. This is for printed JSON, on which the suite's rules must not act.
    pub fn version_1<'a>(&self, text: &'a str) -> Cow<'a, str> {
        version_1(text, reminder, self.eight)
    }

    /// Applies version 1's rules to the text of a check, with one difference: only innermost pairs of reminder tags are
    /// removed, so a prompt that merely mentions the tag stays whole. The suite's rules are not applied.
    pub(super) fn of_check<'a>(&self, text: &'a str) -> Cow<'a, str> {
        version_1(text, innermost_reminder, self.eight)
    }

    /// Whether the suite has rules of its own.
    pub fn has_own(&self) -> bool {
        !self.rules.is_empty()
    }

    /// Applies only the suite's rules to a text.
    pub fn own<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.with_own_replaced(Cow::Borrowed(text))
    }

    /// As [`Normalizer::own_in`], with a copy of the value only if there are rules.
    pub(super) fn own_of<'a>(&self, value: &'a Json, numbers: bool) -> Cow<'a, Json> {
        let mut value = Cow::Borrowed(value);
        if self.has_own() {
            self.own_in(value.to_mut(), numbers);
        }
        value
    }

    /// Applies the suite's rules to each string of a value, and if `numbers` is set also to each number. Keys stay as they
    /// are. A number that a rule replaces becomes a string.
    pub fn own_in(&self, value: &mut Json, numbers: bool) {
        if !self.has_own() {
            return;
        }
        match value {
            Json::Str(text) => {
                if let Cow::Owned(replaced) = self.own(text) {
                    *text = replaced;
                }
            }
            Json::Array(items) => items.iter_mut().for_each(|item| self.own_in(item, numbers)),
            Json::Object(fields) => fields.iter_mut().for_each(|(_, field)| self.own_in(field, numbers)),
            Json::Int(_) | Json::BigInt(_) | Json::Float(_) if numbers => {
                if let Cow::Owned(replaced) = self.own(&value.print(Layout::Python)) {
                    *value = Json::Str(replaced);
                }
            }
            _ => {}
        }
    }

    /// Returns the values in a text for which a run may have others: its UUIDs, then what each of the suite's rules matches.
    pub fn values<'a>(&self, text: &'a str) -> Vec<Vec<&'a str>> {
        let matches = |rule: &OwnRule| rule.pattern.find_iter(text).map(|found| found.as_str()).collect();
        std::iter::once(uuids(text).collect()).chain(self.rules.iter().map(matches)).collect()
    }

    fn with_own_replaced<'a>(&self, mut text: Cow<'a, str>) -> Cow<'a, str> {
        for OwnRule { pattern, replacement, fired } in &self.rules {
            let Cow::Owned(replaced) = pattern.replace_all(&text, replacement) else { continue };
            // A rule may match its own replacement again without changing it.
            if replaced != *text {
                fired.store(true, Ordering::Relaxed);
            }
            text = Cow::Owned(replaced);
        }
        text
    }
}

/// Returns the first match of a pattern that starts at or after an offset of a text.
type Find = fn(&str, usize) -> Option<Range<usize>>;

/// Applies those of the eight rules that act. `reminder` finds the reminders to remove.
fn version_1(text: &str, reminder: Find, eight: Eight) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    if eight == Eight::None {
        return text;
    }
    let (removed, paths) = marks_in(&text);
    if removed {
        pass(&mut text, "", reminder);
    }
    if removed && eight == Eight::All {
        pass(&mut text, "", empty_role_line);
        pass(&mut text, "", begin_user_input);
        pass(&mut text, "", end_user_input);
    }
    // The replacements of the next three passes contain no digit, dash or slash, so these passes cannot create a match for a
    // later one, and one look at the dashes is enough.
    let (uuids, dates) = dashes_in(text.as_bytes());
    if uuids {
        pass(&mut text, "<UUID>", uuid);
    }
    if dates {
        pass(&mut text, "<TS>", timestamp);
        pass(&mut text, "<DATE>", date);
    }
    if removed || paths {
        pass(&mut text, "<PATH>", path);
    }
    text
}

/// Whether a text is empty after Python's `strip()`.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_python_space)
}

/// Whether Python treats a character as white space: Unicode's white space, and the four separators U+001C to U+001F.
pub(super) fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Replaces each match of one pattern. `find` returns the first match that starts at or after an offset.
fn pass(text: &mut Cow<'_, str>, replacement: &str, find: Find) {
    let Cow::Owned(changed) = replaced(text, all(text, find).map(|found| (found, replacement))) else { return };
    *text = Cow::Owned(changed);
}

/// Returns all matches of a pattern, one after the other.
pub(super) fn all(text: &str, find: Find) -> impl Iterator<Item = Range<usize>> {
    let next = move |before: &Range<usize>| find(text, before.end);
    std::iter::successors(next(&(0..0)), next)
}

/// Returns a text with other texts in place of ranges of it, which come in order.
pub(crate) fn replaced(text: &str, found: impl Iterator<Item = (Range<usize>, impl AsRef<str>)>) -> Cow<'_, str> {
    let (mut out, mut done) = (String::new(), 0);
    for (range, by) in found {
        out.extend([&text[done..range.start], by.as_ref()]);
        done = range.end;
    }
    if done == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[done..]) }
}

/// Which passes may find something in a text, judged by the words that every match contains. One search covers all of these
/// passes, since most texts have no such word. Returns whether rules 1 to 4, which remove text, may match, and whether the rule
/// for paths may.
fn marks_in(text: &str) -> (bool, bool) {
    static MARKS: LazyLock<Regex> = LazyLock::new(|| {
        regex("<system-reminder>|\n(?:User|Assistant):|--- (?:BEGIN|END) USER INPUT ---|/tmp/|/var/folders/")
    });
    let (mut removed, mut paths) = (text.starts_with("User:") || text.starts_with("Assistant:"), false);
    for mark in MARKS.find_iter(text) {
        let path = mark.as_str().starts_with('/');
        paths |= path;
        removed |= !path;
        if removed {
            break;
        }
    }
    (removed, paths)
}

/// The tags around a reminder (KEY.md, section 1, rule 1).
pub(super) const OPEN: &str = "<system-reminder>";
pub(super) const CLOSE: &str = "</system-reminder>";

pub(super) fn reminder(text: &str, from: usize) -> Option<Range<usize>> {
    let start = from + memmem::find(&text.as_bytes()[from..], OPEN.as_bytes())?;
    let inside = start + OPEN.len();
    Some(start..inside + memmem::find(&text.as_bytes()[inside..], CLOSE.as_bytes())? + CLOSE.len())
}

/// Finds a reminder that contains no other opening tag (KEY.md, section 5).
fn innermost_reminder(text: &str, from: usize) -> Option<Range<usize>> {
    let Range { start, end } = reminder(text, from)?;
    Some(start + memmem::rfind(&text.as_bytes()[start..end], OPEN.as_bytes())?..end)
}

fn empty_role_line(text: &str, from: usize) -> Option<Range<usize>> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^(?:User|Assistant):[\s\x1c-\x1f]*$\n?"));
    // Such a line is the first one or follows a line feed. This search runs only at the beginning of a pass: repeated after
    // each match, the search for a word that is absent would make the pass quadratic.
    let begins = |word: &[u8]| text.as_bytes().starts_with(word);
    if from == 0 && !begins(b"User:") && !begins(b"Assistant:") {
        let follows = |word: &[u8]| memmem::find(text.as_bytes(), word).is_some();
        if memchr(b'\n', text.as_bytes()).is_none() || !(follows(b"\nUser:") || follows(b"\nAssistant:")) {
            return None;
        }
    }
    PATTERN.find_at(text, from).map(|found| found.range())
}

fn begin_user_input(text: &str, from: usize) -> Option<Range<usize>> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| regex("--- BEGIN USER INPUT ---\n?"));
    PATTERN.find_at(text, from).map(|found| found.range())
}

fn end_user_input(text: &str, from: usize) -> Option<Range<usize>> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| regex("\n?--- END USER INPUT ---"));
    PATTERN.find_at(text, from).map(|found| found.range())
}

/// Whether a text may have UUIDs or dates, judged by the bytes around its dashes. One search serves three passes.
fn dashes_in(bytes: &[u8]) -> (bool, bool) {
    let (mut uuids, mut dates) = (false, false);
    for at in memchr::memchr_iter(b'-', bytes) {
        // In a UUID, the next dash follows after four digits. In a date, the digits may be of another script than ASCII.
        uuids |= bytes.get(at + 5) == Some(&b'-');
        dates |= bytes.get(at + 1).is_some_and(|b| b.is_ascii_digit() || !b.is_ascii());
        if uuids && dates {
            break;
        }
    }
    (uuids, dates)
}

/// Finds a UUID by its first dash, which always follows eight digits. So the order of the dashes is the order of the matches.
pub(crate) fn uuid(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let hex = |range: Range<usize>| bytes.get(range).is_some_and(|part| part.iter().all(u8::is_ascii_hexdigit));
    let dash = |at: usize| bytes.get(at) == Some(&b'-');
    dashes(text, from, 8).find_map(|at| {
        let start = at - 8;
        let matches = hex(start..at)
            && hex(at + 1..at + 5)
            && dash(at + 5)
            && hex(at + 6..at + 10)
            && dash(at + 10)
            && hex(at + 11..at + 15)
            && dash(at + 15)
            && hex(at + 16..at + 28);
        matches.then_some(start..at + 28)
    })
}

/// Returns the UUIDs in a text.
pub(crate) fn uuids(text: &str) -> impl Iterator<Item = &str> {
    all(text, uuid).map(|found| &text[found])
}

/// Hashes of the UUIDs in a text, which tell whether two are the same.
pub fn id_hashes(text: &str) -> impl Iterator<Item = String> {
    uuids(text).map(|id| Hash::of(id.to_ascii_lowercase().as_bytes()).short())
}

const DAY: &str = r"^\d{4}-\d{2}-\d{2}";
/// What makes a day a point in time.
const CLOCK: &str = r"[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?";

fn timestamp(text: &str, from: usize) -> Option<Range<usize>> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| regex(&format!("{DAY}{CLOCK}")));
    date_like(&PATTERN, text, from)
}

fn date(text: &str, from: usize) -> Option<Range<usize>> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| regex(DAY));
    date_like(&PATTERN, text, from)
}

/// Returns a list of the days and points in time of a text, as they are written, without those of reminders.
pub fn dates(text: &str) -> Json {
    let mut text = Cow::Borrowed(text);
    pass(&mut text, "", reminder);
    Json::Array(dates_in(&text).map(|found| text[found].into()).collect())
}

/// Whether a normalized text names a date or a point in time.
pub fn names_date(text: &str) -> bool {
    ["<TS>", "<DATE>"].iter().any(|name| text.contains(name))
}

fn dates_in(text: &str) -> impl Iterator<Item = Range<usize>> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| regex(&format!("{DAY}(?:{CLOCK})?")));
    all(text, |text, from| date_like(&PATTERN, text, from))
}

/// Returns a text with what `other` returns in place of each of its days and points in time.
pub fn put_dates(text: &str, other: impl Fn(&str) -> Option<String>) -> Cow<'_, str> {
    replaced(text, dates_in(text).filter_map(|found| Some((found.clone(), other(&text[found])?))))
}

/// Finds the first match of an anchored pattern that begins with four digits and a dash.
fn date_like(pattern: &Regex, text: &str, from: usize) -> Option<Range<usize>> {
    dashes(text, from, 4).find_map(|at| {
        // The dash of a date is between two digits. This rules out most dashes in a text.
        let may_be_digit = |at: usize| text.as_bytes().get(at).is_some_and(|b| b.is_ascii_digit() || !b.is_ascii());
        if !may_be_digit(at - 1) || !may_be_digit(at + 1) {
            return None;
        }
        let mut year = text[from..at].char_indices().rev().take(4);
        let start = from + year.by_ref().take_while(|(_, c)| c.is_numeric()).nth(3)?.0;
        pattern.find(&text[start..]).map(|found| start..start + found.end())
    })
}

fn path(text: &str, from: usize) -> Option<Range<usize>> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| regex(r#"(?:/private)?/(?:var/folders|tmp)/[^\s\x1c-\x1f"']*"#));
    PATTERN.find_at(text, from).map(|found| found.range())
}

/// Returns the offsets of the dashes that are at least `before` bytes after `from`.
fn dashes(text: &str, from: usize, before: usize) -> impl Iterator<Item = usize> {
    let first = (from + before).min(text.len());
    memchr::memchr_iter(b'-', &text.as_bytes()[first..]).map(move |at| first + at)
}

#[expect(clippy::expect_used, reason = "the patterns are constants, and each is compiled in a test")]
pub(crate) fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

#[cfg(test)]
mod tests;
