//! Everything that is printed or written for people to read. No other module prints.

mod audit_json;
mod audit_text;
mod diff;
mod failure;
mod github;
mod notes;
mod numbers;
mod progress;
mod run_data;
mod running;
mod runs;
mod screen;
pub mod terminal;

pub(crate) use audit_json::audit_json;
pub(crate) use audit_text::audit_text;
pub use diff::unified;
pub use failure::Failure;
pub(crate) use github::{annotation, markdown};
pub(crate) use notes::notes;
pub(crate) use progress::{Progress, summary};
pub(crate) use run_data::*;
pub(crate) use running::Running;
pub(crate) use runs::Runs;
pub(crate) use screen::Screen;
