//! Scenarios: from the files in `scenarios/` to types in which nothing is left to check.
//!
//! [`discover()`] reads `suite.toml` and each `scenario.toml`. A file is read twice over: first into what a person typed
//! (`raw`), then into the types that the rest of the crate works with. Every mistake becomes an
//! [`Error`](crate::error::Error) with file, line and column; a scenario with a mistake does not keep the others from
//! running. Names in templates are checked here as well, so a typo shows before a system is started.
//!
//! Nothing is driven here: who runs the steps renders their [`Template`]s with a [`Context`] of the stage's values,
//! which [`Scenario::resolve_vars`] and the captures of each step extend.

mod body;
mod capture;
mod context;
mod discover;
mod options;
mod raw;
mod scope;
mod source;
mod step;
mod step_reader;
mod suite;
mod template;
mod template_json;
mod toml_error;
mod trial;
mod vars;
mod words;

pub use body::{Rendered, StepBody, Upload};
pub use capture::CaptureFrom;
pub use context::Context;
pub(crate) use discover::discover_one;
pub use discover::{Discovered, discover};
pub use options::{Defaults, Drift};
pub use scope::RESERVED;
pub use step::{Action, Method, Request, Run, Step, StreamSpec, Take, Wait};
pub use suite::{AttachedModel, CommandSpec, NormalizeRule, Ready, Suite, SystemSpec, UrlSpec};
pub use template::Template;
pub use template_json::TemplateJson;
pub(crate) use trial::is_name;
#[cfg(feature = "cli")]
pub(crate) use trial::no_name;
pub use trial::{Broken, FixtureRef, Scenario};
pub use vars::Vars;
pub use words::{Delays, Level, Pointer, Unused};

#[cfg(test)]
mod tests;
