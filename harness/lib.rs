//! x
pub mod conversation;
pub mod error;
mod files;
pub mod fixture;
pub mod json;
pub mod key;
pub mod model;
pub mod scenario;
pub mod wire;

pub use conversation::Message;
pub use error::{Error, Result};
pub use model::{Replay, ReplayModel};
