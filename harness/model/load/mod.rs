//! What a model for load tests does besides answering: it sends answers as slowly as a provider, refuses what exceeds a limit,
//! tells equal conversations of several sessions apart, and counts.
//!
//! | file | holds |
//! |---|---|
//! | `pace` | when each piece of an answer is due |
//! | `gate` | the limits, and the calls under way |
//! | `paced` | the HTTP response that keeps to these times |
//! | `session_by` | which session a call belongs to |
//! | `sessions` | the turns that each session can still be served |
//! | `metrics` | the counts, as text for Prometheus |

mod gate;
mod metrics;
mod pace;
mod paced;
mod session_by;
mod sessions;

pub use gate::Rate;
pub(crate) use pace::Draws;
pub use pace::Pace;
pub use session_by::SessionBy;

pub(super) use gate::Pass;
pub(super) use paced::answer;
pub(super) use sessions::Sessions;

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use axum::http::HeaderMap;
use axum::response::Response as HttpResponse;
use tokio::time::Instant;

use super::http;
use gate::Gate;
use metrics::Metrics;
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_wire::{Api, Call, Quota, limit_headers, limited};

/// The state of a server under load.
#[derive(Debug)]
pub struct Load {
    pace: Pace,
    session_by: Option<SessionBy>,
    gate: Gate,
    metrics: Mutex<Metrics>,
}

impl Load {
    /// Starts with no call under way and nothing counted. Answers are sent at this pace, at most `at_once` at the same time and no more than
    /// `rate` within a time, and `session_by` tells the sessions of equal conversations apart.
    pub fn new(pace: Pace, at_once: Option<usize>, rate: Option<Rate>, session_by: Option<SessionBy>) -> Arc<Load> {
        Arc::new(Load { pace, session_by, gate: Gate::new(at_once, rate), metrics: Mutex::default() })
    }

    /// The counts, as text in Prometheus' format.
    pub fn metrics(&self) -> String {
        self.metrics.lock().text(self.gate.in_flight())
    }

    /// How many calls were refused since the start or the last reset; `None` if there is no limit.
    pub fn limited(&self) -> Option<usize> {
        (self.gate.at_once.is_some() || self.gate.rate.is_some()).then(|| whole(self.metrics.lock().limited()))
    }

    /// How many calls named no session since the start or the last reset.
    pub fn without_session(&self) -> usize {
        whole(self.metrics.lock().without_session)
    }

    /// Forgets all counts, and which calls use up the rate. Calls under way stay under way.
    pub fn reset(&self) {
        *self.metrics.lock() = Metrics::default();
        self.gate.reset();
        self.pace.reset();
    }

    /// Admits a call, or returns the response that refuses it.
    pub(super) fn admit(self: &Arc<Load>, call: &Call) -> Result<Pass, Box<HttpResponse>> {
        match self.gate.enter(Instant::now().into_std()) {
            Ok(quota) => Ok(Pass { load: self.clone(), api: call.api, quota, ended: false }),
            Err(quota) => {
                self.metrics.lock().of(call.api).limited += 1;
                let response = limited(call.api, &quota, &call.model, call.array);
                let response = http::headed(&response, response.bytes().into());
                Err(Box::new(limited_by(response, call.api, &quota)))
            }
        }
    }

    /// Counts a request that was refused before it was looked up.
    pub(super) fn refused(&self, api: Api) {
        self.metrics.lock().of(api).missed += 1;
    }

    /// The session that a call belongs to; `None` if sessions are not told apart. All calls that name none are of one session, the
    /// one without a name.
    pub(super) fn session_of(&self, headers: &HeaderMap, call: &Call, request: &Json) -> Option<String> {
        let by = self.session_by.as_ref()?;
        let session = by.of(headers, call, request);
        if session.is_none() {
            self.metrics.lock().without_session += 1;
        }
        Some(session.unwrap_or_default())
    }
}

fn whole(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}

/// Adds the headers by which a client learns how far a limit is used up.
fn limited_by(response: HttpResponse, api: Api, quota: &Quota) -> HttpResponse {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    http::with_headers(response, limit_headers(api, quota, now.try_into().unwrap_or(i64::MAX)))
}
