//! Tools: recorded tool calls that are made again, and doubles of tool servers.

pub(crate) mod agent;
pub(crate) mod client;
pub(crate) mod conversation;
pub(crate) mod doubles;
pub(crate) mod plain;
pub(crate) mod snapshot;
pub(crate) mod talking;

pub(crate) const TESTS: &[&[crate::Test]] = &[doubles::TESTS, conversation::TESTS, plain::TESTS, snapshot::TESTS];
