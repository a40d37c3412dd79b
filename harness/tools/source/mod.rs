//! Recordings as scripts: one file a form.

mod fixture;
mod openhands;

pub(crate) use fixture::of_fixture;
pub(crate) use openhands::of_conversation;
