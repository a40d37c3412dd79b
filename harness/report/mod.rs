//! Everything that is printed or written for people to read. No other module prints.

mod audit_json;
mod audit_text;
#[cfg(feature = "cli")]
mod coloured;
#[cfg(feature = "cli")]
pub(crate) mod columns;
#[cfg(feature = "cli")]
mod conversation;
mod diff;
#[cfg(feature = "cli")]
mod explain;
mod failure;
#[cfg(feature = "cli")]
mod form;
mod github;
mod notes;
#[cfg(any(feature = "cli", feature = "record"))]
mod numbers;
#[cfg(feature = "cli")]
mod page;
#[cfg(feature = "record")]
mod progress;
mod run_data;
mod running;
mod runs;
mod screen;
#[cfg(feature = "cli")]
mod side_by_side;
pub mod terminal;

pub(crate) use audit_json::audit_json;
pub(crate) use audit_text::audit_text;
#[cfg(feature = "cli")]
pub(crate) use coloured::Diff;
#[cfg(feature = "cli")]
pub(crate) use conversation::Shown;
pub use diff::unified;
#[cfg(feature = "cli")]
pub(crate) use explain::explained;
pub use failure::Failure;
#[cfg(feature = "cli")]
pub(crate) use form::{ReportForm, report};
pub(crate) use github::{annotation, markdown};
pub(crate) use notes::notes;
#[cfg(feature = "record")]
pub(crate) use progress::{Progress, summary};
pub(crate) use run_data::*;
pub(crate) use running::Running;
pub(crate) use runs::Runs;
pub(crate) use screen::Screen;
