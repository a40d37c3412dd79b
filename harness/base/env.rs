//! What the environment says about a run.

/// Whether this is a CI job, where nothing that is committed is written.
pub fn in_ci() -> bool {
    is_set("CI")
}

/// Whether an environment variable is set to something other than no.
pub fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !matches!(value.to_lowercase().as_str(), "" | "0" | "false" | "no"))
}
