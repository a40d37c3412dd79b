//! Reports on runs and fixtures: the data of a run, and the commands that show it.

pub(crate) mod data;
pub(crate) mod page;
#[cfg(unix)]
pub(crate) mod review;
pub(crate) mod show;

pub(crate) const TESTS: &[&[crate::Test]] = &[
    data::TESTS,
    page::TESTS,
    #[cfg(unix)]
    review::TESTS,
    show::TESTS,
];
