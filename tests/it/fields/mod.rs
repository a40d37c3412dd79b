//! Checks that every field of `suite.toml` and `scenario.toml` has an effect. Each field has an entry here. The list of fields
//! comes from the types that read the files, so a new field without an entry fails the test.

mod options;
mod scenarios;
mod steps;
mod suites;
mod walk;

pub(crate) const TESTS: &[&[crate::Test]] = &[walk::TESTS];
