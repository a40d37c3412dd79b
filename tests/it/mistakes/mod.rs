//! What users get wrong, and what systems do that they should not do: files, folders, requests, answers.

pub(crate) mod asked;
pub(crate) mod fixtures;
pub(crate) mod folders;
pub(crate) mod fuzz_corpus;
pub(crate) mod goldens;
pub(crate) mod links;
pub(crate) mod raw_system;
pub(crate) mod requests;
pub(crate) mod spoilt;
pub(crate) mod systems;

pub(crate) const TESTS: &[&[crate::Test]] = &[
    asked::TESTS,
    fixtures::TESTS,
    folders::TESTS,
    fuzz_corpus::TESTS,
    goldens::TESTS,
    links::TESTS,
    requests::TESTS,
    systems::TESTS,
];
