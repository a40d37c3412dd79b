//! The text around a place that varies, as a rule should contain it.

/// The most letters of the word next to the place.
const WORD: usize = 24;
/// The least letters of a word that is specific enough.
const TELLING: usize = 3;

/// What precedes a place on its line.
pub(super) enum Before {
    /// The place is at the start of the text.
    Start,
    LineStart,
    /// The word before the place with the separators after it, or whatever there is.
    Text(String),
}

/// The context at the end of a text: the last word, or the last two if that one is short.
pub(super) fn before(text: &str) -> Before {
    let line = text.rfind('\n').map_or(0, |i| i + 1);
    let line_text = &text[line..];
    if line_text.is_empty() {
        return if text.is_empty() { Before::Start } else { Before::LineStart };
    }
    let mut start = line_text.len();
    let mut letters = 0;
    // If the last word is short, take one more.
    for _ in 0..2 {
        let rest = &line_text[..start];
        let separators: usize = rest.chars().rev().take(8).take_while(|c| !is_letter(*c)).map(char::len_utf8).sum();
        let word: Vec<_> = rest[..start - separators].chars().rev().take(WORD).take_while(|c| is_letter(*c)).collect();
        if word.iter().any(char::is_ascii_digit) {
            // A word with digits may vary too.
            if letters == 0 {
                start -= separators;
            }
            break;
        }
        start -= separators + word.iter().map(|c| c.len_utf8()).sum::<usize>();
        letters += word.len();
        // What begins the value's own word, as in `BK-5211E4`, tells more than the word before.
        let own = letters > 1 && matches!(&line_text[start + word.len()..], "-" | "_");
        if letters >= TELLING || word.is_empty() || own {
            break;
        }
    }
    Before::Text(line_text[start..].to_owned())
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// What follows a place in both texts: separators and a word, if the same in both.
pub(super) fn after(a: &str, b: &str) -> String {
    let eq: usize = a.chars().zip(b.chars()).take_while(|(a, b)| a == b && *a != '\n').map(|(c, _)| c.len_utf8()).sum();
    let text = &a[..eq];
    let separators = text.find(is_letter).unwrap_or(text.len());
    let word: String = text[separators..].chars().take(WORD).take_while(|c| is_letter(*c)).collect();
    let all = a[separators.min(a.len())..].len() == word.len() || !a[separators + word.len()..].starts_with(is_letter);
    let all = all && (separators + word.len() < eq || a.len() == b.len());
    if word.is_empty() || !all || separators > 4 || word.contains(|c: char| c.is_ascii_digit()) {
        return String::new();
    }
    format!("{}{word}", &text[..separators])
}

/// A text as a regular expression, with only the special characters escaped.
pub(super) fn escaped(text: &str) -> String {
    let special = |c: char| r"\.+*?()|[]{}^$".contains(c);
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}
