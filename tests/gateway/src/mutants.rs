//! Mistakes that a developer of this service could make, each a branch where it would be made. None is taken unless the
//! feature `mutants` is on, and then only the one that the variable `GATEWAY_MUTANT` names, for the whole process.
//!
//! They measure what the scenarios notice: `tests/it/mutants/list.toml` says in a sentence what each does.

/// Whether the service has this mistake.
#[cfg(feature = "mutants")]
pub(crate) fn mutant(name: &str) -> bool {
    use std::{env, sync::OnceLock};

    static CHOSEN: OnceLock<Option<String>> = OnceLock::new();
    CHOSEN.get_or_init(|| env::var("GATEWAY_MUTANT").ok()).as_deref() == Some(name)
}

/// Whether the service has this mistake: it has none.
#[cfg(not(feature = "mutants"))]
pub(crate) fn mutant(_name: &str) -> bool {
    false
}
