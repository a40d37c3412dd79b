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
//! The library is divided into rooms, each a file or a folder of `harness/`. A room uses only rooms above it in this table, and
//! no two files use each other. The tests check both rules. A room that is marked as pure does no I/O.
//!
//! | room | contents |
//! |---|---|
//! | `text` | helpers for texts that people read: cut, count, show invisible characters, suggest the nearest name; pure |
//! | `cause` | the causes of failures: their kinds, and the wording of a failure's first line; pure |
//! | `error` | errors: what is wrong, in which file and line, and the command that resolves it |
//! | `files` | reading files with their name in errors, and writing files completely or not at all |
//! | `clients` | two HTTP clients: one that reaches only loopback, one that reaches a provider |
//! | `json` | JSON as Python reads and prints it, which keys depend on; pure |
//! | `conversation` | messages, tool calls and answers in a form that is independent of providers; pure |
//! | `key` | keys and checks, which decide whether two model calls are the same; pure |
//! | `secrets` | secrets: how they are recognized, and removed from texts, bodies and streams; pure |
//! | `durable` | recording an agent's own steps, so that a retry replays them; independent of all other rooms |
//! | `events` | captured streams as events, and events as shapes; pure |
//! | `wire` | the provider APIs: requests to calls, turns to responses; shared parts, and one folder for each API; pure |
//! | `fixture` | the turns of a scenario: file format, table, journal |
//! | `import` | recordings of other tools to fixtures, with one file for each format |
//! | `model` | the model server: matching calls, explaining misses, recording |
//! | `scenario` | the files in `scenarios/` as validated types |
//! | `system` | the system under test, and the stage: everything that one running scenario owns |
//! | `browser` | pages in a real Chromium; requires the feature `browser` |
//! | `drive` | sending a scenario's steps, and capturing the answers |
//! | `tools` | recorded tool calls against live tools, with the drift of their results; doubles of tool servers |
//! | `audit` | how much a golden and a fixture can be trusted: small changes that they should notice; pure |
//! | `report` | everything that is printed, and all reports |
//! | `project` | the settings of a project for model calls: rules of keys, callers and secrets; replay without a runner |
//! | `run` | one run of a project: the runner, trials and their verdicts, goldens, recording and its proof |
//! | `guide` | the pages of the guide; its reference and the schemas are generated from the code |
//! | `cli` | the `retake` command, with one file for each subcommand |
//!
//! # Invariants
//!
//! - Replay opens only loopback sockets, except to live tools that the suite declares. Only `model::record` reaches a provider.
//! - A scenario with a miss never reads or writes a golden. With `CI` set, only reports are written.
//! - Record and replay compute keys with the same function, `key::Rules::key`, after the same function has removed secrets.
//! - Only `report` prints. Only `run::golden` names insta. Wire, key, secrets and shapes do no I/O.
//! - Headers of model calls are never stored. Secrets are removed from calls before anything is written or printed (`secrets`).
//! - A file is written completely or not at all; the journal loses at most the line that was being written. A client gets the
//!   end of an answer only after the answer's line is on disk.
//! - No `unsafe`, no panic on any input, no `process::exit`.

#[doc(hidden)]
pub mod __private;
mod audit;
#[cfg(feature = "browser")]
mod browser;
mod drive;
pub mod guide;
mod project;
mod report;
mod run;
mod system;
mod tools;

pub use axum;
pub use project::{Replay, ReplayModel, ReplayModelBuilder};
pub use retake_base::error::{Error, Result};
pub use retake_core::conversation::{Answer, Message};
pub use retake_durable as durable;
pub use retake_model::{Miss, MissReason, ServedTurn, Urls, misses, reset, served};
pub use run::runner::Suite;
pub use system::{IntoRouter, Stage, service};
pub use tools::{ToolReplay, ToolRun};

/// Keys, which decide whether two model calls are the same.
pub mod key {
    pub use retake_core::key::{Hash, Key, ParseHashError, caller_of_tags, conversation_hash, input_hash};
}

/// Compiles the Rust examples of the README together with those of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
