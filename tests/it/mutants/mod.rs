//! What the project's own scenarios notice: each mistake of `list.toml` is made in the gateway, one a process, and the
//! runner plays the scenarios against it.
//!
//! `GATEWAY_MUTANT=chunk_twice cargo test --test scenarios` shows what is said of one.

mod list;
#[cfg(feature = "browser")]
mod page;
mod score;

pub(crate) use score::trials;

#[cfg(not(feature = "browser"))]
pub(crate) const TESTS: &[&[crate::Test]] = &[list::TESTS];
#[cfg(feature = "browser")]
pub(crate) const TESTS: &[&[crate::Test]] = &[list::TESTS, page::TESTS];
