//! x
pub mod conversation;
pub mod error;
pub mod json;
pub mod scenario;
