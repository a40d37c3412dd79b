//! That no field of `suite.toml` and `scenario.toml` is without effect: each has an entry here, and the list of fields is made
//! of the types that read them, so that a new one without an entry fails.

mod options;
mod scenarios;
mod steps;
mod suites;
mod walk;

pub(crate) const TESTS: &[&[crate::Test]] = &[walk::TESTS];
