//! The same items in another order: what no rule can mend.

use std::ops::Range;

/// How far back a list's beginning is looked for, in bytes.
const FAR: usize = 20_000;

/// The parts of two texts, around the first byte in which they differ, that hold the same words in another order.
pub(super) fn permuted(a: &str, b: &str, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let line = a[..at].rfind('\n').map_or(0, |i| i + 1);
    let line_end = |text: &str| text[at..].find('\n').map_or(text.len(), |i| at + i);
    let back = a[at..].chars().rev().zip(b[at..].chars().rev());
    let suffix: usize = back.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    // Whole words at the end of what differs.
    let rest = a[a.len() - suffix..].find(|c: char| !is_word(c)).unwrap_or(suffix);
    let spans = [
        brackets(a, b, at),
        Some((line..line_end(a), line..line_end(b))),
        Some((line..a.len() - suffix + rest, line..b.len() - suffix + rest)),
        Some((line..a.len(), line..b.len())),
    ];
    spans.into_iter().flatten().find(|(of_a, of_b)| {
        let (mut first, mut second) = (words(&a[of_a.clone()]), words(&b[of_b.clone()]));
        let (differ, several) = (first != second, first.len() > 1);
        first.sort_unstable();
        second.sort_unstable();
        differ && several && first == second
    })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '<' | '>' | '/')
}

fn words(text: &str) -> Vec<&str> {
    text.split(|c| !is_word(c)).filter(|word| !word.is_empty()).collect()
}

/// The innermost brackets around a place.
fn brackets(a: &str, b: &str, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let mut depth = 0;
    let opening = a[..at].char_indices().rev().take(FAR).find(|(_, c)| {
        match c {
            ']' | '}' | ')' => depth += 1,
            '[' | '{' | '(' if depth > 0 => depth -= 1,
            '[' | '{' | '(' => return true,
            _ => {}
        }
        false
    });
    let (start, _) = opening?;
    let closing = |text: &str| {
        let mut depth = 0;
        let end = text[start..].char_indices().find(|(_, c)| {
            match c {
                '[' | '{' | '(' => depth += 1,
                ']' | '}' | ')' => depth -= 1,
                _ => {}
            }
            depth == 0
        });
        end.map(|(i, _)| start + i + 1)
    };
    Some((start..closing(a)?, start..closing(b)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts<'a>(a: &'a str, b: &'a str) -> Option<(&'a str, &'a str)> {
        let at = a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        permuted(a, b, at).map(|(of_a, of_b)| (&a[of_a], &b[of_b]))
    }

    #[test]
    fn the_same_items_in_another_order_are_found() {
        assert_eq!(parts("{'b', 'a'} at 1", "{'a', 'b'} at 2"), Some(("{'b', 'a'}", "{'a', 'b'}")));
        assert_eq!(parts("found b.txt a.txt", "found a.txt b.txt"), Some(("found b.txt a.txt", "found a.txt b.txt")));
        assert_eq!(parts("x\nb c\na\nend", "x\na\nb c\nend"), Some(("b c\na", "a\nb c")));
        assert_eq!(parts(r#"{"b":1,"a":[2]}"#, r#"{"a":[2],"b":1}"#).map(|(a, _)| a), Some(r#"{"b":1,"a":[2]}"#));
        assert_eq!(parts("a b", "a c"), None);
        assert_eq!(parts("12:03", "12:04"), None);
    }
}
