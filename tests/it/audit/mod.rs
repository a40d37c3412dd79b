//! `retake audit`: what it finds, what it prints, and how it ends.

pub(crate) mod findings;
pub(crate) mod own;
pub(crate) mod printed;

pub(crate) const TESTS: &[&[crate::Test]] = &[findings::TESTS, own::TESTS, printed::TESTS];
