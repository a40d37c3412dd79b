//! Measures what the project's own scenarios notice: the runner runs them against a gateway that makes one of the mistakes in
//! `list.toml`, with a separate process for each mistake.
//!
//! `GATEWAY_MUTANT=chunk_twice cargo test --test scenarios` shows the failures for one mistake.

mod list;
#[cfg(feature = "browser")]
mod page;
mod score;

pub(crate) use score::trials;

#[cfg(not(feature = "browser"))]
pub(crate) const TESTS: &[&[crate::Test]] = &[list::TESTS];
#[cfg(feature = "browser")]
pub(crate) const TESTS: &[&[crate::Test]] = &[list::TESTS, page::TESTS];
