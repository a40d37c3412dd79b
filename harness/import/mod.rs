//! Recordings of other tools as turns: one file a format, and what they share.
//!
//! A format's file finds interactions ([`interaction`]); their requests and answers go through the same wires as those of
//! a journal, so that each key is computed and none is taken over. What can become no turn is said with its place.

mod aimock;
mod body;
mod files;
mod foreign;
mod go_vcr;
mod har;
mod interaction;
mod options;
mod scalar;
#[cfg(test)]
mod tests;
mod vcr;
mod yaml;

pub(crate) use foreign::{Foreign, to_fixture};
pub(crate) use options::Options;
