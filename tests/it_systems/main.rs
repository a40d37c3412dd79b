//! Systems that are commands and URLs, as a user starts them: by the `retake` command, on trees in temporary folders.
//!
//! The system under test is this binary itself, started anew: see `system.rs`.

#![allow(clippy::unwrap_used, reason = "helpers of tests, which fail by panicking")]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "the system under test prints its log")]

mod commands;
#[cfg(target_os = "linux")]
mod gone;
mod kinds;
mod provider;
mod secrets;
mod steps;
mod system;
mod tree;
