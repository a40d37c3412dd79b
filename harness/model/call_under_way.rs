//! A call of a replay until it is answered.

use tokio::time::Instant;

use super::replay::Replay;
use super::run_log::{Asked, CallOutcome, CallSeen};

/// The most calls of a run that are kept. Nobody reads more.
const KEPT: usize = 2_000;

/// A call that has no answer yet. `None` if calls are not kept.
pub(super) struct CallUnderWay<'a>(Option<(&'a Replay, Instant, String, Asked)>);

impl<'a> CallUnderWay<'a> {
    /// Notes that a call comes now. `call` returns how it came and what it asks; it is not called if calls are not kept.
    pub(super) fn begin(replay: &'a Replay, call: impl FnOnce() -> (String, Asked)) -> CallUnderWay<'a> {
        CallUnderWay(replay.keeps.calls.then(|| {
            let (via, asked) = call();
            (replay, Instant::now(), via, asked)
        }))
    }

    /// Notes how the call was answered.
    pub(super) fn end(self, outcome: CallOutcome) {
        let Some((replay, came, via, asked)) = self.0 else { return };
        let call = CallSeen { came, answered: Instant::now(), via, asked, outcome };
        replay.note(|log| {
            if log.calls.len() < KEPT {
                log.calls.push(call);
            }
        });
    }
}
