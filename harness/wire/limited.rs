//! The answer to a call that exceeds a limit: each provider's own 429, with the headers by which its clients wait and try again.

use std::time::Duration;

use super::{Api, Body, ProviderError, Response};
use retake_core::json::Json;

/// A limit on calls, and how far it is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub of: Limited,
    /// How many calls the limit allows.
    pub limit: usize,
    pub used: usize,
    /// How long until one more call is allowed; zero if one is allowed now.
    pub free_in: Duration,
    /// How long until the whole limit can be used again.
    pub whole_in: Duration,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limited {
    /// Calls under way at the same time.
    AtOnce,
    /// Calls within this time.
    Within(Duration),
}

/// Returns the response to a call that exceeds a limit. `array` says whether the call asked for a stream as one JSON array, in
/// which Gemini sends its errors too.
pub fn limited(api: Api, quota: &Quota, model: &str, array: bool) -> Response {
    let (kind, message) = match api {
        Api::OpenAiChat | Api::OpenAiResponses | Api::Declared(_) | Api::Opaque => {
            ("requests", of_openai(quota, model))
        }
        Api::Anthropic => ("rate_limit_error", of_anthropic(quota)),
        Api::Gemini => ("RESOURCE_EXHAUSTED", of_gemini(quota, model)),
        Api::Ollama => ("", of_ollama(quota)),
        Api::Bedrock | Api::BedrockInvoke => {
            ("ThrottlingException", "Too many requests, please wait before trying again.".to_owned())
        }
    };
    let (code, request) = (Some("rate_limit_exceeded"), Some("req_of_retake"));
    let details = gemini_details(quota, model);
    let error = ProviderError { status: 429, kind, message: &message, code, request, details }.body(api);
    let error = if api == Api::Gemini && array { Json::Array(vec![error]) } else { error };
    let content_type = if api == Api::Gemini { "application/json; charset=UTF-8" } else { "application/json" };
    Response::of(429, content_type, Body::json(&error))
}

/// Returns the headers that tell a client how far a limit is used up: those of the 429, or those of any other answer. `now` is the
/// time in seconds since 1970, which Anthropic's headers hold.
pub fn limit_headers(api: Api, quota: &Quota, now: i64) -> Vec<(&'static str, String)> {
    let (limit, remaining) = (quota.limit.to_string(), quota.limit.saturating_sub(quota.used).to_string());
    let (names, reset) = match api {
        Api::OpenAiChat | Api::OpenAiResponses | Api::Declared(_) | Api::Opaque => {
            (OF_OPENAI, go_duration(quota.whole_in))
        }
        Api::Anthropic => (OF_ANTHROPIC, rfc3339(now, quota.whole_in)),
        // Gemini says in the body how long to wait, and the others do not say it.
        Api::Gemini | Api::Ollama | Api::Bedrock | Api::BedrockInvoke => return Vec::new(),
    };
    let mut headers = Vec::new();
    if matches!(quota.of, Limited::Within(_)) {
        headers.extend(names.into_iter().zip([limit, remaining, reset]));
    }
    if !quota.free_in.is_zero() {
        headers.push(("retry-after", seconds(quota.free_in).to_string()));
        headers.extend((api != Api::Anthropic).then(|| ("retry-after-ms", millis(quota.free_in).to_string())));
    }
    headers
}

/// The headers in which a provider tells a limit, what is left of it, and when all of it is free again.
const OF_OPENAI: [&str; 3] =
    ["x-ratelimit-limit-requests", "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests"];
const OF_ANTHROPIC: [&str; 3] = [
    "anthropic-ratelimit-requests-limit",
    "anthropic-ratelimit-requests-remaining",
    "anthropic-ratelimit-requests-reset",
];

fn of_openai(quota: &Quota, model: &str) -> String {
    let model = if model.is_empty() { "this model" } else { model };
    let (wait, Quota { limit, used, .. }) = (go_duration(quota.free_in), quota);
    let Limited::Within(time) = quota.of else {
        return format!("Too many concurrent requests for {model}: Limit {limit}. Please try again in {wait}.");
    };
    let [_, _, per, short] = unit(time);
    format!(
        "Rate limit reached for {model} on requests per {per} ({short}): Limit {limit}, Used {used}, Requested 1. \
         Please try again in {wait}. Visit https://platform.openai.com/account/rate-limits to learn more."
    )
}

fn of_anthropic(quota: &Quota) -> String {
    match quota.of {
        Limited::AtOnce => {
            "Number of concurrent connections has exceeded your rate limit. Please try again later or contact \
             sales at https://www.anthropic.com/contact-sales to discuss your options for a rate limit increase."
                .to_owned()
        }
        Limited::Within(time) => format!(
            "This request would exceed your organization's rate limit of {} requests per {}. For details, refer to: \
             https://docs.claude.com/en/api/rate-limits. You can see the response headers for current usage.",
            quota.limit,
            unit(time)[0]
        ),
    }
}

/// The page about Gemini's limits.
const GEMINI_LIMITS: &str = "https://ai.google.dev/gemini-api/docs/rate-limits";
/// What Gemini counts.
const GEMINI_METRIC: &str = "generativelanguage.googleapis.com/generate_content_requests";

fn of_gemini(quota: &Quota, model: &str) -> String {
    if quota.of == Limited::AtOnce {
        return "Resource has been exhausted (e.g. check quota).".to_owned();
    }
    let (wait, limit) = (format!("{:.3}", quota.free_in.as_secs_f64()), quota.limit);
    format!(
        "You exceeded your current quota, please check your plan and billing details. For more information on this error, head \
         to: {GEMINI_LIMITS}.\n* Quota exceeded for metric: {GEMINI_METRIC}, limit: {limit}, model: {model}\nPlease retry in {wait}s."
    )
}

/// What Gemini tells about a limit on calls within a time, besides its message.
fn gemini_details(quota: &Quota, model: &str) -> Option<Json> {
    let Limited::Within(time) = quota.of else { return None };
    let [_, per, ..] = unit(time);
    let dimensions = Json::object([("location", Json::from("global")), ("model", model.into())]);
    let violation = Json::object([
        ("quotaMetric", Json::from(GEMINI_METRIC)),
        ("quotaId", Json::Str(format!("GenerateRequestsPer{per}PerProjectPerModel"))),
        ("quotaDimensions", dimensions),
        ("quotaValue", Json::Str(quota.limit.to_string())),
    ]);
    let about = ("description", Json::from("Learn more about Gemini API quotas"));
    let link = Json::object([about, ("url", GEMINI_LIMITS.into())]);
    let detail = |kind: &str, name: &'static str, value: Json| {
        Json::object([("@type", Json::Str(format!("type.googleapis.com/google.rpc.{kind}"))), (name, value)])
    };
    Some(Json::Array(vec![
        detail("QuotaFailure", "violations", Json::Array(vec![violation])),
        detail("Help", "links", Json::Array(vec![link])),
        detail("RetryInfo", "retryDelay", Json::Str(format!("{}s", seconds(quota.free_in)))),
    ]))
}

fn of_ollama(quota: &Quota) -> String {
    match quota.of {
        Limited::AtOnce => "too many concurrent requests".to_owned(),
        Limited::Within(time) => format!("you've reached your limit of {} requests per {}", quota.limit, unit(time)[0]),
    }
}

/// The names of the time of a limit: the word, as it begins with a capital, as OpenAI shortens it, and OpenAI's name for the rate.
fn unit(time: Duration) -> [&'static str; 4] {
    match time.as_secs() {
        1 => ["second", "Second", "sec", "RPS"],
        60 => ["minute", "Minute", "min", "RPM"],
        _ => ["hour", "Hour", "hour", "RPH"],
    }
}

/// Returns whole seconds, rounded up: a client that waits that long is not refused again.
fn seconds(time: Duration) -> u64 {
    time.as_millis().div_ceil(1000).max(1).try_into().unwrap_or(u64::MAX)
}

fn millis(time: Duration) -> u128 {
    time.as_micros().div_ceil(1000).max(1)
}

/// Returns a time as OpenAI's headers write it: `120ms`, `1.2s`, `6m0s`.
fn go_duration(time: Duration) -> String {
    let millis = time.as_micros().div_ceil(1000);
    match millis {
        0..1000 => format!("{millis}ms"),
        1000..60_000 => format!("{}s", thousandths(millis)),
        _ => {
            let (hours, minutes) = (millis / 3_600_000, millis / 60_000 % 60);
            let hours = if hours > 0 { format!("{hours}h") } else { String::new() };
            format!("{hours}{minutes}m{}s", thousandths(millis % 60_000))
        }
    }
}

fn thousandths(millis: u128) -> String {
    let text = format!("{}.{:03}", millis / 1000, millis % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn rfc3339(now: i64, after: Duration) -> String {
    let at = now.saturating_add_unsigned(seconds(after));
    let Ok(at) = time::OffsetDateTime::from_unix_timestamp(at) else { return String::new() };
    format!("{}T{:02}:{:02}:{:02}Z", at.date(), at.hour(), at.minute(), at.second())
}

#[cfg(test)]
mod tests;
