//! What several test programs share: a project in a temporary folder, programs that are started on it, and what both need.

pub(crate) mod fixtures;
pub(crate) mod loopback;
pub(crate) mod program;
pub(crate) mod tree;
