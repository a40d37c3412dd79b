//! Pages in a real Chromium. These tests need the feature `browser`, and a Chromium on the machine.

pub(crate) mod breakages;
pub(crate) mod finding;
pub(crate) mod gone;
pub(crate) mod later;
pub(crate) mod pictures;
pub(crate) mod proofs;
pub(crate) mod seeing;
pub(crate) mod ways;

pub(crate) const TESTS: &[&[crate::Test]] = &[
    breakages::TESTS,
    finding::TESTS,
    gone::TESTS,
    later::TESTS,
    pictures::TESTS,
    proofs::TESTS,
    seeing::TESTS,
    ways::TESTS,
];
