//! Systems that are started by a command or reached by a URL, run by the `retake` command as a user runs it.
//!
//! The system under test is this binary itself, started again: see `service.rs`.

pub(crate) mod approval;
pub(crate) mod built;
pub(crate) mod commands;
pub(crate) mod crashes;
pub(crate) mod described;
#[cfg(target_os = "linux")]
pub(crate) mod egress;
#[cfg(target_os = "linux")]
pub(crate) mod gone;
pub(crate) mod growing;
pub(crate) mod kinds;
pub(crate) mod left;
pub(crate) mod provider;
pub(crate) mod secrets;
pub(crate) mod service;
pub(crate) mod sockets;
pub(crate) mod steps;

pub(crate) const TESTS: &[&[crate::Test]] = &[
    approval::TESTS,
    built::TESTS,
    commands::TESTS,
    crashes::TESTS,
    #[cfg(target_os = "linux")]
    egress::TESTS,
    #[cfg(target_os = "linux")]
    gone::TESTS,
    growing::TESTS,
    kinds::TESTS,
    left::TESTS,
    secrets::TESTS,
    sockets::TESTS,
    steps::TESTS,
];
