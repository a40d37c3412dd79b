//! Imports recordings of other tools. There is one file for each format, and a few for what the formats share.
//!
//! The code for a format finds the interactions of a recording ([`interaction`]). Their requests and answers are decoded like
//! those of a journal, so every key is computed here and never copied. What cannot become a turn is reported with its place.
//! Conversations of OpenHands contain events instead of requests ([`openhands`]). They become turns here, and actions in
//! [`tools`](crate::tools).

#[cfg(feature = "cli")]
mod aimock;
#[cfg(feature = "cli")]
mod body;
#[cfg(feature = "cli")]
mod files;
#[cfg(feature = "cli")]
mod foreign;
#[cfg(feature = "cli")]
mod go_vcr;
#[cfg(feature = "cli")]
mod har;
#[cfg(feature = "cli")]
mod interaction;
pub(crate) mod openhands;
#[cfg(feature = "cli")]
mod options;
#[cfg(feature = "cli")]
mod scalar;
#[cfg(feature = "cli")]
#[cfg(test)]
mod tests;
#[cfg(feature = "cli")]
mod vcr;
#[cfg(feature = "cli")]
mod yaml;

#[cfg(feature = "cli")]
pub(crate) use foreign::{Foreign, to_fixture};
#[cfg(feature = "cli")]
pub(crate) use options::Options;
