//! Driving a system: a scenario's steps become requests, and answers become captures and values for later steps.
//!
//! | file | holds |
//! |---|---|
//! | `driver` | the steps, one after another, and what each gives |
//! | `request`, `exchange` | a step's request as it is sent; sending it, and reading its answer |
//! | `stream`, `afterwards`, `listen` | a stream up to its last event; what comes behind that; one that is open while later steps run |
//! | `agent` | a step that runs a command-line agent |
//! | `visit`, `turns` | a step that opens a page; the turns that it may wait for while they are recorded |
//! | `answered` | what came back, and what later steps capture of it |
//! | `cookies` | the cookies of a stage |
//! | `named_values` | values of this run, and what goldens call them |
//! | `underway` | how far a scenario got, and when each step and event was |

mod afterwards;
mod agent;
mod answered;
mod cookies;
mod driver;
mod exchange;
mod listen;
mod named_values;
mod request;
mod stream;
mod turns;
mod underway;
#[cfg(feature = "browser")]
mod visit;

pub(crate) use driver::{Driven, Driver};
pub(crate) use turns::LiveTurns;
pub(crate) use underway::{EventSeen, SoFar, StepTaken, Underway};
