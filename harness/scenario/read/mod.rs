//! From the TOML of a project to the types of this room, in which nothing is left to check.
//!
//! Each file is read twice over: first into what a person typed (`raw`, with the small values in `values`), then, part by
//! part, into the type that the rest of the crate works with; the file here is called as that of the type is.

mod agent;
mod answer;
mod body;
mod capture;
mod case;
mod extends;
mod fields;
mod file;
mod golden;
mod json;
mod names;
mod normalize;
mod options;
mod page;
mod raw;
mod recording;
mod request;
pub(super) mod scenario;
mod spanned;
mod step;
pub(super) mod suite;
mod system;
mod toml_file;
mod tool;
mod values;
mod vars;

pub use fields::{scenario_fields, suite_fields};
pub(super) use file::ScenarioFile;

#[cfg(test)]
mod tests;
