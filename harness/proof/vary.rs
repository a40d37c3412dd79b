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
        let pattern = if literal { format!("'{pattern}'") } else { quoted(pattern) };
        format!("[[normalize]]\npattern = {pattern}\nreplace = {}", quoted(&self.replace))
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
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
mod tests {
    use super::*;

    /// The rules that make two texts equal, and whether they do.
    fn mended(a: &str, b: &str) -> (Vec<(String, String)>, bool) {
        let found = compare(a, b, true, &|_| true);
        let rules: Vec<&Rule> =
            found.iter().filter_map(|v| if let Mend::Rule(rule) = &v.mend { Some(rule) } else { None }).collect();
        let apply = |text: &str| rules.iter().fold(text.to_owned(), |text, rule| rule.apply(&text));
        let equal = apply(a) == apply(b);
        (rules.iter().map(|rule| (rule.regex.as_str().to_owned(), rule.replace.clone())).collect(), equal)
    }

    /// Two runs and a third one, which nobody looked at when the rules were made.
    #[test]
    fn rules_of_two_runs_hold_in_a_third() {
        let runs = [
            ["at 12:03:44 done", "at 12:03:51 done", "at 09:59:02 done"],
            ["12:03:44", "12:03:45", "1:00:09"],
            [
                "12:03:44 INFO a\n12:03:44 INFO b",
                "12:03:51 INFO a\n12:03:52 INFO b",
                "09:00:00 INFO a\n09:00:01 INFO b",
            ],
            ["took 0.0033s.", "took 0.0121s.", "took 1.2s."],
            ["took 999µs", "took 1.2ms", "took 3s"],
            ["Wall time: 0.1313 seconds", "Wall time: 0.2 seconds", "Wall time: 11 seconds"],
            ["1763720000", "1763720003", "1800000000"],
            [
                r#"{"created": 1763720000.123, "n": 1}"#,
                r#"{"created": 1763720003.5, "n": 1}"#,
                r#"{"created": 1800000000.1, "n": 1}"#,
            ],
            [
                r#"{"m": "{\"ts\": 1763720000123}"}"#,
                r#"{"m": "{\"ts\": 1763720009456}"}"#,
                r#"{"m": "{\"ts\": 1800000000000}"}"#,
            ],
            ["ns 1763720000123456789", "ns 1763720009923456789", "ns 1800000000000000000"],
            ["Sat, 21 Nov 2026 10:00:00 GMT", "Sat, 21 Nov 2026 10:00:02 GMT", "Mon, 01 Feb 2027 23:59:59 GMT"],
            ["Sat Nov 21 10:00:00 2026", "Sat Nov 21 10:00:02 2026", "Mon Feb  1 23:59:59 2027"],
            ["November 21, 2026 at 10:00:00 AM", "November 21, 2026 at 10:00:09 AM", "May 1, 2027 at 1:07:09 PM"],
            ["le 21 novembre 2026 à 10:03:04", "le 21 novembre 2026 à 10:03:09", "le 1 mai 2027 à 09:00:00"],
            ["21.11.2026 10:03:04", "21.11.2026 10:03:09", "01.05.2027 23:00:00"],
            ["11/21/2026, 10:03:04 AM", "11/21/2026, 10:03:09 AM", "5/1/2027, 1:03:09 PM"],
            ["2026年11月21日 10時03分04秒", "2026年11月21日 10時03分09秒", "2027年1月2日 1時13分59秒"],
            ["<DATE>T10:03", "<DATE>T10:04", "<DATE>T23:59"],
            ["<TS>,123 started", "<TS>,456 started", "<TS>,7 started"],
            ["20261121T100304Z", "20261121T100309Z", "20270203T235959Z"],
            ["backup-20261121_100304.tar", "backup-20261121_100309.tar", "backup-20270203_235959.tar"],
            ["opened T-8f3a2b1c", "opened T-1b2c3d4e", "opened T-00000000"],
            ["ticket 8f3a2b1c is open", "ticket 1b2c3d4e is open", "ticket deadbeef is open"],
            ["8f3a2b1c", "1b2c3d4e", "0000ffff"],
            ["order-12345", "order-99", "order-1"],
            ["order12345", "order99123", "order1"],
            [
                "id=f0494dc01392e4527ea2fb2b42eb80dc;",
                "id=a0494dc01392e4527ea2fb2b42eb80d1;",
                "id=00000000000000000000000000000000;",
            ],
            ["key V1StGXR8_Z5jdHi6B-myT ok", "key Uakgb_J5m9g-0JDMbcJqL ok", "key aaaaaaaaaaaaaaaaaaaa- ok"],
            ["req_8f3a2b1c4d", "req_1b2c3d4e5f", "req_ffffffffff"],
            ["id 8f3a-1b2c", "id 9d4e-7f60", "id 1234-5678"],
            ["token aGk+1/2aGk1b2aG=", "token bHl+3/4aGk+b2aG=", "token AAAAAAAAAAAAAA+="],
            ["listening on 127.0.0.1:43111", "listening on 127.0.0.1:39002", "listening on 127.0.0.1:1024"],
            ["http://localhost:43111/v1", "http://localhost:39002/v1", "http://localhost:5000/v1"],
            ["port 43111", "port 39002", "port 80"],
            ["/run/app-1234.sock", "/run/app-99.sock", "/run/app-7.sock"],
            ["pid 1234 (python)", "pid 1301 (python)", "pid 7 (python)"],
            ["used 12.3MB of 64MB", "used 12.7MB of 64MB", "used 9.15MB of 64MB"],
            ["<Tool object at 0x7f8a1c2b3d40>", "<Tool object at 0x7fe0a1b2c3d0>", "<Tool object at 0x7f0000000000>"],
            ["host web-7d4b9c6f5-x2x8z up", "host web-6f5c8b7d9-q8k2p up", "host web-aaaaaaaaa-11111 up"],
            ["n=-0.7364829", "n=0.12", "n=-3"],
            ["9 files", "10 files", "123 files"],
            [
                "/home/ann/t/retake-0123456789ab/work/a.txt",
                "/home/ann/t/retake-ba9876543210/work/a.txt",
                "/srv/retake-aaaaaaaaaaaa/work/a.txt",
            ],
            [
                "/x/retake-0123456789ab/a1B2c3/work",
                "/x/retake-ba9876543210/Zz9Yy8/work",
                "/y/retake-aaaaaaaaaaaa/000000/work",
            ],
            ["it's 12:03:44", "it's 12:03:45", "it's 00:00:00"],
            ["load 0.52, 1.20", "load 0.61, 1.20", "load 10.0, 1.20"],
            ["a 8f3a2b1c, b 12:03:44, c 17", "a 1b2c3d4e, b 12:03:45, c 18", "a 00000000, b 00:00:00, c 2"],
        ];
        for [a, b, third] in runs {
            let (rules, equal) = mended(a, b);
            assert!(equal, "{a:?} and {b:?} stay different: {rules:?}");
            let compiled: Vec<Rule> = rules.iter().map(|(p, r)| Rule::new(p, r.clone()).unwrap()).collect();
            let apply = |text: &str| compiled.iter().fold(text.to_owned(), |text, rule| rule.apply(&text));
            assert_eq!(apply(a), apply(third), "{rules:?}");
            assert!(rules.iter().all(|(pattern, _)| !pattern.contains("ann")), "a path of this machine: {rules:?}");
        }
    }

    #[test]
    fn a_rule_keeps_the_text_around_it() {
        let rule = |a, b| mended(a, b).0.remove(0);
        let as_text = |(pattern, replace): (String, String)| format!("{pattern} → {replace}");
        assert_eq!(as_text(rule("ticket 8f3a2b1c.", "ticket 1b2c3d4e.")), "ticket [0-9a-f]{8} → ticket <ID>");
        assert_eq!(as_text(rule("opened T-8f3a", "opened T-1b2c")), "opened T-[0-9a-f]{4} → opened T-<ID>");
        assert_eq!(as_text(rule("order-12345", "order-99")), r"order-\d+ → order-<NUMBER>");
        assert_eq!(as_text(rule("8f3a2b1c", "1b2c3d4e")), "^[0-9a-f]{8}$ → <ID>");
        assert_eq!(as_text(rule("costs $ 12", "costs $ 13")), r"costs \$ \d+ → costs $$ <NUMBER>");
    }

    #[test]
    fn what_no_rule_can_mend_is_told_apart() {
        let causes = |a, b| compare(a, b, true, &|_| true).iter().map(|v| v.cause.clone()).collect::<Vec<_>>();
        assert_eq!(causes("{'b', 'a'}", "{'a', 'b'}"), ["the same items in another order"]);
        assert_eq!(causes("all well", "all lost"), ["other text"]);
        assert_eq!(
            causes("{'b', 'a'} 12:03:44", "{'a', 'b'} 12:03:45"),
            ["the same items in another order", "a time of day"]
        );
        assert!(!mended("status: success", "status: failure").1);
    }

    #[test]
    fn many_places_of_one_form_get_one_rule() {
        let text = |n: u32| {
            let lines = ["a", "bcd", "efg", "hij", "klm", "nop"].map(|word| format!("{word} {n:02}:00:{n:02}"));
            lines.join("\n")
        };
        let (rules, equal) = mended(&text(1), &text(2));
        assert!(equal);
        let mut patterns: Vec<_> = rules.into_iter().map(|(pattern, _)| pattern).collect();
        patterns.dedup();
        assert_eq!(patterns.len(), 1, "{patterns:?}");
    }

    #[test]
    fn a_rule_is_printed_as_toml_reads_it() {
        for pattern in ["it's \\d+", "\"\\d\"", "a\tb\\d", "x\\\\\\d"] {
            let rule = Rule::new(pattern, "$1\"\\".to_owned()).unwrap();
            let table: toml::Table = rule.toml().parse().unwrap();
            let read = &table["normalize"][0];
            assert_eq!((read["pattern"].as_str(), read["replace"].as_str()), (Some(pattern), Some("$1\"\\")));
        }
    }
}
