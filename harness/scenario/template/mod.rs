//! Templates: texts with `{{ }}` in them, the names that they may use, and the values of these names.

mod code;
mod engine;
mod json;
mod names;
#[expect(clippy::module_inception, reason = "the template itself, among what it works with")]
mod template;
mod turn;
mod vars;

pub(super) use engine::as_text;
pub use json::TemplateJson;
pub(super) use names::Names;
pub use names::{RESERVED, Used};
pub use template::Template;
pub use vars::{Context, Vars};
