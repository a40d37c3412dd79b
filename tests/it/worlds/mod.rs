//! Worlds: what a service does with each fault of the model, and how that is reviewed.

pub(crate) mod client;
pub(crate) mod guide;
pub(crate) mod kinds;
pub(crate) mod mistakes;
pub(crate) mod process;
pub(crate) mod served;
pub(crate) mod tools;
pub(crate) mod trial;
pub(crate) mod verdicts;

pub(crate) const TESTS: &[&[crate::Test]] = &[
    kinds::TESTS,
    client::TESTS,
    guide::TESTS,
    process::TESTS,
    served::TESTS,
    tools::TESTS,
    trial::TESTS,
    verdicts::TESTS,
];
