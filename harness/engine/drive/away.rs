//! The client of a world that leaves a stream, comes back to it, or comes a second time.

use std::sync::Arc;
use std::time::Duration;

use retake_base::lock::Mutex;
use retake_core::events::Event;
use retake_model::{FaultKind, Gate};
use retake_scenario::Back;

/// What the client does at an event of a step's stream; or in whatever step it is when the system is killed. Clones share what it saw.
#[derive(Clone, Debug)]
pub struct Away {
    /// What its client does there.
    pub does: FaultKind,
    /// The index of the step.
    pub step: usize,
    /// The number of the event at which it does it, counted from 1; 0 if no event is the place.
    pub event: usize,
    /// How many calls whose answers are held have come when the service does nothing more.
    pub asked: usize,
    /// How many steps and events the client has then, if that is known.
    pub due: Option<usize>,
    /// How long no call comes until a run without its client has ended, or goes on no more.
    pub quiet: Duration,
    /// How it comes back.
    pub back: Option<Back>,
    /// What holds answers back until it has done it; or knows when the system was killed, and when it runs again.
    pub gate: Gate,
    /// What was seen while it was away.
    pub seen: Arc<Mutex<AwaySeen>>,
}

/// What the client saw.
#[derive(Clone, Debug, Default)]
pub struct AwaySeen {
    /// What came to it before it left; if it stayed, all that came.
    pub first: Vec<Event>,
    /// The status with which it was received the second time, and what came then.
    pub again: Option<(u16, Vec<Event>)>,
    /// The index of the step whose stream a kill broke off.
    pub step: Option<usize>,
    /// Whether it then sent its request once more, since there is no other way back.
    pub anew: bool,
}
