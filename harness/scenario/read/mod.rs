//! Reads the TOML files of a project into the types of `scenario`, which need no further checks.
//!
//! Each file is read in two passes: first into structs that mirror the TOML (`raw`, with the small values in `values`), then,
//! part by part, into the types that the rest of the crate works with. A file here has the name of the file of its type.

mod agent;
mod answer;
mod api;
mod body;
mod capture;
mod case;
mod file;
mod json;
mod names;
mod normalize;
mod options;
mod page;
mod raw;
mod request;
pub(super) mod scenario;
mod shared;
mod socket;
mod spanned;
mod step;
pub(super) mod suite;
mod system;
mod toml_file;
mod tool;
mod values;
mod worlds;

pub(super) use file::ScenarioFile;
pub(super) use shared::Shared;

#[cfg(test)]
mod tests;
