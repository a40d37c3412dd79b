//! What the project's own scenarios notice: each mistake of `list.toml` is made in the gateway, one a process, and the
//! runner plays the scenarios against it.
//!
//! `GATEWAY_MUTANT=chunk_twice cargo test --test scenarios` shows what is said of one.

mod list;
mod score;

pub(crate) use score::trials;

pub(crate) const TESTS: &[&[crate::Test]] = &[list::TESTS];
