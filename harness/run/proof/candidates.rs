//! Rules that may make two texts equal at one place, the most specific ones first.

use super::context::{Before, after, before, escaped};
use super::forms::{FORMS, SIGNED, id_pattern};
use super::rule::Rule;

/// A rule that may make two texts equal at the first place in which they differ.
pub(super) struct Candidate {
    /// What stands there, as reports name it: `a time of day`.
    pub(super) name: &'static str,
    /// The placeholder: `<TIME>`.
    pub(super) word: &'static str,
    pub(super) rule: Rule,
    /// The pattern without the text around the place.
    pub(super) alone: String,
    /// Where the place begins in both texts.
    pub(super) start: usize,
    /// Where the place ends in each text.
    pub(super) ends: (usize, usize),
}

/// Rules for the first place in which two texts differ. `at` is its byte offset in both.
pub(super) fn candidates(a: &str, b: &str, at: usize) -> Vec<Candidate> {
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
        let is_signed = form.regex.as_str().starts_with(SIGNED);
        let is_of_one_sign = is_signed && of_a.starts_with('-') == of_b.starts_with('-');
        // Plain digits are handled as ids below.
        let digits = |text: &str| text.bytes().all(|c| c.is_ascii_digit());
        let is_plain = form.word == "<NUMBER>" && digits(of_a) && digits(of_b);
        if of_a != of_b && !is_of_one_sign && !is_plain {
            all.extend(in_context(a, b, place, form.name, form.word, form.regex.as_str()));
        }
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

/// The word at a place that looks like an id, without the parts that both texts begin and end with.
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

/// Two rules for a place: one with the text around it, one without.
fn in_context(
    a: &str,
    b: &str,
    (start, ends): (usize, (usize, usize)),
    name: &'static str,
    word: &'static str,
    pattern: &str,
) -> Vec<Candidate> {
    let left = before(&a[..start]);
    let right = if matches!(&left, Before::Text(text) if text.contains(char::is_alphanumeric)) {
        String::new()
    } else {
        after(&a[ends.0..], &b[ends.1..])
    };
    let (front, front_word) = match &left {
        Before::Start => ("^".to_owned(), String::new()),
        Before::LineStart => ("(?m)^".to_owned(), String::new()),
        Before::Text(text) => (escaped(text), text.clone()),
    };
    // With text in front, `\b` is not needed, and after a letter it would never match.
    let inner = if front.is_empty() { pattern } else { pattern.trim_start_matches(r"\b") };
    let whole = matches!(left, Before::Start) && ends.0 == a.len() && ends.1 == b.len();
    let end = if whole { "$" } else { "" };
    let close = |text: &str| text.replace('$', "$$");
    // The known forms contain their own boundaries; ids do not.
    let is_id = pattern.starts_with("[0-9") || pattern.starts_with(r"\d");
    let alone = if is_id { format!(r"\b{pattern}\b") } else { pattern.to_owned() };
    let contextual = format!("{front}{inner}{}{end}", escaped(&right));
    let replace = format!("{}{word}{}", close(&front_word), close(&right));
    // A rule must not contain parts of a path of this machine.
    let of_machine = word == "<WORKDIR>";
    let contextual = (!of_machine).then(|| Rule::new(&contextual, replace)).flatten();
    let rules = contextual.into_iter().chain(Rule::alone(&alone, word));
    rules.map(|rule| Candidate { name, word, rule, alone: alone.clone(), start, ends }).collect()
}

/// The line of a text around a byte.
pub(super) fn line_at(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |i| i + 1);
    let end = text[at..].find('\n').map_or(text.len(), |i| at + i);
    &text[start..end]
}
