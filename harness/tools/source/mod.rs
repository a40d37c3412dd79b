//! Turns recordings into scripts, with one file for each format.

mod fixture;
mod openhands;

pub(crate) use fixture::of_fixture;
pub(crate) use openhands::of_conversation;
