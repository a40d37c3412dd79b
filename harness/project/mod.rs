//! A project as far as model calls go: what its suite says of keys and callers, and what is secret. Whatever answers or
//! records model calls opens it here, so that a fixture means the same to all of them.
//!
//! | file | holds |
//! |---|---|
//! | `open_project` | the project that a file lies in, opened |
//! | `declared` | the names of its secrets |
//! | `replay_model` | fixtures of it, replayed without a runner |

mod declared;
mod open_project;
mod replay_model;

pub(crate) use open_project::OpenProject;
#[cfg(feature = "cli")]
pub(crate) use open_project::folder_of;
pub use replay_model::{ReplayModel, ReplayModelBuilder};
