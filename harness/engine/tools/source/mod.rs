//! Turns recordings into scripts, with one file for each format.

mod exchanges;
mod fixture;
mod openhands;

pub use exchanges::observe;
pub use fixture::of_fixture;
pub use openhands::of_conversation;
