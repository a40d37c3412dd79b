//! Text normalization (KEY.md, section 1): eight passes, each over the text that the one before left.
//!
//! The passes cannot be merged: `/tmp/2026-11-21 10:00:00` is one `<PATH>` only because the date became `<TS>` first,
//! and a removed reminder can join two halves of a date. Each pass instead looks for a byte that its pattern cannot do
//! without, and touches nothing else; the tests compare them with the patterns as they are written in KEY.md.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};

use memchr::{memchr, memmem};
use regex::Regex;

use crate::json::{Json, Layout};

/// Replaces what differs from run to run by fixed words: version 1's eight rules and the suite's own. The suite's act on texts,
/// one by one, and never on the JSON around them.
#[derive(Clone, Debug, Default)]
pub struct Normalizer {
    rules: Vec<OwnRule>,
    /// Whether rules 2 to 4 are left out: they came later than the first fixtures.
    first: bool,
}

/// A rule of the suite.
#[derive(Clone, Debug)]
struct OwnRule {
    pattern: Regex,
    replacement: String,
    /// Whether it ever changed a text; the clones of a rule know it of each other.
    fired: Arc<AtomicBool>,
}

impl Normalizer {
    /// The rules by which the first fixtures of deer-flow were keyed: version 1's without 2 to 4.
    pub(super) fn of_first_fixtures() -> Normalizer {
        Normalizer { rules: Vec::new(), first: true }
    }

    /// Version 1's rules, then more: a pattern and its replacement, in which `$1` and `${name}` are groups.
    #[must_use]
    pub fn with(mut self, rules: impl IntoIterator<Item = (Regex, String)>) -> Normalizer {
        let rule = |(pattern, replacement)| OwnRule { pattern, replacement, fired: Arc::default() };
        self.rules.extend(rules.into_iter().map(rule));
        self
    }

    /// The same without one of the suite's rules.
    #[must_use]
    pub(crate) fn without(&self, rule: usize) -> Normalizer {
        let mut others = self.clone();
        others.rules.remove(rule);
        others
    }

    /// How many rules the suite has.
    #[must_use]
    pub(crate) fn own_rules(&self) -> usize {
        self.rules.len()
    }

    /// Whether one of the suite's rules ever changed a text of this process.
    #[must_use]
    pub(crate) fn has_fired(&self, rule: usize) -> bool {
        self.rules.get(rule).is_some_and(|rule| rule.fired.load(Ordering::Relaxed))
    }

    /// A text as version 1's rules leave it, and then the suite's; borrowed where nothing was replaced.
    #[must_use]
    pub fn apply<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = version_1(text, reminder, self.first);
        self.replace_own(&mut text);
        text
    }

    /// The same of a text that is given away: the same one where nothing was replaced.
    #[must_use]
    pub fn apply_to(&self, text: String) -> String {
        let replaced = match self.apply(&text) {
            Cow::Borrowed(_) => None,
            Cow::Owned(replaced) => Some(replaced),
        };
        replaced.unwrap_or(text)
    }

    /// A text as version 1's rules leave it, without the suite's: what is printed around texts is version 1's alone.
    #[must_use]
    pub fn version_1<'a>(&self, text: &'a str) -> Cow<'a, str> {
        version_1(text, reminder, self.first)
    }

    /// A text of a check: version 1's rules, but that of reminders only innermost pairs are removed (a prompt that mentions
    /// the tag stays whole). The suite's rules are not applied.
    pub(super) fn of_check<'a>(&self, text: &'a str) -> Cow<'a, str> {
        version_1(text, innermost_reminder, self.first)
    }

    /// Whether the suite has rules.
    #[must_use]
    pub fn has_own(&self) -> bool {
        !self.rules.is_empty()
    }

    /// A text as the suite's rules alone leave it.
    #[must_use]
    pub fn own<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut text = Cow::Borrowed(text);
        self.replace_own(&mut text);
        text
    }

    /// Applies the suite's rules to each string of a value, and to its numbers where `numbers` says so; keys are left alone.
    /// A number that a rule replaces becomes a string.
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
            Json::Object(fields) => fields.values_mut().for_each(|field| self.own_in(field, numbers)),
            Json::Int(_) | Json::BigInt(_) | Json::Float(_) if numbers => {
                if let Cow::Owned(replaced) = self.own(&value.print(Layout::Python)) {
                    *value = Json::Str(replaced);
                }
            }
            _ => {}
        }
    }

    fn replace_own(&self, text: &mut Cow<'_, str>) {
        for OwnRule { pattern, replacement, fired } in &self.rules {
            if let Cow::Owned(replaced) = pattern.replace_all(text, replacement) {
                // What it has written itself may fit it again.
                if replaced != **text {
                    fired.store(true, Ordering::Relaxed);
                }
                *text = Cow::Owned(replaced);
            }
        }
    }
}

/// Finds the first match of a pattern that starts at an offset of a text or later.
type Find = fn(&str, usize) -> Option<Range<usize>>;

/// The eight rules, with one of two ways to find reminders; without rules 2 to 4 where they are the first ones.
fn version_1(text: &str, reminder: Find, first: bool) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    let Marks { removed, paths } = Marks::in_text(&text);
    if removed {
        pass(&mut text, "", reminder);
    }
    if removed && !first {
        pass(&mut text, "", empty_role_line);
        pass(&mut text, "", begin_user_input);
        pass(&mut text, "", end_user_input);
    }
    // What one of the next three passes writes has no digit, no dash and no slash, so what is not there now does not
    // come.
    let Dashes { uuids, dates } = Dashes::in_text(text.as_bytes());
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

/// Whether nothing is left of a text after Python's `strip()`.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_python_space)
}

/// Python's white space: Unicode's, and the four separators U+001C to U+001F.
pub(super) fn is_python_space(c: char) -> bool {
    c.is_whitespace() || ('\u{1c}'..='\u{1f}').contains(&c)
}

/// Replaces each match of one pattern. `find` gives the first match that starts at an offset or later.
fn pass(text: &mut Cow<'_, str>, replacement: &str, find: impl Fn(&str, usize) -> Option<Range<usize>>) {
    let Some(mut found) = find(text, 0) else { return };
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    loop {
        out.push_str(&text[at..found.start]);
        out.push_str(replacement);
        at = found.end;
        match find(text, at) {
            Some(next) => found = next,
            None => break,
        }
    }
    out.push_str(&text[at..]);
    *text = Cow::Owned(out);
}

/// Whether a text has what the passes that remove something cannot do without, and what paths cannot: one search for all,
/// since most texts have neither.
struct Marks {
    removed: bool,
    paths: bool,
}

impl Marks {
    fn in_text(text: &str) -> Marks {
        static MARKS: LazyLock<Regex> = LazyLock::new(|| {
            regex("<system-reminder>|\n(?:User|Assistant):|--- (?:BEGIN|END) USER INPUT ---|/tmp/|/var/folders/")
        });
        let mut found = Marks { removed: text.starts_with("User:") || text.starts_with("Assistant:"), paths: false };
        for mark in MARKS.find_iter(text) {
            let path = mark.as_str().starts_with('/');
            found.paths |= path;
            found.removed |= !path;
            if found.removed {
                break;
            }
        }
        found
    }
}

/// The tags around a reminder (KEY.md, section 1, rule 1).
pub(super) const OPEN: &str = "<system-reminder>";
const CLOSE: &str = "</system-reminder>";

pub(super) fn reminder(text: &str, from: usize) -> Option<Range<usize>> {
    let start = from + memmem::find(&text.as_bytes()[from..], OPEN.as_bytes())?;
    let inside = start + OPEN.len();
    let length = memmem::find(&text.as_bytes()[inside..], CLOSE.as_bytes())?;
    Some(start..inside + length + CLOSE.len())
}

/// A reminder in which no other one begins (KEY.md, section 5).
fn innermost_reminder(text: &str, from: usize) -> Option<Range<usize>> {
    let Range { start, end } = reminder(text, from)?;
    Some(start + memmem::rfind(&text.as_bytes()[start..end], OPEN.as_bytes())?..end)
}

fn empty_role_line(text: &str, from: usize) -> Option<Range<usize>> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| regex(r"(?m)^(?:User|Assistant):[\s\x1c-\x1f]*$\n?"));
    // Such a line is the first one or follows a line feed. Looked for once a pass: looked for again after each match,
    // one that is absent would make the pass quadratic.
    let begins = |word: &[u8]| text.as_bytes().starts_with(word);
    if from == 0 && !begins(b"User:") && !begins(b"Assistant:") {
        let follows = |word: &[u8]| memmem::find(text.as_bytes(), word).is_some();
        if memchr(b'\n', text.as_bytes()).is_none() || !(follows(b"\nUser:") || follows(b"\nAssistant:")) {
            return None;
        }
    }
    find_at(&PATTERN, text, from)
}

fn begin_user_input(text: &str, from: usize) -> Option<Range<usize>> {
    const MARK: &str = "--- BEGIN USER INPUT ---";
    let start = from + memmem::find(&text.as_bytes()[from..], MARK.as_bytes())?;
    let end = start + MARK.len();
    Some(start..end + usize::from(text.as_bytes().get(end) == Some(&b'\n')))
}

fn end_user_input(text: &str, from: usize) -> Option<Range<usize>> {
    const MARK: &str = "--- END USER INPUT ---";
    let start = from + memmem::find(&text.as_bytes()[from..], MARK.as_bytes())?;
    let newline = start > from && text.as_bytes()[start - 1] == b'\n';
    Some(start - usize::from(newline)..start + MARK.len())
}

/// Whether a text may have UUIDs and dates: what stands around its dashes, seen once for three passes.
struct Dashes {
    uuids: bool,
    dates: bool,
}

impl Dashes {
    fn in_text(bytes: &[u8]) -> Dashes {
        let mut found = Dashes { uuids: false, dates: false };
        for at in memchr::memchr_iter(b'-', bytes) {
            // A second dash follows after four more characters in a UUID; digits of other scripts are not ASCII.
            found.uuids |= bytes.get(at + 5) == Some(&b'-');
            found.dates |= bytes.get(at + 1).is_some_and(|b| b.is_ascii_digit() || !b.is_ascii());
            if found.uuids && found.dates {
                break;
            }
        }
        found
    }
}

/// A UUID's first dash stands eight digits behind its start, so the dashes in order give the matches in order.
fn uuid(text: &str, from: usize) -> Option<Range<usize>> {
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

fn timestamp(text: &str, from: usize) -> Option<Range<usize>> {
    static PATTERN: LazyLock<Regex> =
        LazyLock::new(|| regex(r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?"));
    date_like(&PATTERN, text, from)
}

fn date(text: &str, from: usize) -> Option<Range<usize>> {
    static PATTERN: LazyLock<Regex> = LazyLock::new(|| regex(r"^\d{4}-\d{2}-\d{2}"));
    date_like(&PATTERN, text, from)
}

/// The first match of an anchored pattern that begins with four digits and a dash.
fn date_like(pattern: &Regex, text: &str, from: usize) -> Option<Range<usize>> {
    dashes(text, from, 4).find_map(|at| {
        // Digits stand before and behind it: most dashes in text end here.
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
    find_at(&PATTERN, text, from)
}

/// The offsets of dashes that have at least `before` bytes between them and `from`.
fn dashes(text: &str, from: usize, before: usize) -> impl Iterator<Item = usize> {
    let first = (from + before).min(text.len());
    memchr::memchr_iter(b'-', &text.as_bytes()[first..]).map(move |at| first + at)
}

fn find_at(pattern: &Regex, text: &str, from: usize) -> Option<Range<usize>> {
    pattern.find_at(text, from).map(|found| found.range())
}

#[expect(clippy::expect_used, reason = "the patterns are constants, and each is compiled in a test")]
fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

#[cfg(test)]
mod tests;
