//! What varies between two texts that should be one, and the rule that would make them equal. Pure.

use std::fmt::Write as _;

use regex::Regex;

use super::forms::{FORMS, SIGNED, id_pattern};
use super::order::permuted;

/// The most places of one text that are looked at.
const PLACES: usize = 64;
/// The most letters of a word that stands beside what varies.
const WORD: usize = 24;
/// A shorter word says little.
const TELLING: usize = 3;
/// From so many rules of one form on, one rule without their contexts does.
const MANY: usize = 4;

/// A `[[normalize]]` rule.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    pub(crate) regex: Regex,
    pub(crate) replace: String,
}

/// One place in which two texts differ.
#[derive(Clone, Debug)]
pub(crate) struct Variation {
    /// What it looks like: `a time of day`.
    pub(crate) cause: String,
    /// What stood there in the first text, and in the second.
    pub(crate) values: (String, String),
    /// What would make the two equal there; none for another order, and for free text.
    pub(crate) mend: Mend,
}

/// Whether a rule can mend a place.
#[derive(Clone, Debug)]
pub(crate) enum Mend {
    /// A rule of this form, in its context.
    Rule(Rule),
    /// The same items in another order.
    Order,
    /// Nothing is known that would.
    None,
}

impl Rule {
    /// A rule of a pattern; none where it is no pattern, or fits the empty text.
    fn new(pattern: &str, replace: String) -> Option<Rule> {
        let regex = Regex::new(pattern).ok()?;
        (!regex.is_match("")).then_some(Rule { regex, replace })
    }

    /// A text with the rule applied.
    pub(crate) fn apply(&self, text: &str) -> String {
        self.regex.replace_all(text, &self.replace).into_owned()
    }

    /// The rule as it stands in `suite.toml`.
    pub(crate) fn toml(&self) -> String {
        let pattern = self.regex.as_str();
        let literal = !pattern.contains('\'') && !pattern.contains(char::is_control);
        let pattern = if literal { format!("'{pattern}'") } else { toml_basic_string(pattern) };
        format!("[[normalize]]\npattern = {pattern}\nreplace = {}", toml_basic_string(&self.replace))
    }
}

/// A basic string of TOML.
fn toml_basic_string(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => drop(write!(out, "\\u{:04X}", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\""
}

/// The places in which two texts differ, from the front. Rules have the text around the place, where `in_context`; `fits`
/// says whether a rule may be proposed at all.
pub(crate) fn compare(a: &str, b: &str, in_context: bool, fits: &dyn Fn(&Rule) -> bool) -> Vec<Variation> {
    let (mut a, mut b) = (a.to_owned(), b.to_owned());
    let mut found: Vec<Variation> = Vec::new();
    let mut forms: Vec<(String, &'static str)> = Vec::new();
    while a != b && found.len() < PLACES {
        let at = common(&a, &b);
        if let Some((of_a, of_b)) = permuted(&a, &b, at) {
            let values = (a[of_a.clone()].to_owned(), b[of_b.clone()].to_owned());
            let cause = "the same items in another order".to_owned();
            found.push(Variation { cause, values, mend: Mend::Order });
            a.replace_range(of_a, &b[of_b]);
            continue;
        }
        let mends = |candidate: &Candidate| {
            let left = |text: &str, end: usize| text.len() - end;
            let (new_a, new_b) = (candidate.rule.apply(&a), candidate.rule.apply(&b));
            let at = common(&new_a, &new_b);
            let moved =
                new_a.len() - at <= left(&a, candidate.ends.0) && new_b.len() - at <= left(&b, candidate.ends.1);
            moved && (in_context || candidate.is_alone) && fits(&candidate.rule)
        };
        let Some(candidate) = candidates(&a, &b, at).into_iter().find(mends) else {
            let values = (line_at(&a, at).to_owned(), line_at(&b, at).to_owned());
            found.push(Variation { cause: "other text".to_owned(), values, mend: Mend::None });
            break;
        };
        let values = (a[candidate.start..candidate.ends.0].to_owned(), b[candidate.start..candidate.ends.1].to_owned());
        (a, b) = (candidate.rule.apply(&a), candidate.rule.apply(&b));
        forms.push((candidate.alone, candidate.word));
        found.push(Variation { cause: candidate.name.to_owned(), values, mend: Mend::Rule(candidate.rule) });
    }
    without_many(&mut found, &forms, fits);
    found
}

/// Of many rules of one form in many contexts, one without a context is easier to keep.
fn without_many(found: &mut [Variation], forms: &[(String, &'static str)], fits: &dyn Fn(&Rule) -> bool) {
    let ruled: Vec<usize> = (0..found.len()).filter(|i| matches!(found[*i].mend, Mend::Rule(_))).collect();
    for (pattern, word) in forms {
        let same: Vec<usize> =
            ruled.iter().zip(forms).filter(|(_, (other, _))| other == pattern).map(|(i, _)| *i).collect();
        let Some(rule) = Rule::new(pattern, (*word).to_owned()).filter(|rule| same.len() >= MANY && fits(rule)) else {
            continue;
        };
        for i in same {
            found[i].mend = Mend::Rule(rule.clone());
        }
    }
}

/// A rule that may mend the first place in which two texts differ.
struct Candidate {
    name: &'static str,
    word: &'static str,
    rule: Rule,
    /// The pattern without the text around it.
    alone: String,
    is_alone: bool,
    start: usize,
    ends: (usize, usize),
}

fn candidates(a: &str, b: &str, at: usize) -> Vec<Candidate> {
    let mut all = Vec::new();
    for form in FORMS.iter() {
        let line = a[..at].rfind('\n').map_or(0, |i| i + 1);
        let on_line =
            |text: &str| form.regex.find_iter(line_at(text, at)).find(|m| line + m.end() >= at).map(|m| m.range());
        let (Some(of_a), Some(of_b)) = (on_line(a), on_line(b)) else { continue };
        if line + of_a.start > at || of_a.start != of_b.start {
            continue;
        }
        let place = (line + of_a.start, (line + of_a.end, line + of_b.end));
        let (of_a, of_b) = (&a[place.0..place.1.0], &b[place.0..place.1.1]);
        if of_a == of_b {
            continue;
        }
        if form.pattern.starts_with(SIGNED) && of_a.starts_with('-') == of_b.starts_with('-') {
            continue;
        }
        // Digits alone are looked at as ids are.
        let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        if form.word == "<NUMBER>" && digits(of_a) && digits(of_b) {
            continue;
        }
        all.extend(in_context(a, b, place, form.name, form.word, &form.pattern));
    }
    for letters in ["_-", "+/=_-"] {
        if let Some((start, ends)) = id_at(a, b, at, letters)
            && let Some(pattern) = id_pattern(&a[start..ends.0], &b[start..ends.1])
        {
            let (name, word) = if pattern == r"\d+" { ("a number", "<NUMBER>") } else { ("a random id", "<ID>") };
            all.extend(in_context(a, b, (start, ends), name, word, &pattern));
        }
    }
    all
}

/// What stands at a place and looks like one word, without what both begin and end with.
fn id_at(a: &str, b: &str, at: usize, letters: &str) -> Option<(usize, (usize, usize))> {
    let part = |c: char| c.is_ascii_alphanumeric() || letters.contains(c);
    let start = a[..at].char_indices().rev().take_while(|(_, c)| part(*c)).last().map_or(at, |(i, _)| i);
    let end = |text: &str| at + text[at..].find(|c| !part(c)).unwrap_or(text.len() - at);
    let (word_a, word_b) = (&a[start..end(a)], &b[start..end(b)]);
    let separator = |c: char| letters.contains(c);
    let digits = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    let mut front = word_a[..at - start].rfind(separator).map_or(0, |i| i + 1);
    if digits(&word_a[..front]) {
        front = 0;
    }
    // `order12345`: a name and a number.
    let name = word_a[front..].find(|c: char| c.is_ascii_digit()).unwrap_or(0);
    let only_digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    if name > 1
        && front + name <= at - start
        && only_digits(&word_a[front + name..])
        && only_digits(&word_b[front + name..])
    {
        front += name;
    }
    let (rest_a, rest_b) = (&word_a[front..], &word_b[front..]);
    let back: usize = rest_a.bytes().rev().zip(rest_b.bytes().rev()).take_while(|(a, b)| a == b).count();
    let tail = &rest_a[rest_a.len() - back..];
    let back = tail.find(separator).map_or(0, |i| tail.len() - i);
    let back = if digits(&rest_a[rest_a.len() - back..]) { 0 } else { back };
    let (end_a, end_b) = (start + word_a.len() - back, start + word_b.len() - back);
    (end_a > start + front && end_b > start + front).then_some((start + front, (end_a, end_b)))
}

/// The rule with the text around the place, then without.
fn in_context(
    a: &str,
    b: &str,
    (start, ends): (usize, (usize, usize)),
    name: &'static str,
    word: &'static str,
    pattern: &str,
) -> Vec<Candidate> {
    let left = before(&a[..start]);
    let right = if matches!(&left, Left::Text(text) if text.contains(char::is_alphanumeric)) {
        String::new()
    } else {
        after(&a[ends.0..], &b[ends.1..])
    };
    let (front, front_word) = match &left {
        Left::Start => ("^".to_owned(), String::new()),
        Left::LineStart => ("(?m)^".to_owned(), String::new()),
        Left::Text(text) => (escaped(text), text.clone()),
    };
    // What stands in front is a boundary enough, and a letter would be none.
    let inner = if front.is_empty() { pattern } else { pattern.trim_start_matches(r"\b") };
    let whole = matches!(left, Left::Start) && ends.0 == a.len() && ends.1 == b.len();
    let end = if whole { "$" } else { "" };
    let close = |text: &str| text.replace('$', "$$");
    // A form has its own boundaries.
    let is_id = pattern.starts_with("[0-9") || pattern.starts_with(r"\d");
    let alone = if is_id { format!(r"\b{pattern}\b") } else { pattern.to_owned() };
    let contextual = format!("{front}{inner}{}{end}", escaped(&right));
    let replace = format!("{}{word}{}", close(&front_word), close(&right));
    // A path is the machine's own: no part of it may stand in a rule.
    let of_machine = word == "<WORKDIR>";
    let rules = [(!of_machine).then(|| Rule::new(&contextual, replace)), Some(Rule::new(&alone, word.to_owned()))];
    rules
        .into_iter()
        .zip([false, true])
        .filter_map(|(rule, is_alone)| Some((rule??, is_alone)))
        .map(|(rule, is_alone)| Candidate { name, word, rule, alone: alone.clone(), is_alone, start, ends })
        .collect()
}

/// What stands in front of a place, on its line.
enum Left {
    /// Nothing at all.
    Start,
    /// A line feed.
    LineStart,
    /// A word, or what there is.
    Text(String),
}

fn before(text: &str) -> Left {
    let line = text.rfind('\n').map_or(0, |i| i + 1);
    let line_text = &text[line..];
    if line_text.is_empty() {
        return if text.is_empty() { Left::Start } else { Left::LineStart };
    }
    let mut start = line_text.len();
    let mut letters = 0;
    // A word of one letter says little: one more then.
    for _ in 0..2 {
        let rest = &line_text[..start];
        let separators: usize = rest.chars().rev().take(8).take_while(|c| !is_letter(*c)).map(char::len_utf8).sum();
        let word: Vec<char> =
            rest[..start - separators].chars().rev().take(WORD).take_while(|c| is_letter(*c)).collect();
        if word.iter().any(char::is_ascii_digit) {
            // It may vary as well, in another run.
            if letters == 0 {
                start -= separators;
            }
            break;
        }
        start -= separators + word.iter().map(|c| c.len_utf8()).sum::<usize>();
        letters += word.len();
        if letters >= TELLING || word.is_empty() {
            break;
        }
    }
    Left::Text(line_text[start..].to_owned())
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What follows a place in both texts: separators and a word.
fn after(a: &str, b: &str) -> String {
    let same: usize =
        a.chars().zip(b.chars()).take_while(|(a, b)| a == b && *a != '\n').map(|(c, _)| c.len_utf8()).sum();
    let text = &a[..same];
    let separators = text.find(is_letter).unwrap_or(text.len());
    let word: String = text[separators..].chars().take(WORD).take_while(|c| is_letter(*c)).collect();
    let whole =
        a[separators.min(a.len())..].len() == word.len() || !a[separators + word.len()..].starts_with(is_letter);
    let whole = whole && (separators + word.len() < same || a.len() == b.len());
    if word.is_empty() || !whole || separators > 4 || word.contains(|c: char| c.is_ascii_digit()) {
        return String::new();
    }
    format!("{}{word}", &text[..separators])
}

/// A text as a pattern: only what would mean something else is escaped.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if r"\.+*?()|[]{}^$".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// How many bytes two texts share at the front; always whole characters.
fn common(a: &str, b: &str) -> usize {
    a.chars().zip(b.chars()).take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum()
}

fn line_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
    &text[start..end]
}

#[cfg(test)]
mod tests;
