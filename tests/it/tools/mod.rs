//! Tools: what an agent did, executed again; and doubles of what it uses.

pub(crate) mod agent;
pub(crate) mod doubles;
pub(crate) mod snapshot;

pub(crate) const TESTS: &[&[crate::Test]] = &[doubles::TESTS, snapshot::TESTS];
