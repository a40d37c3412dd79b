//! Checks names in a file: those of vars and captures, headers, and environment variables.

use super::spanned::Spanned;
use crate::source::Source;
use crate::template::RESERVED;
use retake_base::error::{Error, Result};
use retake_base::text::listed;

/// The reserved words of the template language.
pub(super) const WORDS: [&str; 13] =
    ["true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else"];

/// Returns an error for a name that a template cannot use, or that is reserved.
pub(super) fn check_new_name(name: &Spanned<String>, source: &Source) -> Result<()> {
    let text = name.get_ref();
    let fail = |what: String| -> Error { source.error_at(name, what) };
    if RESERVED.contains(&text.as_str()) {
        let error = fail(format!("the name `{text}` is reserved"));
        return Err(error.help(format!("reserved: {}", listed(&RESERVED))));
    }
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) || !text.chars().all(word) {
        let error = fail(format!("a template cannot use the name `{text}`"));
        return Err(error.help("names are made of letters, digits and `_`, and do not start with a digit"));
    }
    if WORDS.contains(&text.as_str()) {
        return Err(fail(format!("the name `{text}` is a word of the template language")));
    }
    Ok(())
}

/// Returns an error if this is not the name of an HTTP header.
pub(super) fn check_header_name(name: &Spanned<String>, source: &Source) -> Result<()> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if !name.get_ref().is_empty() && name.get_ref().chars().all(token) {
        return Ok(());
    }
    Err(source.error_at(name, format!("`{}` is not the name of a header", name.get_ref())))
}

/// Returns an error if this is not the name of an environment variable.
pub(super) fn check_variable(name: &Spanned<String>, source: &Source) -> Result<()> {
    if name.get_ref().is_empty() || name.get_ref().contains(['=', '\0']) {
        let what = format!("`{}` is not the name of an environment variable", name.get_ref());
        return Err(source.error_at(name, what));
    }
    Ok(())
}

/// Reads the name of an environment variable. Only letters, digits and `_` are allowed.
pub(super) fn env_name(name: &Spanned<String>, source: &Source) -> Result<String> {
    let text = name.get_ref();
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) || !text.chars().all(word) {
        let error = source.error_at(name, format!("`{text}` cannot be the name of an environment variable"));
        return Err(error.help("names are made of letters, digits and `_`, and do not start with a digit"));
    }
    Ok(text.clone())
}
