//! Reports on runs and fixtures: the data of a run, and the commands that show it.

#[cfg(unix)]
pub(crate) mod comment;
pub(crate) mod data;
#[cfg(unix)]
pub(crate) mod foreign;
pub(crate) mod page;
#[cfg(unix)]
pub(crate) mod printed;
#[cfg(unix)]
pub(crate) mod review;
pub(crate) mod show;

pub(crate) const TESTS: &[&[crate::Test]] = &[
    #[cfg(unix)]
    comment::TESTS,
    data::TESTS,
    #[cfg(unix)]
    foreign::TESTS,
    page::TESTS,
    #[cfg(unix)]
    printed::TESTS,
    #[cfg(unix)]
    review::TESTS,
    show::TESTS,
];
