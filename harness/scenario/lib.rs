//! Scenarios: reads the files in `scenarios/` into types that need no further checks.
//!
//! [`discover()`] reads `suite.toml` and each `scenario.toml`. Each file is read in two passes: first into structs that mirror
//! the TOML (`read/raw`), then into the types that the rest of the crate works with. Every mistake becomes an
//! [`Error`](retake_base::error::Error) with file, line and column, and a broken scenario does not keep the others from
//! running. Names in templates are checked here as well, so a typo shows before a system is started.
//!
//! Nothing runs here. Whoever runs the steps renders their [`Template`]s with a [`Context`] of the stage's values,
//! to which [`Scenario::resolve_vars`] and the captures of each step add more.
//!
//! # Where does new code go?
//!
//! The types do not know how they are read. All reading is in `read/`, and every option begins there as a field of `read/raw`.
//!
//! | a new … | its type | how it is read |
//! |---|---|---|
//! | kind of step | a file in `step/`, and a variant of [`Action`] | a file in `read/`, called by `read/step` |
//! | field of a request, of an agent | `step/request`, `step/step` | `read/request`, `read/agent` |
//! | act on a page | `step/page` | `read/page` |
//! | option of a suite, a scenario and a case | `options`, passed on by `scenario` | `read/options`; for cases `read/case` |
//! | field of a scenario alone | `scenario` | `read/scenario`; for cases `read/case` |
//! | option of the golden | `events/options` | `read/options`; for cases `read/case` |
//! | table of `suite.toml` | `suite`, `system`, `tool` | `read/suite`, `read/system`, `read/tool` |
//! | word, unit or pattern as a value | next to the field that uses it | `read/values` |
//! | name that templates may use | `template/names` | |

#![allow(missing_docs)] // only items whose names do not say it all are documented

pub mod declared;
mod discover;
mod name;
mod options;
mod pointer;
mod read;
mod scenario;
mod source;
mod step;
mod suite;
mod system;
mod template;
mod tool;

pub use discover::{Discovered, discover, discover_some, name_of, suite_of};
pub use name::{SCENARIOS, is_name, no_name};
pub use options::{
    Back, Budget, ClockFrom, Cost, Crash, Defaults, Delays, Drift, Egress, ForkTools, Leaves, Level, NormalizeRule,
    Panics, Unused, Worlds,
};
pub use pointer::Pointer;
pub use scenario::{Broken, FixtureRef, Scenario, ToolsFrom, ToolsRun, Unobserved};
pub use step::{
    Act, Action, AgentRun, AnswerAs, By, CaptureFrom, Dialogs, Do, EventSpec, Framing, Method, PageVisit, RenderedBody,
    Request, SocketOpening, SocketTalk, Step, StepBody, StreamSpec, Target, Upload, WaitFor, without_browser,
};
pub use suite::{Price, Suite};
pub use system::{AttachedModel, CommandSpec, Ready, SystemSpec, UrlSpec, needs};
pub use template::{Context, RESERVED, Template, TemplateJson, Used, Vars};
pub use tool::{ToolBy, ToolCommand, ToolSpec, ToolUrl};

// On GitHub, what stands at the end of a page says where a name leads. Of two definitions, the first one counts.
#[doc = "[reference_scenario#templates]: crate::reference_scenario#templates"]
#[doc = include_str!("reference_suite.md")]
pub mod reference_suite {}
#[doc = include_str!("reference_scenario.md")]
pub mod reference_scenario {}

#[cfg(test)]
mod tests;
