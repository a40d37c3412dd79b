//! Recordings and the provider of today: `retake check` and `retake fork`.

pub(crate) mod checks;
pub(crate) mod requests;
pub(crate) mod unchecked;

pub(crate) const TESTS: &[&[crate::Test]] = &[checks::TESTS, requests::TESTS, unchecked::TESTS];
