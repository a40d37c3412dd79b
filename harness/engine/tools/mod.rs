//! Repeats the recorded tool calls of an agent against live tools, without a model.
//!
//! A recording becomes a [`Script`]: its actions in order, where the actions of one model answer form a group.
//! The target of its tool executes each action, and what it returns now is compared with what was recorded. Drift fails the run
//! but does not stop it, so the log of a run is always complete.

mod comparison;
mod difference;
mod double;
mod drift_log;
mod executor;
pub mod explain;
mod live;
mod observed;
pub mod openhands;
mod replay;
mod script;
mod source;
mod tool_replay;

pub use double::{Asked, CallOfTool, Doubles, Given, ToolFault, ToolRequest, ToolWorld, ToolsMode, take_over};
pub use drift_log::DriftLog;
pub use live::Live;
pub use replay::{Outcome, replay};
pub use script::Script;
pub use source::{observe, of_conversation, of_fixture};
pub use tool_replay::{ToolReplay, ToolRun};
