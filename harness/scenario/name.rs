//! The names of scenarios, cases, fixtures and goldens, which become names of files.

use crate::error::Error;

/// The folder of inputs that several scenarios share, beside those of the scenarios.
pub(super) const SHARED: &str = "_shared";

/// Whether a name can be that of a scenario, a case, a fixture or a golden.
pub(crate) fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    (1..=LONGEST_NAME).contains(&name.len()) && !name.starts_with(['.', '-']) && name.chars().all(fits)
}

/// What can be no name: of what, and why.
pub(crate) fn no_name(name: &str, of: &str) -> Error {
    let error = Error::new(format!("`{name}` cannot be the name of a {of}"));
    if name.len() > LONGEST_NAME {
        return error.help(format!("it is {} bytes long, at most {LONGEST_NAME} fit", name.len()));
    }
    error.help(NAME_RULE)
}

/// The name that is nearest to one that cannot be: its letters in lower case, `_` for what does not fit.
pub(super) fn nearest_name(name: &str) -> Option<String> {
    // Letters of other alphabets have no nearest one.
    if !name.is_ascii() {
        return None;
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let near: String = name.trim().chars().map(|c| if fits(c) { c.to_ascii_lowercase() } else { '_' }).collect();
    let near = near.trim_start_matches(['.', '-', '_']).trim_end_matches('_').to_owned();
    (is_name(&near) && near != "none").then_some(near)
}

/// File systems end at 255 bytes, and files are called after names with endings behind them.
const LONGEST_NAME: usize = 200;

const NAME_RULE: &str = "names are made of a-z, 0-9, `.`, `_` and `-`, and begin with neither `.` nor `-`";
