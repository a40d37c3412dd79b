//! Systems under test: how each kind is started, reached and ended.

mod in_process;

pub use in_process::{InProcess, IntoRouter, RouterFactory, service};
