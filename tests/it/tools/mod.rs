//! Tools: what an agent did, executed again.

pub(crate) mod snapshot;

pub(crate) const TESTS: &[&[crate::Test]] = &[snapshot::TESTS];
