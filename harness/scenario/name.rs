//! The names of scenarios, cases, fixtures and goldens, which are used as file names.

use retake_base::error::Error;

/// The folder of all scenarios, below the root.
pub const SCENARIOS: &str = "scenarios";
/// The folder of inputs that several scenarios share. It is next to the folders of the scenarios.
pub(super) const SHARED: &str = "_shared";

/// Whether a text can be the name of a scenario, a case, a fixture or a golden.
pub fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    (1..=LONGEST_NAME).contains(&name.len()) && !name.starts_with(['.', '-']) && name.chars().all(fits)
}

/// Returns the error about a text that cannot be the name of a scenario, a case and so on (`of`).
pub fn no_name(name: &str, of: &str) -> Error {
    let error = Error::new(format!("`{name}` cannot be the name of a {of}"));
    if name.len() > LONGEST_NAME {
        return error.help(format!("it is {} bytes long; at most {LONGEST_NAME} are allowed", name.len()));
    }
    error.help(NAME_RULE)
}

/// Returns the valid name that is closest to an invalid one: letters in lower case, and `_` for other characters. `None` if
/// there is none.
pub(super) fn nearest_name(name: &str) -> Option<String> {
    // There is no closest name for letters of other alphabets.
    if !name.is_ascii() {
        return None;
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let near: String = name.trim().chars().map(|c| if fits(c) { c.to_ascii_lowercase() } else { '_' }).collect();
    let near = near.trim_start_matches(['.', '-', '_']).trim_end_matches('_').to_owned();
    (is_name(&near) && near != "none").then_some(near)
}

/// File systems allow file names of 255 bytes, and files add an extension to these names.
const LONGEST_NAME: usize = 200;

const NAME_RULE: &str = "names are made of a-z, 0-9, `.`, `_` and `-`, and begin with neither `.` nor `-`";
