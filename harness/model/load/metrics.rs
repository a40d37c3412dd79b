//! The counts of a server under load, as text for Prometheus.

use std::fmt::Write as _;
use std::time::Duration;

use tokio::time::Instant;

use retake_wire::Api;

/// The upper bounds of lateness in milliseconds.
const BOUNDS: [u64; 9] = [1, 2, 5, 10, 25, 50, 100, 500, 2500];

/// The counts since the start or the last reset.
#[derive(Debug, Default)]
pub(super) struct Metrics {
    of_api: [OfApi; Api::ALL.len()],
    /// How many clients left before the end of their answers.
    pub(super) left: u64,
    pub(super) without_session: u64,
    /// How many pieces were at most as late as each bound, but later than the bound before.
    late: [u64; BOUNDS.len() + 1],
    late_micros: u64,
}

/// The calls over one API, by what became of them.
#[derive(Debug, Default)]
pub(super) struct OfApi {
    pub(super) served: u64,
    pub(super) missed: u64,
    pub(super) limited: u64,
}

impl Metrics {
    /// The calls over an API.
    pub(super) fn of(&mut self, api: Api) -> &mut OfApi {
        &mut self.of_api[Api::ALL.iter().position(|other| *other == api).unwrap_or(Api::ALL.len() - 1)]
    }

    /// Counts a piece that is handed over now.
    pub(super) fn sent(&mut self, due: Instant) {
        let late = Instant::now().saturating_duration_since(due).as_micros();
        let late = u64::try_from(late).unwrap_or(u64::MAX);
        let bucket = BOUNDS.iter().position(|bound| late <= bound * 1000).unwrap_or(BOUNDS.len());
        self.late[bucket] += 1;
        self.late_micros = self.late_micros.wrapping_add(late);
    }

    /// How many calls exceeded a limit.
    pub(super) fn limited(&self) -> u64 {
        self.of_api.iter().map(|of| of.limited).sum()
    }

    /// The counts in Prometheus' text format. An API appears once it was called.
    pub(super) fn text(&self, in_flight: usize) -> String {
        let mut text = String::new();
        let mut family = |name: &str, kind: &str, help: &str, samples: &[(String, String)]| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
            for (rest, value) in samples {
                let _ = writeln!(text, "{name}{rest} {value}");
            }
        };
        let one = |value: u64| vec![(String::new(), value.to_string())];
        let mut calls = Vec::new();
        for (api, of) in Api::ALL.iter().zip(&self.of_api) {
            let counts = [("served", of.served), ("missed", of.missed), ("limited", of.limited)];
            if counts.iter().any(|(_, count)| *count > 0) {
                let sample = |(outcome, count): (&str, u64)| {
                    (format!("{{api=\"{api}\",outcome=\"{outcome}\"}}"), count.to_string())
                };
                calls.extend(counts.map(sample));
            }
        }
        family("retake_calls_total", "counter", "Model calls, by what became of them.", &calls);
        family("retake_calls_in_flight", "gauge", "Model calls that are being answered.", &one(in_flight as u64));
        family("retake_calls_left_total", "counter", "Calls whose client left before the end.", &one(self.left));
        let help = "Calls that named no session, though sessions are told apart.";
        family("retake_calls_without_session_total", "counter", help, &one(self.without_session));
        let mut all = 0;
        let mut late = Vec::new();
        let bounds = BOUNDS.iter().map(|millis| Duration::from_millis(*millis).as_secs_f64().to_string());
        for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(&self.late) {
            all += count;
            late.push((format!("_bucket{{le=\"{bound}\"}}"), all.to_string()));
        }
        late.push(("_sum".to_owned(), Duration::from_micros(self.late_micros).as_secs_f64().to_string()));
        late.push(("_count".to_owned(), all.to_string()));
        let help = "How long after they were due the pieces of delayed answers were sent.";
        family("retake_frame_lateness_seconds", "histogram", help, &late);
        text
    }
}
