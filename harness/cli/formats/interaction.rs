//! One request and its answer from any tool's recording, and how they become a turn.

use std::collections::HashSet;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use url::Url;

use super::body::{self, Body};
use super::foreign::Options;
use retake_core::json::Json;
use retake_core::key::Check;
use retake_core::secrets::Fired;
use retake_wire::fixture::{Exchange, Recorded};
use retake_wire::{self as wire, Api, Call, Known, RenderFor, Target};

/// One request and its answer.
#[derive(Clone, Debug)]
pub(super) struct Interaction {
    /// In capitals.
    pub(super) method: String,
    pub(super) url: String,
    /// For rules that recognize callers by a header. Headers are not stored.
    pub(super) headers: HeaderMap,
    /// An error says why the body cannot be read.
    pub(super) request: Result<Body, String>,
    /// `None` if it was not recorded.
    pub(super) status: Option<u16>,
    pub(super) content_type: String,
    /// Whether the client left before the end of the answer.
    pub(super) left: bool,
    /// An error says why the body cannot be read.
    pub(super) response: Result<Body, String>,
}

/// An interaction in a file, or the reason why it could not be read.
#[derive(Debug)]
pub(super) struct PlacedInteraction {
    /// Where it is in its file: `interaction 3 (line 120)`.
    pub(super) place: String,
    pub(super) interaction: Result<Interaction, String>,
}

/// The hosts to which the interactions of a recording post calls. What else is sent to them is a part of the recording, too.
pub(super) fn hosts_of_calls<'a>(found: impl IntoIterator<Item = &'a PlacedInteraction>) -> HashSet<String> {
    let interactions = found.into_iter().filter_map(|placed| placed.interaction.as_ref().ok());
    interactions.filter_map(Interaction::posts_a_call_to).map(str::to_owned).collect()
}

impl Interaction {
    /// Returns the call for a turn, and a note if a person should know something about it.
    /// An error says why the interaction cannot become a turn.
    pub(super) fn recorded(
        &self,
        options: &Options<'_>,
        hosts: &HashSet<String>,
        known: &mut Known,
        fired: &mut Fired,
    ) -> Result<(Recorded, Option<String>), String> {
        let what = self.what();
        let (_, path) = host_and_path(&self.url).ok_or_else(|| format!("{what}: its URL has no path"))?;
        let target = Target { method: &self.method, path: &path };
        if !self.is_of_recording(hosts) {
            return Err(format!("{what}: not a POST request, so not a model call"));
        }
        let api = target.api().unwrap_or(Api::Opaque);
        let mut request = self.request_json(api).map_err(|reason| format!("{what}: the request: {reason}"))?;
        let api = api.of_body(&request);
        if api == Api::Opaque && asks_for_a_token(&path, &request) {
            return Err(format!("{what}: asks for an OAuth token, which must not be in a fixture"));
        }
        // Without a recorded status, a complete answer counts as a success. Incomplete answers are rejected below.
        let status = self.status.unwrap_or(200);
        if !(200..300).contains(&status) && !options.errors {
            return Err(format!("{what}: status {status}; with --errors, failed answers become turns, too"));
        }
        if self.status.is_none() && api == Api::Opaque {
            return Err(format!("{what}: its status was not recorded, and its answer does not show whether it failed"));
        }
        let answer = self.response.clone().map_err(|reason| format!("{what}: the answer: {reason}"))?;
        // Recorders often keep nothing of what a page or a client read piece by piece.
        let has_content = api != Api::Opaque || self.content_type.contains("event-stream");
        if has_content && (200..300).contains(&status) && answer == Body::Bytes(Vec::new()) {
            return Err(format!("{what}: the answer: its body was not recorded"));
        }
        let mut response = body::response(status, &self.content_type, answer);
        if self.left && response.is_stream() {
            response = response.left_open();
        }
        let path = options.scrub.text(target.path, fired);
        options.scrub.json(&mut request, fired);
        response.scrub(options.scrub, fired);
        let untold = |why: &str| wire::broken_off(api, &response, why);
        let (output, unread) = match wire::decode_response(api, &response) {
            _ if response.is_open() => (untold("an answer that its client left"), None),
            Ok(answer) => (answer, None),
            Err(_) if status >= 300 => (untold(&format!("answer of status {status}")), None),
            Err(reason) if self.status.is_none() => {
                return Err(format!("{what}: its status was not recorded, and its answer cannot be read: {reason}"));
            }
            Err(reason) => (untold("answer that could not be read"), Some(reason)),
        };
        let headers = wire::checked_headers(|name| Some(self.headers.get(name)?.to_str().ok()?.to_owned()));
        let target_now = Target { path: &path, ..target };
        let exchange = Exchange { api, target: target_now, request: &request, headers: &headers, response: &response };
        let mut asked_for = None;
        let caller = |call: &Call| {
            let asked = RenderFor { include_usage: true, ..call.render_for("") };
            let sent = wire::respond(&output, Some((api, &response)), &asked);
            asked_for = (sent.as_ref() != Ok(&response)).then_some(if call.stream { "a stream" } else { "JSON" });
            (options.caller)(&self.headers, call)
        };
        let recorded = Recorded::of(&exchange, output.clone(), caller, options.rules, known);
        let mut recorded = recorded.map_err(|reason| format!("{what}: {reason}"))?;
        // No second replay showed which of them move.
        *recorded.text(Check::Dates) = None;
        if target.version() != offered_version(api) {
            // The base URL differs from replay's, so each call in replay would seem to ask for another form.
            *recorded.text(Check::Form) = None;
        }
        let odd = if output.is_untold() { None } else { wire::oddities(api, &response, &output).into_iter().next() };
        let note = unread
            .map(|reason| format!("the answer is replayed unchanged and only through this API: {reason}"))
            .or_else(|| odd.map(str::to_owned))
            .or_else(|| {
                let form = asked_for?;
                Some(format!("asked for {form} and got another form; replay sends the form that is asked for"))
            });
        let note = note.map(|note| format!("{what}: {note}"));
        Ok((recorded, note))
    }

    /// The method and the URL, as in `POST https://api.openai.com/v1/responses`, without the query, which may contain a key.
    pub(super) fn what(&self) -> String {
        format!("{} {}", self.method, self.url.split(['?', '#']).next().unwrap_or_default())
    }

    fn request_json(&self, api: Api) -> Result<Json, String> {
        match self.request.as_ref().map_err(Clone::clone)? {
            Body::Json(json) => Ok(json.clone()),
            Body::Bytes(bytes) if !api.is_spoken() => Ok(wire::request_body(bytes)),
            Body::Bytes(bytes) if bytes.is_empty() => Err("its body was not recorded".to_owned()),
            Body::Bytes(bytes) => wire::chat_body(bytes),
        }
    }

    /// Whether the request belongs to a recording that posts calls to `hosts`.
    pub(super) fn is_of_recording(&self, hosts: &HashSet<String>) -> bool {
        let (host, _) = host_and_path(&self.url).unwrap_or_default();
        self.method == "POST" || is_of_provider(&self.url) || hosts.contains(host)
    }

    fn posts_a_call_to(&self) -> Option<&str> {
        let (host, path) = host_and_path(&self.url).filter(|_| self.method == "POST")?;
        let request = self.request_json(Api::Opaque).ok()?;
        (!asks_for_a_token(&path, &request)).then_some(host)
    }
}

/// The version in the paths at which replay offers an API to its official SDK.
fn offered_version(api: Api) -> &'static str {
    match api {
        Api::OpenAiChat | Api::OpenAiResponses | Api::Anthropic => "v1",
        Api::Gemini => "v1beta",
        Api::Ollama | Api::Bedrock | Api::BedrockInvoke | Api::Declared(_) | Api::Opaque => "",
    }
}

/// Whether a request belongs to a provider's API, by its host or its path.
pub(super) fn is_of_provider(url: &str) -> bool {
    let host = host_and_path(url).map(|(host, _)| host.split(':').next().unwrap_or_default());
    wire::is_of_provider(url) || host.is_some_and(wire::is_host_of_provider)
}

/// Why an exchange is not one of HTTP, if it says so itself: by its URL, or its headers, which `header` returns.
pub(super) fn unsupported(url: &str, header: impl Fn(&str) -> String) -> Option<&'static str> {
    let is_socket = ["ws://", "wss://"].iter().any(|scheme| url.trim().to_ascii_lowercase().starts_with(scheme));
    if is_socket || header("upgrade").eq_ignore_ascii_case("websocket") {
        return Some("a WebSocket, over which no API is spoken: only HTTP is");
    }
    let is_grpc = header("content-type").to_ascii_lowercase().starts_with("application/grpc");
    is_grpc.then_some("gRPC, which is not spoken: only HTTP with JSON is")
}

/// Splits a URL into its host and its path, with the query and without the fragment; `None` if it has no path. A placeholder may
/// stand for the whole base URL, as in `<API_BASE>/chat/completions`, and may even take the slash with it.
pub(super) fn host_and_path(url: &str) -> Option<(&str, String)> {
    let url = url.trim();
    let (has_scheme, rest) = url.split_once("://").map_or((false, url), |(_, rest)| (true, rest));
    let ends: &[char] = if has_scheme { &['/', '?', '#'] } else { &['/'] };
    let (host, path) = rest.split_at(rest.find(ends).or(has_scheme.then_some(rest.len()))?);
    let path = path.split('#').next().unwrap_or_default();
    let (host, path) = match host.rsplit_once(['>', '}']).filter(|_| !has_scheme) {
        Some((name, begin)) if begin.starts_with(char::is_alphanumeric) => (name, format!("/{begin}{path}")),
        _ if path.starts_with('/') => (host, path.to_owned()),
        _ => (host, format!("/{path}")),
    };
    // As a client sends it: placeholders and spaces are escaped.
    let (path, query) = path.split_at(path.find('?').unwrap_or(path.len()));
    Some((host, format!("{}{query}", Url::parse(&format!("http://host{path}")).ok()?.path())))
}

fn asks_for_a_token(path: &str, request: &Json) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let asks = request.get("grant_type").is_some() || request.as_str().is_some_and(|it| it.contains("grant_type="));
    asks || path.ends_with("/oauth2/token") || path.ends_with("/oauth/token")
}

/// Returns the headers with these names and values. Pairs that are not headers, such as HTTP/2's `:path`, are left out.
pub(super) fn headers<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> HeaderMap {
    let header =
        |(name, value): (&str, String)| Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?));
    pairs.into_iter().filter_map(header).collect()
}

#[cfg(test)]
mod tests;
