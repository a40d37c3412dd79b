//! Everything that is printed or written for a person. Nothing else prints.

mod audit_json;
mod audit_text;
mod diff;
mod failure;
mod notes;
#[cfg(feature = "record")]
mod progress;
pub mod terminal;

pub(crate) use audit_json::audit_json;
pub(crate) use audit_text::audit_text;
pub use diff::unified;
#[expect(unused_imports, reason = "the data of a run holds it")]
pub(crate) use failure::Advice;
pub use failure::Failure;
pub(crate) use notes::notes;
#[cfg(feature = "record")]
pub(crate) use progress::{Progress, summary};
