//! Everything that is printed or written for people to read. No other module prints.

mod audit_json;
mod audit_text;
mod check;
mod diff;
mod evidence;
mod failed;
mod failure;
mod fork;
mod github;
pub mod libtest;
mod notes;
mod progress;
mod run_data;
mod running;
mod runs;
mod screen;
pub mod terminal;

pub use audit_json::audit_json;
pub use audit_text::audit_text;
pub use check::{CheckData, CheckResult, check_json, check_text};
pub use diff::{unified, unified_lines};
pub use evidence::Evidence;
pub use failed::Failed;
pub use failure::{Advice, Deed, Failure};
pub use fork::{FORK_FORMAT, ForkData, ForkRow, caller_of, cost_of, fork_table, price_of, table};
pub use github::{annotation, markdown};
pub use notes::{Note, lines_of_run, note_lines, notes};
pub use progress::{Progress, summary};
pub use retake_engine::drive::{ActData, EventData, StepData};
pub use retake_engine::system::{Attempt, Attempts, EgressData, Proof};
pub use run_data::*;
pub use running::Running;
pub use runs::{Runs, as_json, printed};
pub use screen::{Screen, terminal_size};
