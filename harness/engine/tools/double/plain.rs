//! The double of a plain HTTP tool: any method, and any path below its address. Its exchanges are kept in the form of those with MCP
//! servers. The parameters are path, query and body, so that rules and secrets count in each; the result is the headers and the body of
//! the answer. Of the headers of a request, the names are kept, and of values that hold no keys four digits of a hash.

use std::borrow::Cow;
use std::collections::BTreeMap;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;

use retake_core::events::{each_uuid, is_held_header};
use retake_core::json::{Json, Layout, Object};
use retake_core::key::{Hash, Normalizer, dates, id_hashes};
use retake_core::secrets::names_secret;
use retake_wire::fixture::ToolId;

/// What clients of HTTP send by themselves, besides the headers of transport and traces.
const OF_CLIENTS: &str = "accept-charset accept-encoding baggage cache-control content-encoding content-type expect host http2-settings \
    pragma priority proxy-connection user-agent";

/// The header that names a request.
const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// A request to a plain HTTP tool, as it came.
pub(super) struct Plain {
    pub(super) method: Method,
    /// The path below the tool's address, with the query.
    pub(super) below: String,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

impl Plain {
    /// The headers that the agent chose, in alphabetical order: those that its client does not send by itself. Each is a name, and once
    /// more with a hash of its value, of a secret's only the scheme: `x-tenant: 5c1e`. Days and ids in it have names; ids are told as they
    /// are, too, since not each is random.
    pub(super) fn chosen(&self) -> Vec<String> {
        let normalizer = Normalizer::default();
        let prints = |(name, told): (&str, Option<String>)| {
            let told = told.as_deref();
            let as_it_is = told.filter(|told| !dates(told).is_truthy()).map(Cow::Borrowed);
            let print = |of: Cow<'_, str>| format!("{name}: {}", &Hash::of(of.as_bytes()).short()[..4]);
            [Some(name.to_owned()), told.map(|told| print(normalizer.apply(told))), as_it_is.map(print)]
        };
        let mut all: Vec<String> = self.told().flat_map(prints).flatten().collect();
        all.sort();
        all.dedup();
        all
    }

    /// The ids in its headers and parameters.
    pub(super) fn ids(&self) -> Vec<ToolId> {
        let id = |hash, at: &str| ToolId { hash, at: at.to_owned(), told: None };
        let of_header = |(name, told): (&str, Option<String>)| {
            let told = told.unwrap_or_default();
            let mut ids: Vec<String> = id_hashes(&told).collect();
            if ids.is_empty() && name == IDEMPOTENCY_KEY {
                ids.push(Hash::of(told.as_bytes()).short());
            }
            ids.into_iter().map(|hash| id(hash, name)).collect::<Vec<_>>()
        };
        let mut ids: Vec<ToolId> = self.told().flat_map(of_header).collect();
        ids.sort_by(|one, other| one.at.cmp(&other.at));
        each_uuid(&self.params(), &mut |pointer, hash| ids.push(id(hash, pointer)));
        ids
    }

    /// The names of the headers that the agent chose, each with what may be told of its value.
    fn told(&self) -> impl Iterator<Item = (&str, Option<String>)> {
        let takes_any =
            move |name: &str| self.headers.get_all(name).iter().any(|value| value.as_bytes().contains(&b'*'));
        let is_any = move |name: &str| matches!(name, "accept" | "accept-language") && takes_any(name);
        let of_clients = move |name: &str| OF_CLIENTS.split(' ').any(|of| of == name) || is_any(name);
        let by_itself =
            move |name: &str| of_clients(name) || name.starts_with("sec-") || name.starts_with("x-stainless-");
        let told = move |name: &str| {
            let values = self.headers.get_all(name).iter().map(|value| String::from_utf8_lossy(value.as_bytes()));
            let values = values.collect::<Vec<_>>().join(", ");
            // One that names a request is none of a secret (draft-ietf-httpapi-idempotency-key-header), nor is the scheme before one (RFC 9110, 11.4).
            let is_secret = name.contains("auth") || names_secret(name) && name != IDEMPOTENCY_KEY;
            if is_secret { values.split_once(' ').map(|(scheme, _)| scheme.to_owned()) } else { Some(values) }
        };
        let names = self.headers.keys().map(HeaderName::as_str);
        names.filter(move |of| is_held_header(of) && !by_itself(of)).map(move |name| (name, told(name)))
    }

    /// The parameters of its exchange.
    pub(super) fn params(&self) -> Json {
        let (path, query) = self.below.split_once('?').unwrap_or((&self.below, ""));
        let mut fields: BTreeMap<String, Vec<Json>> = BTreeMap::new();
        for (name, value) in url::form_urlencoded::parse(query.as_bytes()) {
            fields.entry(name.into_owned()).or_default().push(Json::Str(value.into_owned()));
        }
        let one = |mut values: Vec<Json>| if values.len() == 1 { values.remove(0) } else { Json::Array(values) };
        let has_query = !fields.is_empty();
        let query = Json::object(fields.into_iter().map(|(name, values)| (name, one(values))));
        let path = ("path", if path.is_empty() { "/" } else { path }.into());
        let body = stored(&self.headers, &self.body);
        Json::object([path].into_iter().chain(has_query.then_some(("query", query))).chain(body))
    }
}

/// A body as it is stored: the name of its form, and its value; `None` if there is none.
fn stored(headers: &HeaderMap, body: &[u8]) -> Option<(&'static str, Json)> {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let json = Json::parse(body).ok().filter(|_| kind.contains("json"));
    let text = || std::str::from_utf8(body).ok().map(|text| ("text", text.into()));
    let any = || json.map(|it| ("json", it)).or_else(text).unwrap_or_else(|| ("base64", BASE64.encode(body).into()));
    (!body.is_empty()).then(any)
}

/// The answer of a tool, as it is stored. Cookies are not, since they hold sessions.
pub(super) fn result(headers: &HeaderMap, body: &[u8]) -> Json {
    let kept = |name: &str| is_held_header(name) && name != "set-cookie" && name != "content-encoding";
    let body = stored(headers, body);
    let headers = headers.iter().filter(|(name, _)| kept(name.as_str()));
    let headers = headers.filter_map(|(name, value)| Some((name.as_str(), Json::from(value.to_str().ok()?))));
    Json::object([("headers", Json::object(headers))].into_iter().chain(body))
}

/// An answer of JSON, as it is stored.
pub(super) fn json(body: Json) -> Json {
    Json::object([("headers", Json::object([("content-type", "application/json".into())])), ("json", body)])
}

/// The response to a request: a result as it is stored, or an error of Retake's own.
pub(super) fn response(answer: Result<&Json, &Json>, status: Option<u16>) -> Response {
    let result = match answer {
        Ok(result) => result,
        Err(error) => {
            let body = error.print(Layout::Compact);
            return (StatusCode::BAD_GATEWAY, [(header::CONTENT_TYPE, "application/json")], body).into_response();
        }
    };
    let body = match (result.get("json"), result.str_of("text"), result.str_of("base64")) {
        (Some(json), ..) => json.print(Layout::Compact).into_bytes(),
        (_, Some(text), _) => text.as_bytes().to_vec(),
        (.., data) => data.and_then(|data| BASE64.decode(data).ok()).unwrap_or_default(),
    };
    let status = status.and_then(|status| StatusCode::from_u16(status).ok()).unwrap_or(StatusCode::OK);
    let mut response = Response::builder().status(status);
    let headers = result.get("headers").and_then(Json::as_object);
    for (name, value) in headers.into_iter().flat_map(Object::iter) {
        response = response.header(&**name, value.as_str().unwrap_or_default());
    }
    response.body(Body::from(body)).unwrap_or_else(|_| StatusCode::BAD_GATEWAY.into_response())
}
