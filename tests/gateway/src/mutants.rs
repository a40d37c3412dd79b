//! Mutants: mistakes that a developer of this service could make, each at the place in the code where it would happen.
//! Without the feature `mutants` none is active. With it, only the one that the environment variable `GATEWAY_MUTANT`
//! names is active, for the whole process.
//!
//! They measure what the scenarios notice. `tests/it/mutants/list.toml` describes each one in a sentence.

/// `mutant!("name")` is whether this mutant is active; `mutant!("name", mistaken, right)` is the one value or the other.
macro_rules! mutant {
    ($name:literal) => {
        $crate::mutants::is_made($name)
    };
    ($name:literal, $mistaken:expr, $right:expr) => {
        if $crate::mutants::is_made($name) { $mistaken } else { $right }
    };
}
pub(crate) use mutant;

/// Returns whether this mutant is active.
#[cfg(feature = "mutants")]
pub(crate) fn is_made(name: &str) -> bool {
    use std::{env, sync::OnceLock};

    static CHOSEN: OnceLock<Option<String>> = OnceLock::new();
    CHOSEN.get_or_init(|| env::var("GATEWAY_MUTANT").ok()).as_deref() == Some(name)
}

/// Without the feature no mutant is active.
#[cfg(not(feature = "mutants"))]
pub(crate) fn is_made(_name: &str) -> bool {
    false
}
