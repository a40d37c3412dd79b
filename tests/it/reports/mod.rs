//! What is told of runs and fixtures after the fact: the data of a run, and the commands that show it.

pub(crate) mod data;
pub(crate) mod show;

pub(crate) const TESTS: &[&[crate::Test]] = &[data::TESTS, show::TESTS];
