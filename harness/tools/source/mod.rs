//! Turns recordings into scripts, with one file for each format.

mod fixture;
mod openhands;

pub use fixture::of_fixture;
pub use openhands::of_conversation;
