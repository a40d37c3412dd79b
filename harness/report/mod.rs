//! Everything that is printed or written for a person. Nothing else prints.

mod diff;
mod failure;
mod notes;
#[cfg(feature = "record")]
mod progress;
pub mod terminal;

pub use diff::unified;
#[expect(unused_imports, reason = "the data of a run holds it")]
pub(crate) use failure::Advice;
pub use failure::Failure;
pub(crate) use notes::notes;
#[cfg(feature = "record")]
pub(crate) use progress::{Progress, summary};
