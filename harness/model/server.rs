//! Starts and stops the model server. It listens on loopback only, and each stage has its own port and a key that only its
//! system knows.

use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use axum::extract::{Request, State};
use axum::handler::Handler as _;
use axum::response::Response as HttpResponse;
use axum::serve::ListenerExt as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::activity::Activity;
use super::callers::CallerRules;
use super::companion::Companion;
use super::handler::{ServerState, handle};
use super::http::Room;
use super::load::Load;
use super::seats::{Seat, Seats};
use super::session::{Mode, Pacing, Session};
use super::workers::Workers;
use retake_base::error::{Error, Result};
use retake_core::places::Places;

/// How long to wait until the server has answered the last requests of a system that has ended.
const CATCHING_UP: Duration = Duration::from_secs(2);

/// The options of a server, apart from its mode.
#[derive(Clone, Debug, Default)]
pub struct ServerOptions {
    /// The rules that name the callers of calls that do not declare one.
    pub callers: CallerRules,
    /// How long answers are held back.
    pub pacing: Pacing,
    /// The loopback address to listen on. The default is a free port of `127.0.0.1`.
    pub address: Option<SocketAddr>,
    /// The key that calls have to bring. The default is a random key.
    pub key: Option<String>,
    /// What a load test asks of the server.
    pub load: Option<Arc<Load>>,
    /// How many threads answer calls, besides the one that starts the server. Then the order in which connections are accepted is
    /// not known.
    pub more_workers: usize,
}

/// A running model server. It stops when this is dropped.
#[derive(Debug)]
pub struct ModelServer {
    state: Arc<ServerState>,
    address: SocketAddr,
    task: JoinHandle<()>,
    /// More threads that accept connections; they stop when this is dropped.
    _workers: Option<Workers>,
}

/// The base URLs of one server, each in the form that the provider's official SDK expects.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    /// For AWS's SDKs, as the endpoint of Bedrock's runtime.
    pub bedrock: String,
}

impl ModelServer {
    /// Starts a server on the current tokio runtime.
    ///
    /// # Errors
    /// If the address is not a loopback address, or is already in use.
    pub async fn start(mode: Mode, options: ServerOptions) -> Result<ModelServer> {
        let address = options.address.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, 0).into());
        if !address.ip().is_loopback() {
            let why = format!("{address} is not a loopback address: the replay model listens on loopback only");
            return Err(Error::new(why).help("use 127.0.0.1:0 for a free port"));
        }
        let failed = |e: std::io::Error| Error::new(format!("failed to listen on {address}: {e}"));
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let (listener, workers) = match options.more_workers {
            0 => (listener, None),
            others => {
                let shared = listener.into_std().map_err(failed)?;
                let own = shared.try_clone().and_then(TcpListener::from_std).map_err(failed)?;
                (own, Some((shared, others)))
            }
        };
        let key = options.key.unwrap_or_else(|| format!("sk-retake-{}", uuid::Uuid::new_v4().simple()));
        let (seats, companion) = (Seats::of(Session::new(mode, options.pacing)), OnceLock::new());
        let (callers, load, room) = (options.callers, options.load, Room::default());
        let state = Arc::new(ServerState { key, companion, seats, room, callers, load });
        // There is only one handler, so no router is needed, and each layer would cost some allocations for each call.
        let service = handle.with_state(state.clone()).into_make_service();
        let workers = workers.map(|(of, others)| Workers::start(&of, others, &state).map_err(failed)).transpose()?;
        // Without TCP_NODELAY each streamed answer waits for a delayed acknowledgement.
        let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
        let task = tokio::spawn(async move { drop(axum::serve(listener, service).await) });
        Ok(ModelServer { state, address, task, _workers: workers })
    }

    /// The address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The base URLs of the server.
    pub fn urls(&self) -> Urls {
        Urls::of(self.address)
    }

    /// The key that calls have to bring.
    pub fn key(&self) -> &str {
        &self.state.key
    }

    /// Answers a request as if it had come over a socket.
    pub async fn answer(&self, request: Request) -> HttpResponse {
        handle(State(self.state.clone()), request).await
    }

    /// The calls under way.
    pub fn activity(&self) -> Activity {
        self.state.seats.active().activity.clone()
    }

    /// The place of the scenario that runs.
    pub fn seat(&self) -> Seat {
        Seat(self.state.seats.active())
    }

    /// Lets the companion answer requests below `/__retake/` from now on. If there is a companion already, nothing changes.
    pub fn accompany(&self, companion: Arc<dyn Companion>) {
        let _ = self.state.companion.set(companion);
    }

    /// Waits until every request of a scenario that was sent by now has been accepted and answered. The server accepts connections in order,
    /// so once it has accepted a new one, it has accepted all earlier ones.
    pub async fn caught_up(&self, seat: &Seat) {
        let behind_all = async {
            let stream = TcpStream::connect(self.address).await?.into_std()?;
            stream.shutdown(Shutdown::Write)?;
            TcpStream::from_std(stream)?.readable().await
        };
        let answered = async {
            let _: std::io::Result<()> = behind_all.await;
            seat.activity().settled(Duration::ZERO, || true).await;
        };
        let _ = tokio::time::timeout(CATCHING_UP, answered).await;
    }

    /// Whether calls are answered from a recording.
    pub fn replays(&self) -> bool {
        matches!(self.state.seats.active().mode, Mode::Replay(_))
    }

    /// Replaces what calls are answered from. Calls that are under way are still answered from what was there before.
    pub fn lay_in(&self, mode: Mode, pacing: Pacing) {
        self.state.seats.lay_in(Session::new(mode, pacing));
    }

    /// Lets a scenario linger: its late calls are still its own, while `idle` or the next scenario answers other calls.
    pub fn linger(&self, seat: &Seat, idle: Mode) {
        self.state.seats.linger(&seat.0, Session::new(idle, Pacing::None));
    }

    /// Ends a scenario's place. If it was the last one, `idle` answers calls from now on.
    pub fn leave(&self, seat: &Seat, idle: Mode) {
        self.state.seats.leave(&seat.0, Session::new(idle, Pacing::None));
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Urls {
    /// Returns the base URLs of a server at this address.
    pub fn of(address: SocketAddr) -> Urls {
        let url = format!("http://{address}");
        let openai = format!("{url}/v1");
        let [anthropic, gemini, ollama, bedrock] = std::array::from_fn(|_| url.clone());
        Urls { url, openai, anthropic, gemini, ollama, bedrock }
    }
}

/// The places of a program that is on no stage: its working folder, its home, and the model server, if there is one.
pub fn places_here(server: Option<&ModelServer>) -> Places {
    let folder = |name: &'static str, folder: Option<PathBuf>| Some((name, folder?.display().to_string()));
    let address = server.map(|server| server.urls().url.trim_start_matches("http://").to_owned());
    let localhost = address.as_ref().map(|address| ("model localhost", address.replace("127.0.0.1:", "localhost:")));
    let folders = [folder("root", std::env::current_dir().ok()), folder("home", std::env::home_dir())];
    Places::new(folders.into_iter().flatten().chain(address.map(|address| ("model", address))).chain(localhost))
}
