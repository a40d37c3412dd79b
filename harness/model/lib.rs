//! The model server, which takes the provider's place for a system under test.
//!
//! In replay it answers each call with the turn that was recorded for it, or with a miss. While recording it passes the call on
//! to the provider and writes down the answer. Agents in the same process can replay without HTTP: see [`Replay`].

#![allow(missing_docs)] // only items whose names do not say it all are documented

mod account;
mod activity;
mod belonging;
mod breakage;
mod call_under_way;
mod callers;
mod checked;
pub mod clients;
mod companion;
mod conversation;
mod drift;
mod echoes;
mod gate;
mod going_on;
mod handler;
mod hold;
mod http;
pub mod kept;
mod lint;
mod load;
mod lookup;
mod matching;
mod miss;
mod other_wires;
mod record;
mod registry;
mod replay;
mod route;
mod run_log;
mod seats;
mod second_look;
mod served;
mod server;
mod session;
pub mod threads;
mod today;
mod workers;
mod worlds;

pub use account::KEPT;
pub use activity::Activity;
pub use breakage::Breakage;
pub use callers::{CallerRule, CallerRules, OfferedTools, When};
pub use checked::Checked;
pub use companion::Companion;
pub use conversation::Conversation;
pub use drift::DriftOf;
pub use gate::Gate;
pub use going_on::GoingOn;
pub use hold::{Hold, InVain, Reading};
pub use http::is_same_key;
pub use lint::{CallFlaw, FlawKind};
pub use load::{Load, Pace, Rate, SessionBy};
pub use lookup::Lookup;
pub use miss::{Difference, Miss, MissReason, MissedCall, RecordedCalls};
pub use miss::{answer_in_short, caller_rule, change, describe, first_difference, who};
pub use record::relay::{self, Relay};
pub use record::{Branch, Cost, OfModel, Recorder, RecorderOptions, Resume, Rewrite, Tally, merged};
pub use registry::{Scope, ServedTurn, forgotten, keep_the_last, misses, reset, served, unjudged};
pub use replay::Replay;
pub use run_log::{CallOutcome, CallSeen, HeardCall, Keeps, RunLog};
pub use seats::Seat;
pub use second_look::Clock;
pub use served::Served;
pub use server::{ModelServer, ServerOptions, Urls, places_here};
pub use session::{Mode, Pacing};
pub use today::{Asker, Comparison, Finding, KeptCall, Limits, TurnCompared};
pub use worlds::{Family, Fault, FaultKind, Staged, Stages, possible as possible_faults};

#[cfg(test)]
mod tests;
