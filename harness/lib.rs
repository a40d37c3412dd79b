//! Retake records the model calls of an agent service once and replays them for ever, by a normalized hash of caller and
//! conversation, against the real service, with no key and no network. It holds the event stream that the service sends
//! its clients to a committed golden, and fails whenever a model call found no recorded answer, however the service took
//! that.
//!
//! # Which part do I need?
//!
//! - To learn it: the [`guide`].
//! - To test an agent service by dropping folders into `scenarios/`: [`suite!`] in `tests/scenarios.rs`.
//! - To give a model to a system that a test of yours starts: [`ReplayModel`].
//! - To replay answers to an agent in the process, without HTTP: [`Replay`].
//! - To make an agent of yours go on after a crash where it stopped, without paying twice: [`durable`].
//!
//! # The rooms
//!
//! A row a room, which is a file or a folder of `harness/`. A room uses rooms above it and none below, and no two files use
//! each other: the tests check both.
//!
//! | room | holds |
//! |---|---|
//! | `text` | texts as people read them: cut, counted, made visible, and the name that was meant; pure |
//! | `cause` | what a failure comes from: its kind, and the words of its first line; pure |
//! | `error` | what is wrong, where, and the command that resolves it |
//! | `files` | files read with their name in the error, written whole or not at all |
//! | `clients` | HTTP clients: one that reaches loopback alone, one that reaches a provider |
//! | `json` | JSON as Python reads and prints it, which the key needs; pure |
//! | `conversation` | messages, tool calls, answers, in no provider's words; pure |
//! | `key` | what makes two model calls the same; pure |
//! | `secrets` | what must never be written, and how texts, bodies and streams lose it; pure |
//! | `durable` | an agent's own steps, recorded so that a retry replays them; stands alone |
//! | `events` | a stream to events, events to shapes; pure |
//! | `wire` | request to call, turn to response: parts for all, one folder an API; pure |
//! | `fixture` | the turns of a scenario: file format, table, call log |
//! | `import` | other tools' recordings to fixtures, one file a format |
//! | `model` | the model server: match, miss, explanation; recording |
//! | `scenario` | `scenarios/` to validated types |
//! | `system` | the system under test, and the stage: all that one running scenario owns |
//! | `browser` | pages in a real Chromium; behind the feature `browser` |
//! | `drive` | steps to requests, answers to captures |
//! | `tools` | what an agent did, done again against live tools, and what it then observed; doubles of tool servers |
//! | `audit` | how much a golden and a fixture can be trusted: changes that they should notice; pure |
//! | `report` | everything that is printed |
//! | `project` | a project as far as model calls go: rules of keys, callers, secrets; its fixtures without a runner |
//! | `run` | one run: the runner, a trial and its verdict, goldens, recording and its proof |
//! | `guide` | pages; those of the reference, and the schemas, are made of the code |
//! | `cli` | the `retake` command, one file a subcommand |
//!
//! # Invariants
//!
//! - Replay opens no socket that is not loopback, but to live tools that the suite declares. Only `model::record` reaches a provider.
//! - A scenario with a miss never reads or writes a golden. With `CI` set only reports are written.
//! - Record and replay compute keys with the same function, `key::Rules::key`, of calls that another one scrubbed for both.
//! - Only `report` prints. Only `run::golden` names insta. Wire, key, secrets and shapes do no I/O.
//! - Headers of model calls are never stored. What is written or printed of a call has lost its secrets (`secrets`).
//! - Each file that is written appears whole or not at all; the journal loses at most the line that was being written. A
//!   client has the end of an answer only when its line is on disk.
//! - No `unsafe`, no panic on any input, no `process::exit`.

mod audit;
#[cfg(feature = "browser")]
mod browser;
mod cause;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod clients;
mod conversation;
mod drive;
pub mod durable;
mod error;
mod events;
mod files;
mod fixture;
pub mod guide;
mod import;
#[doc(hidden)]
pub mod internal;
mod json;
pub mod key;
mod model;
mod project;
mod report;
mod run;
mod scenario;
mod secrets;
mod system;
mod text;
mod tools;
mod wire;

pub use axum;
pub use conversation::{Answer, Message};
pub use error::{Error, Result};
pub use model::{Miss, MissReason, Replay, ServedTurn, Urls, misses, reset, served};
pub use project::{ReplayModel, ReplayModelBuilder};
pub use run::runner::Suite;
pub use system::{IntoRouter, Stage, service};
pub use tools::{ToolReplay, ToolRun};

/// The README's Rust is compiled with the documentation's.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
