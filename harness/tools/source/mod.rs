//! Turns recordings into scripts, with one file for each format.

mod exchanges;
mod fixture;
mod openhands;

pub(crate) use exchanges::observe;
pub(crate) use fixture::of_fixture;
pub(crate) use openhands::of_conversation;
