//! Replay: what is served, what misses and why, drift, goldens of event streams.

mod broken_off;
pub(crate) mod companion;
pub(crate) mod declared;
mod deerflow;
pub(crate) mod drift;
mod early;
pub(crate) mod events;
mod filled;
pub(crate) mod held;
pub(crate) mod late_calls;
mod load;
pub(crate) mod misses;
pub(crate) mod mutation;
pub(crate) mod oddities;
pub(crate) mod passing;
pub(crate) mod projects;
mod releases;
pub(crate) mod serve;
mod texts;

pub(crate) const TESTS: &[&[crate::Test]] = &[
    broken_off::TESTS,
    companion::TESTS,
    declared::TESTS,
    deerflow::TESTS,
    drift::TESTS,
    early::TESTS,
    events::TESTS,
    filled::TESTS,
    held::TESTS,
    late_calls::TESTS,
    load::TESTS,
    misses::TESTS,
    passing::TESTS,
    projects::TESTS,
    releases::TESTS,
    serve::TESTS,
    texts::TESTS,
];
