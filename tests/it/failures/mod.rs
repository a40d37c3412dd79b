//! Sixty changes of a project, and what a person is told of each: the first line names what changed, each advice helps.

mod changes;
mod sixty;

pub(crate) const TESTS: &[&[crate::Test]] = &[sixty::TESTS];
