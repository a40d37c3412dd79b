//! Systems under test: how each kind is started, reached and ended.

mod in_process;

pub(crate) use in_process::{InProcess, RouterFactory, listen};
pub use in_process::{IntoRouter, service};
