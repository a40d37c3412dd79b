//! Mistakes that a developer of this service could make, each where it would be made. None is made unless the feature
//! `mutants` is on, and then only the one that the variable `GATEWAY_MUTANT` names, for the whole process.
//!
//! They measure what the scenarios notice: `tests/it/mutants/list.toml` says of each in a sentence what it does.

/// `mutant!("name")` tells whether this mistake is made; `mutant!("name", mistaken, right)` is one of both.
macro_rules! mutant {
    ($name:literal) => {
        $crate::mutants::is_made($name)
    };
    ($name:literal, $mistaken:expr, $right:expr) => {
        if $crate::mutants::is_made($name) { $mistaken } else { $right }
    };
}
pub(crate) use mutant;

/// Whether this mistake is made.
#[cfg(feature = "mutants")]
pub(crate) fn is_made(name: &str) -> bool {
    use std::{env, sync::OnceLock};

    static CHOSEN: OnceLock<Option<String>> = OnceLock::new();
    CHOSEN.get_or_init(|| env::var("GATEWAY_MUTANT").ok()).as_deref() == Some(name)
}

/// No mistake is made.
#[cfg(not(feature = "mutants"))]
pub(crate) fn is_made(_name: &str) -> bool {
    false
}
