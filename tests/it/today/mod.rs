//! Recordings and the provider of today: `retake check` and `retake fork`.

pub(crate) mod checks;
pub(crate) mod fork_tools;
pub(crate) mod forks;
pub(crate) mod requests;
pub(crate) mod unchecked;

pub(crate) const TESTS: &[&[crate::Test]] =
    &[checks::TESTS, fork_tools::TESTS, forks::TESTS, requests::TESTS, unchecked::TESTS];
