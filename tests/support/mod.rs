//! What several test programs share: projects in temporary folders, programs to start on them, fixtures, and HTTP.

pub(crate) mod fixtures;
pub(crate) mod loopback;
pub(crate) mod program;
pub(crate) mod tree;
