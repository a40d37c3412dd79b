//! The steps of a scenario. [`Step`] has what all steps have in common; its [`Action`] is one kind of step, and each kind has a
//! file of its own.

mod body;
mod event;
mod page;
mod request;
mod socket;
#[expect(clippy::module_inception, reason = "the step itself, among its parts")]
mod step;

pub use body::{RenderedBody, StepBody, Upload};
pub use event::EventSpec;
pub use page::{Act, By, Dialogs, Do, PageVisit, Target};
pub use request::{AnswerAs, Method, Request, WaitFor};
pub use socket::{Framing, SocketOpening, SocketTalk};
pub use step::{Action, AgentRun, CaptureFrom, Step, StreamSpec, without_browser};
