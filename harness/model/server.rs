//! The HTTP face of the model: loopback only, a port of its own for each stage, and a key that only the stage's system
//! knows.

use std::borrow::Cow;
use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes};
use axum::extract::State;
use axum::handler::Handler as _;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Response as HttpResponse, Uri, header};
use axum::serve::ListenerExt as _;
use futures_util::StreamExt as _;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::activity::{Activity, InFlight};
use super::callers::CallerRules;
use super::checked::RecentChecks;
use super::drift::DriftOf;
use super::lint::{self, ProtocolFlaw};
use super::lookup::Lookup;
use super::miss::{Miss, Reason};
#[cfg(feature = "record")]
use super::record::Recorder;
use super::replay::Replay;
use super::route;
use crate::error::{Error, Result};
use crate::fixture::Turn;
use crate::json::Json;
use crate::key::Rules;
use crate::wire::{self, Api, Body, Call, Known, Response, Unrenderable};

/// The largest request that is read, in bytes.
const MAX_BODY: usize = 256 << 20;

/// What the server does with a call.
#[derive(Clone, Debug)]
pub enum Mode {
    /// Answers with recorded turns.
    Replay(Arc<Replay>),
    /// Passes calls on to a provider and writes down what comes back.
    #[cfg(feature = "record")]
    Record(Arc<Recorder>),
}

/// How long answers are held back.
#[derive(Clone, Copy, Debug, Default)]
pub enum Pacing {
    /// Not at all.
    #[default]
    None,
    /// Each by another few milliseconds: the second run of a proof shakes the order of things.
    Shaken,
}

/// What a server needs beside its mode.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// Who made calls that do not say so.
    pub callers: CallerRules,
    /// How long answers are held back.
    pub pacing: Pacing,
    /// Where to listen: a loopback address; a free port of `127.0.0.1` where absent.
    pub address: Option<SocketAddr>,
    /// The key that calls have to bring; a random one where absent.
    pub key: Option<String>,
}

/// A running model server. It stops when this is dropped.
#[derive(Debug)]
pub struct ModelServer {
    shared: Arc<Shared>,
    address: SocketAddr,
    task: JoinHandle<()>,
}

/// The base URLs of one server, each in the form that the provider's official SDK expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Urls {
    /// `http://127.0.0.1:PORT`, under which every provider's native paths are.
    pub url: String,
    /// For OpenAI's SDKs: ends in `/v1`.
    pub openai: String,
    /// For Anthropic's SDKs.
    pub anthropic: String,
    /// For Google's SDKs.
    pub gemini: String,
    /// For Ollama's clients.
    pub ollama: String,
}

#[derive(Debug)]
struct Shared {
    callers: CallerRules,
    key: String,
    activity: Activity,
    session: Mutex<Arc<Session>>,
}

/// What the server answers from: one scenario's, until the next one's is laid in.
#[derive(Debug)]
struct Session {
    mode: Mode,
    pacing: Pacing,
    drift: Mutex<Vec<(usize, DriftOf)>>,
    flaws: Mutex<Vec<ProtocolFlaw>>,
    /// What was served, for requests that refer to it.
    known: RwLock<Known>,
    checks: RecentChecks,
    calls: AtomicU64,
}

impl Session {
    fn new(mode: Mode, pacing: Pacing) -> Arc<Session> {
        let (drift, flaws, known, checks) =
            (Mutex::default(), Mutex::default(), RwLock::default(), RecentChecks::default());
        Arc::new(Session { mode, pacing, drift, flaws, known, checks, calls: AtomicU64::new(0) })
    }
}

impl ModelServer {
    /// Starts a server on the current tokio runtime.
    ///
    /// # Errors
    /// Where the address is not loopback or is taken.
    pub async fn start(mode: Mode, options: ServerOptions) -> Result<ModelServer> {
        let address = options.address.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 0).into());
        if !address.ip().is_loopback() {
            return Err(Error::new(format!(
                "{address} is not a loopback address: the replay model listens on loopback only"
            ))
            .help("use 127.0.0.1:0 for a free port"));
        }
        let failed = |e: std::io::Error| Error::new(format!("failed to listen on {address}: {e}"));
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared {
            callers: options.callers,
            key: options.key.unwrap_or_else(|| format!("sk-retake-{}", uuid::Uuid::new_v4().simple())),
            activity: Activity::default(),
            session: Mutex::new(Session::new(mode, options.pacing)),
        });
        // No router: there is one handler, and each layer costs a call some allocations.
        let service = handle.with_state(shared.clone()).into_make_service();
        // Without TCP_NODELAY each streamed answer waits for a delayed acknowledgement.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let task = tokio::spawn(async move { drop(axum::serve(listener, service).await) });
        Ok(ModelServer { shared, address, task })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its base URLs.
    #[must_use]
    pub fn urls(&self) -> Urls {
        Urls::of(self.address)
    }

    /// The key that calls have to bring.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.shared.key
    }

    /// The calls under way.
    #[must_use]
    pub fn activity(&self) -> &Activity {
        &self.shared.activity
    }

    /// Whether calls are answered from a recording.
    pub(crate) fn replays(&self) -> bool {
        matches!(self.shared.session().mode, Mode::Replay(_))
    }

    /// Lays in what calls are answered from, in place of what was. Calls under way end with what they began with.
    pub(crate) fn lay_in(&self, mode: Mode, pacing: Pacing) {
        *self.shared.session.lock().unwrap_or_else(PoisonError::into_inner) = Session::new(mode, pacing);
    }

    /// What of served calls' checks differed from the recorded ones, with the turn that was served.
    #[must_use]
    pub fn drift(&self) -> Vec<(usize, DriftOf)> {
        self.shared.session().drift.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What was wrong with calls by themselves, whatever they were answered.
    #[must_use]
    pub fn flaws(&self) -> Vec<ProtocolFlaw> {
        self.shared.session().flaws.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Urls {
    /// The base URLs of a server at an address.
    #[must_use]
    pub fn of(address: SocketAddr) -> Urls {
        let url = format!("http://{address}");
        Urls { openai: format!("{url}/v1"), anthropic: url.clone(), gemini: url.clone(), ollama: url.clone(), url }
    }
}

/// One request, as every answer to it needs it.
struct Incoming {
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
}

impl Incoming {
    /// `POST /v1/chat/completions`, without the query: it may hold a key.
    fn via(&self) -> String {
        [self.method.as_str(), " ", self.uri.path()].concat()
    }

    /// The API that a call is posted to.
    fn api(&self) -> Api {
        wire::api_of_path(self.uri.path()).unwrap_or(Api::Opaque)
    }

    /// The API in whose envelope errors go out.
    fn provider(&self) -> Api {
        wire::api_of_path(self.uri.path()).unwrap_or_else(|| route::provider(self.uri.path(), &self.headers))
    }
}

async fn handle(State(shared): State<Arc<Shared>>, request: Request<HttpBody>) -> HttpResponse<HttpBody> {
    let in_flight = shared.activity.begin();
    let session = shared.session();
    let (parts, body) = request.into_parts();
    let (method, uri, headers) = (parts.method, parts.uri, parts.headers);
    let body = axum::body::to_bytes(body, MAX_BODY).await;
    let too_large = body.is_err();
    let incoming = Incoming { method, uri, headers, body: body.unwrap_or_default() };
    let with_key = brings_key(&incoming, &shared.key);
    if !with_key && route::describes_model(&incoming.method, incoming.uri.path()) {
        // LiteLLM never brings the key here, and nothing recorded goes out.
        return http(&Response::json(200, wire::model_description()), false, in_flight);
    }
    if !with_key {
        return refused(&shared, &session, &incoming, 401, Reason::WrongKey);
    }
    if too_large {
        let what = format!("the body broke off, or is larger than {} MB", MAX_BODY >> 20);
        return refused(&shared, &session, &incoming, 400, Reason::Unreadable { what });
    }
    if let Some(what) = coding(&incoming.headers) {
        return refused(&shared, &session, &incoming, 400, Reason::Unreadable { what });
    }
    if let Some(api) = route::lists_models(&incoming.method, incoming.uri.path(), &incoming.headers) {
        return http(&Response::json(200, wire::models_response(api, &session.models())), false, in_flight);
    }
    if incoming.method != Method::POST {
        return refused(&shared, &session, &incoming, 404, Reason::UnknownRoute);
    }
    match session.read_call(&incoming) {
        Err(what) => refused(&shared, &session, &incoming, 400, Reason::Unreadable { what }),
        Ok((call, request)) => match &session.mode {
            Mode::Replay(replay) => shared.replay(&session, replay, &incoming, &call, &request, in_flight).await,
            #[cfg(feature = "record")]
            Mode::Record(recorder) => {
                let caller = shared.callers.caller_of(&incoming.headers, &call);
                let model = call.model.clone();
                session.lint(lint::flaws(&call), caller.as_deref(), None);
                let via = super::record::PendingCall {
                    model,
                    api: call.api,
                    provider: incoming.provider(),
                    path: incoming.uri.path_and_query().map_or("/", |p| p.as_str()).to_owned(),
                    headers: incoming.headers,
                    body: incoming.body,
                    caller,
                    request,
                };
                recorder.pass_on(via, in_flight).await
            }
        },
    }
}

/// Why a body that was compressed cannot be read. No provider's SDK sends one.
fn coding(headers: &HeaderMap) -> Option<String> {
    let coding = headers.get(header::CONTENT_ENCODING).filter(|coding| *coding != "identity")?;
    Some(format!("its body has the content encoding {coding:?}, and is read only without one"))
}

impl Session {
    fn read_call(&self, incoming: &Incoming) -> Result<(Call, Json), String> {
        let api = incoming.api();
        let mut json = match api {
            Api::Opaque => wire::request_body(&incoming.body),
            _ => Json::parse(&incoming.body).map_err(|e| format!("not JSON: {e}"))?,
        };
        let path = incoming.uri.path_and_query().map_or("/", |path| path.as_str());
        let path = match &self.mode {
            Mode::Replay(replay) => replay.scrub(&mut json, path),
            #[cfg(feature = "record")]
            Mode::Record(_) => path.into(),
        };
        let known = self.known.read().unwrap_or_else(PoisonError::into_inner);
        let call = wire::decode(api, &path, &json, &known).map_err(|e| e.to_string())?;
        drop(known);
        Ok((call, json))
    }

    fn lint(&self, flaws: Vec<String>, caller: Option<&str>, turn: Option<usize>) {
        if !flaws.is_empty() {
            let flaw = |what| ProtocolFlaw { caller: caller.map(str::to_owned), turn, what };
            self.flaws.lock().unwrap_or_else(PoisonError::into_inner).extend(flaws.into_iter().map(flaw));
        }
    }

    fn models(&self) -> Vec<String> {
        match &self.mode {
            Mode::Replay(replay) => {
                let turns = replay.fixture().table.turns().iter();
                let models: std::collections::BTreeSet<String> = turns.filter_map(|t| t.output.model.clone()).collect();
                models.into_iter().collect()
            }
            #[cfg(feature = "record")]
            Mode::Record(_) => Vec::new(),
        }
    }
}

impl Shared {
    fn session(&self) -> Arc<Session> {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn replay(
        &self,
        session: &Session,
        replay: &Replay,
        incoming: &Incoming,
        call: &Call,
        body: &Json,
        in_flight: InFlight,
    ) -> HttpResponse<HttpBody> {
        let lookup = self.lookup(session, replay.rules(), incoming, call);
        if route::describes_model(&incoming.method, incoming.uri.path()) && !replay.has_turn_for(&lookup) {
            // Of a fixture that was recorded over another API. No answer of a model is asked for, so this is no miss.
            return http(&Response::json(200, wire::model_description()), false, in_flight);
        }
        let number = session.calls.fetch_add(1, Ordering::Relaxed);
        let flaws = lint::flaws(call);
        let caller = lookup.caller.clone().filter(|_| !flaws.is_empty());
        let taken = replay.take(lookup);
        session.lint(flaws, caller.as_deref(), taken.as_ref().ok().map(|served| served.index));
        if let (Pacing::Shaken, Ok(served)) = (session.pacing, &taken) {
            tokio::time::sleep(shaken(number, served.index)).await;
        }
        match taken {
            Ok(served) => {
                if !served.drift.is_empty() {
                    let drift = served.drift.iter().map(|drift| (served.index, drift.clone()));
                    session.drift.lock().unwrap_or_else(PoisonError::into_inner).extend(drift);
                }
                match response_to(call, served.turn()) {
                    Ok(response) => {
                        if Known::learns_of(call.api) {
                            let mut known = session.known.write().unwrap_or_else(PoisonError::into_inner);
                            known.learn(call.api, body, &response);
                        }
                        http(&response, false, in_flight)
                    }
                    Err(unrenderable) => {
                        let place = replay.fixture().place_of(served.index);
                        let reason = Reason::Unrenderable { turn: place, what: unrenderable.to_string() };
                        let miss = replay.refuse(incoming.via(), reason);
                        let kind = "replay_unrenderable";
                        http(&wire::error_response(incoming.provider(), 404, kind, &miss.to_string()), true, in_flight)
                    }
                }
            }
            Err(miss) => http(&miss_response(incoming.provider(), 404, &miss), true, in_flight),
        }
    }

    fn lookup(&self, session: &Session, rules: &Rules, incoming: &Incoming, call: &Call) -> Lookup {
        let caller = self.callers.caller_of(&incoming.headers, call);
        Lookup {
            via: incoming.via(),
            api: Some(call.api),
            caller: caller.map(|caller| rules.caller(Some(&caller))),
            conversation: rules.canonical(call.messages.clone()),
            checks: Some(session.checks.of(call, &rules.normalizer)),
        }
    }
}

/// The response with which a turn answers a call: as it was recorded, as a rule, and then it is not even copied.
fn response_to<'a>(call: &Call, turn: &'a Turn) -> Result<Cow<'a, Response>, Unrenderable> {
    let recorded = turn.wire.as_ref().map(|wire| (wire.api, &wire.response));
    if let Some(response) = wire::as_recorded(recorded, &call.render_for("")) {
        return Ok(Cow::Borrowed(response));
    }
    let seed = turn.key.input_hash.to_string();
    wire::respond(&turn.output, recorded, &call.render_for(&seed)).map(Cow::Owned)
}

/// Some milliseconds that differ from call to call and are the same in each run.
fn shaken(call: u64, turn: usize) -> Duration {
    Duration::from_millis((call * 7 + turn as u64 * 13) % 20)
}

/// Answers a call that cannot be looked up, and registers it.
fn refused(
    shared: &Shared,
    session: &Session,
    incoming: &Incoming,
    status: u16,
    reason: Reason,
) -> HttpResponse<HttpBody> {
    let in_flight = shared.activity.begin();
    let api = incoming.provider();
    let response = match &session.mode {
        Mode::Replay(replay) => miss_response(api, status, &replay.refuse(incoming.via(), reason)),
        #[cfg(feature = "record")]
        Mode::Record(recorder) => {
            recorder.refuse(&incoming.via(), &reason);
            wire::error_response(api, status, "record_error", &reason.to_string())
        }
    };
    http(&response, true, in_flight)
}

/// A miss in the provider's own error envelope.
fn miss_response(api: Api, status: u16, miss: &Miss) -> Response {
    wire::error_response(api, status, "replay_miss", &miss.to_string())
}

/// A response on its way out. The call is in flight until its last byte is taken.
pub(super) fn http(response: &Response, final_error: bool, in_flight: InFlight) -> HttpResponse<HttpBody> {
    let body = match &response.body {
        Body::Json(json) => whole(json.bytes(), in_flight),
        Body::Text(text) => whole(text.clone(), in_flight),
        Body::Binary(bytes) => whole(bytes.clone(), in_flight),
        // Frame by frame, as they came: a system has to put up with that.
        Body::Frames(frames) => {
            let frames = futures_util::stream::iter(frames.bytes()).map(move |frame| {
                let _until_sent = &in_flight;
                Ok::<_, Infallible>(frame)
            });
            HttpBody::from_stream(frames)
        }
    };
    let mut out = HttpResponse::new(body);
    *out.status_mut() = axum::http::StatusCode::from_u16(response.status).unwrap_or_default();
    if let Some(content_type) = content_type(&response.content_type) {
        out.headers_mut().insert(header::CONTENT_TYPE, content_type);
    }
    if final_error {
        // SDKs then neither retry nor hide it.
        out.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
    }
    out
}

fn whole(body: impl Into<HttpBody>, in_flight: InFlight) -> HttpBody {
    drop(in_flight);
    body.into()
}

/// A content type as a header; `None` where it is no text of a header.
fn content_type(text: &str) -> Option<HeaderValue> {
    // The common ones need neither a check nor a copy.
    ["application/json", "text/event-stream; charset=utf-8", "text/event-stream"]
        .into_iter()
        .find(|common| *common == text)
        .map_or_else(|| text.parse().ok(), |common| Some(HeaderValue::from_static(common)))
}

/// Headers that bring a key, beside `Authorization`.
static KEY_HEADERS: [HeaderName; 3] = [
    HeaderName::from_static("x-api-key"),
    HeaderName::from_static("api-key"),
    HeaderName::from_static("x-goog-api-key"),
];

/// Whether the request brings the key, in any of the providers' ways to send it.
fn brings_key(incoming: &Incoming, key: &str) -> bool {
    let header = |name: &HeaderName| incoming.headers.get(name).and_then(|value| value.to_str().ok());
    let bearer = || header(&header::AUTHORIZATION)?.split_once(' ').map(|(_, token)| token.trim());
    let in_query =
        |query: &str| url::form_urlencoded::parse(query.as_bytes()).any(|(name, value)| name == "key" && value == key);
    bearer() == Some(key)
        || KEY_HEADERS.iter().any(|name| header(name) == Some(key))
        || incoming.uri.query().is_some_and(in_query)
}
