//! Recordings of other tools: one file a format, and what they share.
//!
//! A format's file finds interactions ([`interaction`]); their requests and answers go through the same wires as those of
//! a journal, so that each key is computed and none is taken over. What can become no turn is said with its place.
//! Conversations of OpenHands hold no requests but events ([`openhands`]): they become turns here, and actions in
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
