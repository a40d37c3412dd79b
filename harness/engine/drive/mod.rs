//! Drives a system: turns a scenario's steps into requests, and the answers into parts of the golden and values for later steps.
//!
//! | file | contents |
//! |---|---|
//! | `driver` | runs the steps one after another, and collects their results |
//! | `request`, `exchange` | a step's rendered request; sending it, and reading its answer |
//! | `stream`, `afterwards` | a stream up to its last event; what comes after that |
//! | `listen` | a stream that is open while later steps run |
//! | `socket`, `framing` | a WebSocket, and what the messages on it mean |
//! | `agent` | a step that runs a command-line agent |
//! | `visit` | a step that opens a page |
//! | `answered` | an answer, and the values that are captured from it |
//! | `away`, `leaving` | the client of a world that leaves a stream, comes back to it, or comes a second time |
//! | `cookies` | the cookies of a stage |
//! | `named_values` | values of this run, and the names that goldens show in place of them |
//! | `underway` | how far a scenario has come, and when each step and event happened |

mod afterwards;
mod agent;
mod answered;
mod away;
mod cookies;
mod driver;
mod exchange;
mod framing;
mod leaving;
mod listen;
mod named_values;
mod request;
mod socket;
mod stream;
mod underway;
#[cfg(feature = "browser")]
mod visit;

pub use away::{Away, AwaySeen};
pub use driver::{Driven, Driver, LiveTurns};
pub use stream::EMPTY_STREAM;
pub use underway::{ActData, EventData, GivingUp, SoFar, StepData, Underway, milliseconds};
