//! Sixty changes of a project, and what a person is told of each: the first line names what changed, each advice helps.

mod changes;
pub(crate) mod desk;
mod sixty;
mod unseen;

pub(crate) const TESTS: &[&[crate::Test]] = &[sixty::TESTS, unseen::TESTS];
