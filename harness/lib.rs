//! Retake records the model calls of an agent service once and then replays them against the real service forever, with no key
//! and no network. A call gets the recorded answer for its caller and conversation, which are compared by a normalized hash. The
//! event stream that the service sends its clients is compared with a committed golden. A test fails whenever a model call has no
//! recorded answer, no matter how the service handled that.
//!
//! # Which part do I need?
//!
//! - To learn Retake: the [`guide`].
//! - To test an agent service with folders in `scenarios/`: [`suite!`] in `tests/scenarios.rs`.
//! - To give a replayed model to a system that your own test starts: [`ReplayModel`].
//! - To replay answers to an agent in the same process, without HTTP: [`Replay`].
//! - To let your agent continue after a crash where it stopped, without paying twice: [`durable`].
//!
//! # The rooms
//!
//! This crate is what a test links. Below it are crates of their own, which promise no stability: `retake-base` (texts, errors,
//! files), `retake-core` (keys, secrets and event streams, without any I/O), `retake-wire` (the providers' APIs, and fixtures),
//! `retake-model` (the model server), `retake-audit` (how far goldens and fixtures can be trusted), `retake-scenario` (the files in
//! `scenarios/`), `retake-engine` (systems, the steps that drive them, and tools), and `retake-durable`, which agents use in
//! production. The command `retake` is above it, in `retake-cli`. CONTRIBUTING.md has the map.
//!
//! This crate is divided into rooms. A room uses only rooms above it in this table.
//!
//! | room | contents |
//! |---|---|
//! | `guide` | the pages of the guide |
//! | `report` | everything that is printed, and all reports |
//! | `project` | the settings of a project for model calls: rules of keys, callers and secrets; replay without a runner |
//! | `run` | one run of a project: the runner, trials and their verdicts, goldens, recording and its proof |
//!
//! # Invariants
//!
//! - Only loopback sockets are opened, while recording too, except to live tools that the suite declares. Only the relay of the
//!   command reaches a provider, and only it has a provider's key.
//! - A scenario with a miss never reads or writes a golden. With `CI` set, only reports are written.
//! - Record and replay compute keys with the same function, `key::Rules::key`, after the same function has removed secrets.
//! - Only `report` prints. Only `run::golden` names insta. Wire, key, secrets and shapes do no I/O.
//! - Headers of model calls are never stored. Secrets are removed from calls before anything is written or printed (`secrets`).
//! - A file is written completely or not at all; the journal loses at most the line that was being written. A client gets the
//!   end of an answer only after the answer's line is on disk.
//! - No `unsafe`, no panic on any input, no `process::exit`.

#[doc(hidden)]
pub mod __private;
pub mod guide;
mod project;
mod report;
mod run;

pub use axum;
pub use project::{Replay, ReplayModel, ReplayModelBuilder};
pub use retake_base::error::{Error, Result};
pub use retake_core::conversation::{Answer, Message};
pub use retake_durable as durable;
pub use retake_engine::system::{IntoRouter, Stage, service};
pub use retake_engine::tools::{ToolReplay, ToolRun};
pub use retake_model::{Miss, MissReason, ServedTurn, Urls, misses, reset, served};
pub use run::runner::Suite;

/// Keys, which decide whether two model calls are the same.
pub mod key {
    pub use retake_core::key::{Hash, Key, ParseHashError, caller_of_tags, conversation_hash, input_hash};
}

/// Compiles the Rust examples of the README together with those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
