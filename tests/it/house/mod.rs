//! The check of the house: the map in `harness/lib.rs` is the folder listing, imports follow its order, no two files lean
//! on each other, what is public is written down, and the walks of `tests/README.md` lead through files that are there.
//!
//! It reads sources as text, and sees what is imported or written as a path. It does not see that a method is called of a
//! type that another file names.

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
