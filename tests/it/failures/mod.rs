//! Changes of a project, and the failures that a person reads: the first line names what changed, and each advice helps.

mod changes;
pub(crate) mod desk;
pub(crate) mod forty;
mod sixty;
mod unseen;

pub(crate) const TESTS: &[&[crate::Test]] = &[forty::TESTS, sixty::TESTS, unseen::TESTS];
