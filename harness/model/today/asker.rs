//! Asks the provider a call, as the recorder would, and says whether its answer can be compared.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::kept_call::KeptCall;
use crate::activity::Activity;
use crate::record::relay::Relay;
use crate::record::{Recorder, RecorderOptions};
use retake_base::text::clipped;
use retake_core::json::Json;
use retake_core::secrets::Secrets;
use retake_wire::fixture::call_log::CallLog;
use retake_wire::{self as wire, Api, Body, Response};

/// How much may be asked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// The most calls; `None` if there is no limit.
    pub calls: Option<u64>,
    /// The most tokens, read and written.
    pub tokens: Option<u64>,
}

/// Asks the provider, and counts what it costs.
#[derive(Debug)]
pub struct Asker {
    recorder: Recorder,
    limits: Limits,
    calls: AtomicU64,
    tokens: AtomicU64,
}

/// How much of a provider's error is shown.
const SHOWN: usize = 300;

/// What providers write into errors of status 400 when the account is empty, instead of using another status.
const UNPAID: [&str; 3] = ["credit balance", "insufficient_quota", "billing"];

impl Asker {
    /// Makes an asker. The journal is one that nobody will read.
    pub fn new(relay: Relay, journal: CallLog, secrets: Secrets, limits: Limits) -> Asker {
        let options = RecorderOptions { secrets, errors: true, delays: false, watch: Arc::new(|_| {}), resume: None };
        let recorder = Recorder::new(relay, journal, options);
        Asker { recorder, limits, calls: AtomicU64::new(0), tokens: AtomicU64::new(0) }
    }

    /// How many calls were made, and how many tokens they took, as far as the answers say.
    pub fn spent(&self) -> (u64, u64) {
        (self.calls.load(Ordering::Relaxed), self.tokens.load(Ordering::Relaxed))
    }

    /// Asks the provider.
    ///
    /// # Errors
    /// Says why the provider's answer cannot be compared.
    pub async fn ask(&self, kept: &KeptCall) -> Result<Response, String> {
        let ((calls, tokens), expected) = (self.spent(), kept.tokens());
        if let Some(most) = self.limits.calls.filter(|most| calls >= *most) {
            return Err(format!("the limit is reached: --max-calls {most}"));
        }
        if let Some(most) = self.limits.tokens.filter(|most| tokens.saturating_add(expected) > *most) {
            return Err(format!("with about {expected} tokens it would exceed the limit: --max-tokens {most}"));
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        let (api, troubles) = (kept.call.api, self.recorder.troubles().len());
        let answer = self.recorder.pass_on(kept.call.clone(), Activity::default().begin()).await;
        if let Some(trouble) = self.recorder.troubles().get(troubles) {
            return Err(trouble.clone());
        }
        let status = answer.status().as_u16();
        let content_type = answer.headers().get("content-type").and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        let content_type = content_type.to_owned();
        let bytes = axum::body::to_bytes(answer.into_body(), usize::MAX).await;
        let bytes = bytes.map_err(|_| "the provider closed the connection before the end of its answer".to_owned())?;
        let response = Response::received(status, &content_type, bytes.to_vec());
        let usage = wire::decode_response(api, &response).ok().and_then(|answer| answer.usage);
        let spent = usage.map_or(if status < 300 { expected } else { 0 }, |usage| usage.input + usage.output);
        self.tokens.fetch_add(spent, Ordering::Relaxed);
        let recorded = kept.served.turn().wire.as_ref().map(|wire| &wire.response);
        incomparable(api, &response, recorded).map_or(Ok(response), Err)
    }
}

/// Why an answer tells nothing about the provider's API: the provider was busy, refused the key, or broke off. `None` if it does.
fn incomparable(api: Api, response: &Response, recorded: Option<&Response>) -> Option<String> {
    let failed = wire::decode_response(api, response).err().map(|why| clipped(&why.to_string(), SHOWN).into_owned());
    let status = response.status;
    let unpaid = || {
        let text = String::from_utf8_lossy(&response.bytes()).to_lowercase();
        UNPAID.iter().any(|word| text.contains(word))
    };
    if matches!(status, 300..=399 | 401 | 402 | 403 | 407 | 408 | 425 | 429 | 500..) || (status >= 400 && unpaid()) {
        return Some(format!("the provider answered with {}", failed.unwrap_or_else(|| format!("status {status}"))));
    }
    let failed = failed.filter(|_| status < 300)?;
    let reports = |response: &Response| events(&response.body).iter().any(reports_an_error);
    if reports(response) {
        let said = format!("the provider reported an error instead of the rest of its answer: {failed}");
        return Some(said).filter(|_| !recorded.is_some_and(reports));
    }
    // A stream that lacks more than fields: it does not end like the recorded one.
    let end = |response: &Response| match &response.body {
        Body::Frames(frames) => {
            let last = frames.iter().filter(|frame| !frame.trim().is_empty()).last().unwrap_or_default();
            let kind = events_of(last).last().and_then(|event| event.str_of("type").map(str::to_owned));
            Some(kind.unwrap_or_else(|| if last.contains("[DONE]") { "[DONE]".to_owned() } else { String::new() }))
        }
        _ => None,
    };
    let last = end(response)?;
    let broke_off = last.is_empty() || recorded.and_then(end).is_some_and(|recorded| recorded != last);
    broke_off.then(|| format!("the provider's stream broke off: {failed}"))
}

fn events(body: &Body) -> Vec<Json> {
    match body {
        Body::Frames(frames) => frames.iter().flat_map(events_of).collect(),
        Body::Json(json) => vec![json.json()],
        Body::Text(_) | Body::Binary(_) => Vec::new(),
    }
}

fn events_of(frame: &str) -> Vec<Json> {
    let lines = frame.lines().map(|line| line.strip_prefix("data:").unwrap_or(line).trim());
    lines.filter(|line| line.starts_with('{')).filter_map(|line| Json::parse(line.as_bytes()).ok()).collect()
}

fn reports_an_error(event: &Json) -> bool {
    let error = |of: &Json| of.get("error").is_some_and(|error| *error != Json::Null);
    error(event) || event.get("response").is_some_and(error) || event.str_of("type") == Some("error")
}

#[cfg(test)]
mod tests;
