//! Checks the order of the sources: the map in `harness/lib.rs` lists all top-level modules, imports follow its order, no two
//! files use each other, all public names are listed, and the walks in `tests/README.md` lead through files that exist.
//!
//! The check reads sources as text. It sees imports and paths. It does not see a call of a method whose type only another
//! file names.

mod arrows;
mod check;
mod library;
mod made_up;
mod map;
mod project;
mod public;
mod source;
mod tokens;
mod walks;

pub(crate) const TESTS: &[&[crate::Test]] = &[made_up::TESTS, project::TESTS];
