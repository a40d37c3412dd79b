//! Tokens that are found without a pattern: the alphabets of their characters, and forms whose beginning is too common to compile a pattern
//! for each text that has it.

use std::ops::Range;

use super::likeness;

pub(super) const ALNUM: fn(u8) -> bool = |byte| byte.is_ascii_alphanumeric();
pub(super) const HEX: fn(u8) -> bool = |byte| byte.is_ascii_hexdigit();
pub(super) const WORD: fn(u8) -> bool = |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'=');
pub(super) const DOTTED: fn(u8) -> bool = |byte| WORD(byte) || byte == b'.';

/// The tokens of former versions of Vault: `s.`, and 24 letters and digits.
pub(super) fn of_vault(text: &str) -> Vec<Range<usize>> {
    let is_apart = |at: usize, own: &[u8]| {
        text.as_bytes().get(at).is_none_or(|byte| !byte.is_ascii_alphanumeric() && !own.contains(byte))
    };
    let found = memchr::memmem::find_iter(text.as_bytes(), b"s.").filter_map(|start| {
        let token = start..start + 26;
        let is_token = start.checked_sub(1).is_none_or(|before| is_apart(before, b"_.-/"))
            && is_apart(token.end, b"_.(-/")
            && text.get(token.start + 2..token.end)?.bytes().all(|byte| byte.is_ascii_alphanumeric())
            && likeness::is_key(&text[token.start + 2..token.end]);
        is_token.then_some(token)
    });
    found.collect()
}

/// A token in place of the user in a URL: `https://TOKEN@host`, also with a colon after it.
pub(super) fn in_urls(text: &str) -> Vec<Range<usize>> {
    let found = memchr::memmem::find_iter(text.as_bytes(), b"://").filter_map(|at| {
        let start = at + 3;
        let length = text[start..].bytes().take_while(|byte| WORD(*byte)).count();
        let rest = &text[start + length..];
        let ends = rest.trim_start_matches(':').trim_start_matches("x-oauth-basic").starts_with('@');
        let token = start..start + length;
        (length >= 16 && ends && likeness::is_key(&text[token.clone()])).then_some(token)
    });
    found.collect()
}
