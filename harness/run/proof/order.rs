//! Finds the same items in a different order, which no rule can make equal.

use std::ops::Range;

/// How far back to look for the beginning of a list, in characters.
const FAR: usize = 20_000;

/// The parts of two texts around the first byte in which they differ that contain the same words in a different order.
pub(super) fn permuted(a: &str, b: &str, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let line = a[..at].rfind('\n').map_or(0, |i| i + 1);
    let line_end = |text: &str| text[at..].find('\n').map_or(text.len(), |i| at + i);
    let back = a[at..].chars().rev().zip(b[at..].chars().rev());
    let suffix: usize = back.take_while(|(a, b)| a == b).map(|(c, _)| c.len_utf8()).sum();
    // End the differing part at the end of a word.
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
mod tests;
