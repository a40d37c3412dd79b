//! What a step is: [`Step`] holds what every step has, and its [`Action`] is a kind of step, each in a file of its own.

mod agent;
mod body;
mod capture;
mod page;
mod request;
#[expect(clippy::module_inception, reason = "the step itself, among its parts")]
mod step;
mod stream;

pub use agent::AgentRun;
pub use body::{RenderedBody, StepBody, Upload};
pub use capture::CaptureFrom;
pub use page::{Act, By, Do, PageVisit, Target};
pub use request::{AnswerAs, Method, Request, WaitFor};
pub(crate) use step::without_browser;
pub use step::{Action, Step};
pub use stream::StreamSpec;
