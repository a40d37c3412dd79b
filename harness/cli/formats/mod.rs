//! The formats of other tools: imports recordings of other tools. There is one file for each format, and a few for what the formats share.
//!
//! The code for a format finds the interactions of a recording ([`interaction`]). Their requests and answers are decoded like
//! those of a journal, so every key is computed here and never copied. What cannot become a turn is reported with its place.
//! Conversations of OpenHands contain events instead of requests ([`openhands`]). They become turns here, and actions in
//! [`tools`](retake::__private::tools).

mod aimock;
mod body;
mod files;
mod foreign;
mod har;
mod interaction;
pub(crate) mod openhands;
mod requests;
mod scalar;
#[cfg(test)]
mod tests;
pub(crate) mod traces;
mod vcr;
mod yaml;

pub(crate) use foreign::{Foreign, Imported, Options, to_fixture};
pub(crate) use requests::{RequestAtHand, requests};
