//! The parts of a project that matter for model calls: its rules for keys and callers, and its secrets. All code that answers
//! or records model calls opens the project here, so they all interpret a fixture in the same way.
//!
//! | file | holds |
//! |---|---|
//! | `open_project` | opens a project, which it can find from one of its files |
//! | `replay_model` | replays a fixture over HTTP, without the runner |
//! | `replay` | replays a fixture to an agent in the same process |

mod open_project;
mod replay;
mod replay_model;

pub use open_project::{OpenProject, folder_of};
pub use replay::Replay;
pub use replay_model::{ReplayModel, ReplayModelBuilder};
