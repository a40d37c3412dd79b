//! Known forms of text that varies from run to run: times, dates, durations, addresses, numbers, and ids, which are recognized by
//! their letters.

use std::sync::LazyLock;

use regex::Regex;

/// A form with a pattern of its own.
pub(super) struct KnownForm {
    /// Its name in reports: `a time of day`.
    pub(super) name: &'static str,
    /// The placeholder that replaces it: `<TIME>`.
    pub(super) word: &'static str,
    /// What finds it within a text.
    pub(super) regex: Regex,
}

/// The beginning of the pattern for signed numbers. It is tried only if just one of two numbers has a sign, since the dash in
/// `order-1` is not a sign.
pub(super) const SIGNED: &str = "-?";

/// The known forms, the most specific ones first.
pub(super) static FORMS: LazyLock<Vec<KnownForm>> = LazyLock::new(|| {
    const MONTH: &str = "(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*";
    const DAY: &str = "(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*";
    const CLOCK: &str = r"\d{1,2}:\d{2}(?::\d{2})?(?:\s?[AaPp]\.?[Mm]\b\.?)?";
    const SLASHED: &str = r"\b(?:\d{4}[/.]\d{1,2}[/.]\d{1,2}|\d{1,2}[/.]\d{1,2}[/.]\d{2,4})";
    const CHINESE: &str = r"\b\d{4}年\d{1,2}月\d{1,2}日(?:\s?\d{1,2}[時时点:]\s?\d{1,2}[分:]?(?:\s?\d{1,2}秒?)?)?";
    const ADDRESS: &str = r"(?:\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3}|[a-z][a-z0-9.-]*)|\[::1?\]):\d{4,5}\b";
    const SPELLED: &str = r"\b\d+(?:\.\d+)? (?:(?:milli|micro|nano)?sec(?:ond)?s?|min(?:ute)?s?|hours?)\b";
    let form = |name, word, pattern: &str| Regex::new(pattern).ok().map(|regex| KnownForm { name, word, regex });
    let time = |pattern: &str| form("a date and time", "<TIME>", pattern);
    let clock = |pattern: &str| form("a time of day", "<TIME>", pattern);
    let stamp = |unit, pattern: &str| form(unit, "<TIME>", pattern);
    let duration = |pattern: &str| form("a duration", "<DURATION>", pattern);
    let number = |pattern: &str| form("a number", "<NUMBER>", pattern);
    let forms = [
        time(&format!(r"\b{DAY},? \d{{1,2}}[ -]{MONTH}[ -]\d{{4}},? {CLOCK}")),
        time(&format!(r"\b{DAY} {MONTH} +\d{{1,2}} {CLOCK}(?: [A-Z]{{3,4}})? \d{{4}}\b")),
        time(&format!(r"\b(?:{DAY},? )?{MONTH}\.? +\d{{1,2}}(?:st|nd|rd|th)?,? \d{{4}}(?:(?:,|,? at)? {CLOCK})?")),
        // Names of months in any language.
        time(&format!(
            r"\b\d{{1,2}}(?:st|nd|rd|th|\.)? (?:de |of )?\p{{L}}{{3,12}}\.?,? (?:de )?\d{{4}}(?:,? (?:\p{{L}}{{1,4}} )?{CLOCK})?"
        )),
        time(CHINESE),
        time(&format!(r"<DATE>[T ]{CLOCK}")),
        time(r"\b\d{8}[T_-]?\d{6}(?:[.,_-]?\d+)?"),
        time(&format!("{SLASHED},?(?: |T){CLOCK}")),
        form("a date", "<DATE>", r"\b(?:\d{4}[/.]\d{1,2}[/.]\d{1,2}|\d{1,2}[/.]\d{1,2}[/.]\d{4})\b"),
        clock(r"\b\d{1,2} ?(?:h|Uhr|heures?) ?\d{1,2}(?: ?(?:min|m)(?: ?\d{1,2} ?s)?\b)?"),
        form("an address with a port", "<ADDRESS>", ADDRESS),
        clock(r"\b\d{1,2}:\d{2}:\d{2}[.,]\d+"),
        clock(r"\b\d{1,2}:\d{2}(?::\d{2})?\s?[AaPp]\.?[Mm]\b\.?"),
        clock(r"\b\d{1,2}:\d{2}:\d{2}\b"),
        clock(r"\b\d{1,2}:\d{2}\b"),
        duration(r"\b(?:\d+(?:\.\d+)? ?(?:[nuµμm]?s|m|h))+\b"),
        duration(SPELLED),
        form("a size", "<SIZE>", r"\b\d+(?:\.\d+)? ?(?:[KkMGT]i?)?(?:B|bytes?)\b"),
        stamp("a time in seconds", r"\b1\d{9}\.\d+"),
        stamp("a time in seconds", r"\b1\d{9}\b"),
        stamp("a time in milliseconds", r"\b1\d{12}\b"),
        stamp("a time in microseconds", r"\b1\d{15}\b"),
        stamp("a time in nanoseconds", r"\b1\d{18}\b"),
        number(&format!(r"{SIGNED}\b\d+(?:\.\d+)?\b")),
        number(r"\b\d+(?:\.\d+)?\b"),
        number(r"\b\d+(?:[.,]\d+)*(?:[eE][+-]?\d+)?\b"),
    ];
    forms.into_iter().flatten().collect()
});

/// A pattern that matches two ids; `None` if they look like words that people write.
pub(super) fn id_pattern(a: &str, b: &str) -> Option<String> {
    let all = |fits: &dyn Fn(char) -> bool| a.chars().chain(b.chars()).all(fits);
    let any = |fits: &dyn Fn(char) -> bool| a.chars().chain(b.chars()).any(fits);
    let has_digit = |text: &str| text.contains(|c: char| c.is_ascii_digit());
    let same_length = a.chars().count() == b.chars().count();
    let minted = match (has_digit(a), has_digit(b)) {
        (true, true) => true,
        (false, false) => same_length && a.len() >= 6 && is_gibberish(a) && is_gibberish(b),
        _ => same_length,
    };
    if a.is_empty() || b.is_empty() || !minted || !all(&|c| c.is_ascii()) {
        return None;
    }
    let n = a.len();
    if all(&|c| c.is_ascii_digit()) {
        return Some(if same_length && n >= 8 { format!(r"\d{{{n}}}") } else { r"\d+".to_owned() });
    }
    let (upper, lower) = (any(&|c| c.is_ascii_uppercase()), any(&|c| c.is_ascii_lowercase()));
    let hex = all(&|c| c.is_ascii_hexdigit() || matches!(c, '_' | '-'));
    let mut class = String::from("0-9");
    match (upper, lower) {
        (true, true) if hex => class.push_str("a-fA-F"),
        // Ids of this alphabet rarely contain `_` and `-`, so allow both.
        (true, true) if n >= 10 => class.push_str("A-Za-z_-"),
        (true, true) => class.push_str("A-Za-z"),
        (true, false) => class.push_str(if hex { "A-F" } else { "A-Z" }),
        (false, true) => class.push_str(if hex { "a-f" } else { "a-z" }),
        (false, false) => {}
    }
    for extra in ['+', '/', '=', '_', '-'] {
        if any(&|c| c == extra) && !class.contains(&format!("{extra}")) {
            // In a character class, the dash has to be last.
            let at = if class.ends_with('-') { class.len() - 1 } else { class.len() };
            class.insert(at, extra);
        } else if extra == '-' && any(&|c| c == '-') && !class.ends_with('-') {
            class.push('-');
        }
    }
    Some(if same_length { format!("[{class}]{{{n}}}") } else { format!("[{class}]+") })
}

/// Whether letters do not look like a word: four consonants in a row, or capitals in the middle.
fn is_gibberish(text: &str) -> bool {
    let consonant = |c: char| c.is_ascii_alphabetic() && !"aeiouyAEIOUY".contains(c);
    let mut row = 0;
    let consonants = text.chars().any(|c| {
        row = if consonant(c) { row + 1 } else { 0 };
        row >= 4
    });
    let letters: Vec<char> = text.chars().collect();
    let capitals = letters.windows(3).any(|w| w[0].is_lowercase() && w[1].is_uppercase() && w[2].is_uppercase());
    consonants || capitals
}

#[cfg(test)]
mod tests;
