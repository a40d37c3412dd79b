//! x
#[cfg(feature = "cli")]
pub mod cli;
pub mod conversation;
mod drive;
pub mod error;
pub mod events;
mod files;
pub mod fixture;
pub mod golden;
pub mod json;
pub mod key;
pub mod model;
mod project;
mod proof;
#[cfg(feature = "record")]
mod recording;
pub mod report;
pub mod scenario;
mod stage;
mod suite;
mod system;
mod trial;
pub mod wire;

pub use axum;
pub use conversation::Message;
pub use error::{Error, Result};
pub use model::{Replay, ReplayModel};
pub use stage::Stage;
pub use suite::Suite;
pub use system::{IntoRouter, service};
