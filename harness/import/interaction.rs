//! One request and its answer as any recorder kept them, on the way to a turn.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::body::{self, Body};
use super::options::Options;
use crate::conversation::Answer;
use crate::fixture::{Exchange, Recorded};
use crate::json::Json;
use crate::secrets::Fired;
use crate::wire::{self, Api, Call, Known, RenderFor, Target};

/// One request and its answer.
#[derive(Clone, Debug)]
pub(super) struct Interaction {
    pub(super) method: String,
    pub(super) url: String,
    /// For rules that tell callers by a header. They are not stored.
    pub(super) headers: HeaderMap,
    pub(super) request: Body,
    /// `None` where it was not recorded.
    pub(super) status: Option<u16>,
    pub(super) content_type: String,
    pub(super) response: Body,
}

/// An interaction of a file, or the reason why it is none.
#[derive(Debug)]
pub(super) struct PlacedInteraction {
    /// Where it is in its file: `interaction 3 (line 120)`.
    pub(super) place: String,
    pub(super) interaction: Result<Interaction, String>,
}

impl Interaction {
    /// The turn that it makes, and what a person should know of it.
    ///
    /// # Errors
    /// Why it makes none.
    pub(super) fn recorded(
        &self,
        options: &Options<'_>,
        known: &mut Known,
        fired: &mut Fired,
    ) -> Result<(Recorded, Option<String>), String> {
        let what = self.what();
        let path = path_of(&self.url).ok_or_else(|| format!("{what}: no URL with a path"))?;
        let method = self.method.to_uppercase();
        let target = Target { method: &method, path };
        if !target.is_post() && !wire::is_of_provider(path) {
            return Err(format!("{what}: not posted, so no model call"));
        }
        let api = target.api().unwrap_or(Api::Opaque);
        let mut request = self.request_json(api).map_err(|reason| format!("{what}: the request: {reason}"))?;
        if api == Api::Opaque && asks_for_a_token(path, &request) {
            return Err(format!("{what}: asks for an OAuth token, which belongs in no fixture"));
        }
        // An answer that is whole went well; of what was cut nobody can tell.
        let status = self.status.unwrap_or(200);
        if !(200..300).contains(&status) && !options.errors {
            return Err(format!("{what}: status {status}; --errors takes answers that failed as well"));
        }
        if self.status.is_none() && api == Api::Opaque {
            return Err(format!("{what}: its status was not recorded, and its answer does not say how it went"));
        }
        let mut response = body::response(status, &self.content_type, self.response.clone());
        let path = options.scrub.text(target.path, fired);
        options.scrub.json(&mut request, fired);
        response.scrub(options.scrub, fired);
        let (output, unread) = match wire::decode_response(api, &response) {
            Ok(answer) => (answer, None),
            Err(_) if status >= 300 => (Answer::untold(format!("answer of status {status}")), None),
            Err(reason) if self.status.is_none() => {
                return Err(format!("{what}: its status was not recorded, and its answer is not whole: {reason}"));
            }
            Err(reason) => (Answer::untold("answer that could not be read"), Some(reason)),
        };
        let exchange =
            Exchange { api, target: Target { path: &path, ..target }, request: &request, response: &response };
        let mut asked_for = None;
        let caller = |call: &Call| {
            let asked = RenderFor { include_usage: true, ..call.render_for("") };
            let sent = wire::respond(&output, Some((api, &response)), &asked);
            asked_for = (sent.as_ref() != Ok(&response)).then_some(if call.stream { "a stream" } else { "JSON" });
            (options.caller)(&self.headers, call)
        };
        let recorded = Recorded::of(&exchange, output.clone(), caller, options.rules, known);
        let recorded = recorded.map_err(|reason| format!("{what}: {reason}"))?;
        let note = match (unread, asked_for) {
            (Some(reason), _) => {
                Some(format!("{what}: the answer is replayed as it came, and over this API only: {reason}"))
            }
            (None, Some(form)) => {
                Some(format!("{what}: asked for {form} and got another form: replay sends what is asked for"))
            }
            (None, None) => None,
        };
        Ok((recorded, note))
    }

    /// `POST https://api.openai.com/v1/responses`, without the query: it may hold a key.
    pub(super) fn what(&self) -> String {
        format!("{} {}", self.method, self.url.split(['?', '#']).next().unwrap_or_default())
    }

    fn request_json(&self, api: Api) -> Result<Json, String> {
        match &self.request {
            Body::Json(json) => Ok(json.clone()),
            Body::Bytes(bytes) if api == Api::Opaque => Ok(wire::request_body(bytes)),
            Body::Bytes(bytes) if bytes.is_empty() => Err("its body was not recorded".to_owned()),
            Body::Bytes(bytes) => Json::parse_request(bytes).map_err(|e| format!("not JSON: {e}")),
        }
    }
}

/// The path of a URL, with its query and without its fragment.
fn path_of(url: &str) -> Option<&str> {
    let url = url.trim().split('#').next().unwrap_or_default();
    let path = match url.split_once("://") {
        Some((_, rest)) => &rest[rest.find('/')?..],
        None => url,
    };
    path.starts_with('/').then_some(path)
}

fn asks_for_a_token(path: &str, request: &Json) -> bool {
    let path = path.split('?').next().unwrap_or_default();
    let grant =
        request.get("grant_type").is_some() || request.as_str().is_some_and(|form| form.contains("grant_type="));
    grant || path.ends_with("/oauth2/token") || path.ends_with("/oauth/token")
}

/// Headers of names and values; what is not a header (HTTP/2's `:path`) is left out.
pub(super) fn headers<'a>(pairs: impl IntoIterator<Item = (&'a str, String)>) -> HeaderMap {
    let header =
        |(name, value): (&str, String)| Some((HeaderName::try_from(name).ok()?, HeaderValue::try_from(value).ok()?));
    pairs.into_iter().filter_map(header).collect()
}

#[cfg(test)]
mod tests;
