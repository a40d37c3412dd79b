use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::project::ProjectOption;
use crate::error::{Error, Result};
use crate::fixture::Fixture;
use crate::json::{Json, Layout};
use crate::model::{Mode, ModelServer, Replay, Scope, ServerOptions};
use crate::project::OpenProject;
use crate::report::{notes, terminal};
use crate::scenario::{Delays, Level};
use crate::secrets::{hide, shown};

/// Serve fixtures as a model, for a system that you start yourself
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  retake serve fixtures/greeting.json --addr 127.0.0.1:8080 --key test\n\n\
    Prints one line of JSON with its URLs and key when it is ready. On SIGTERM or SIGINT\n\
    it writes the report and exits: 1 where a call missed, or differed where the suite says\n\
    drift = {{ … = \"fail\" }}; 0 where none did.\n\n\
    Keys, callers and drift are those of the project that the fixture lies in: of the\n\
    scenarios/suite.toml in the nearest folder upwards.")]
pub(super) struct Serve {
    /// The fixtures; their turns are served as one table
    #[arg(required = true)]
    fixture: Vec<PathBuf>,
    /// A loopback address; port 0 for a free one
    #[arg(long, default_value = "127.0.0.1:0")]
    addr: SocketAddr,
    /// The key that calls have to bring; a random one where absent
    #[arg(long)]
    key: Option<String>,
    /// Where to write what was served, missed and left unused, as JSON
    #[arg(long)]
    report: Option<PathBuf>,
    #[command(flatten)]
    project: ProjectOption,
}

impl Serve {
    pub(super) fn run(self) -> Result<ExitCode> {
        if self.key.as_ref().is_some_and(|key| key.trim().is_empty()) {
            return Err(Error::new("the key is empty, so that calls without a key would bring it")
                .help("leave --key out for a random one"));
        }
        let project = self.project.open_for_all(&self.fixture)?;
        hide(project.secrets()?.scrub().clone());
        let mut fixtures = self.fixture.iter().map(|file| Fixture::read(file, &project.rules));
        let first = fixtures.next().ok_or_else(|| Error::new("no fixture"))??;
        let fixture = fixtures.try_fold(first, |all, next| next.map(|next| all.followed_by(next)))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Error::new(format!("failed to start a runtime: {e}")))?;
        let replay = Replay::new(Arc::new(fixture), project.rules.clone(), Scope::new("serve"))
            .with_delays(project.delays == Delays::Recorded);
        let code = runtime.block_on(self.serve(Arc::new(replay), project));
        runtime.shutdown_background();
        code
    }

    async fn serve(self, replay: Arc<Replay>, project: OpenProject) -> Result<ExitCode> {
        // Before the line that says it is ready: who reads that line may end it at once.
        let mut ended = Ended::listen()?;
        let OpenProject { callers, drift: weight, .. } = project;
        let options = ServerOptions { callers, address: Some(self.addr), key: self.key, ..ServerOptions::default() };
        let server = ModelServer::start(Mode::Replay(replay.clone()), options).await?;
        say_ready(&server);
        ended.wait().await;
        let report = report(&replay);
        if let Some(file) = &self.report {
            crate::files::write_whole(file, (report.print(Layout::Pretty) + "\n").as_bytes())?;
        }
        let misses = replay.scope().misses();
        misses.iter().take(SHOWN).for_each(terminal::note);
        if misses.len() > SHOWN {
            let place = if self.report.is_some() { "in the report" } else { "--report FILE lists them" };
            terminal::note(format!("… and {} more misses, {place}", misses.len() - SHOWN));
        }
        let (drift, flaws) = (server.drift(), server.flaws());
        // As a scenario that says nothing of it weighs it.
        let of_level = |level: Level| drift.iter().filter(move |(_, drift)| weight.of(drift.check) == level);
        for line in notes(Some(replay.fixture()), of_level(Level::Note), &flaws) {
            terminal::note(format!("note: {line}"));
        }
        let failing = notes(Some(replay.fixture()), of_level(Level::Fail), &[]);
        failing.iter().for_each(terminal::error);
        Ok(if misses.is_empty() && failing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }
}

/// One line with all that a client needs.
pub(super) fn say_ready(server: &ModelServer) {
    let urls = server.urls();
    let ready = [
        ("url", &*urls.url),
        ("openai", &urls.openai),
        ("anthropic", &urls.anthropic),
        ("gemini", &urls.gemini),
        ("ollama", &urls.ollama),
        ("key", server.key()),
    ];
    terminal::out(Json::object(ready.map(|(name, value)| (name, Json::from(value)))).print(Layout::Python));
}
/// How many misses are printed; of a flood nobody reads more.
const SHOWN: usize = 10;

fn report(replay: &Replay) -> Json {
    let turns = replay.fixture().table.turns();
    let turn = |index: usize| {
        let caller = turns[index].caller.as_deref();
        Json::object([("turn", Json::from(index)), ("caller", Json::from(caller))])
    };
    let misses = replay.scope().misses();
    let calls = misses.iter().map(|miss| {
        Json::object([
            ("call", Json::from(miss.via.as_str())),
            ("caller", Json::from(miss.caller.as_deref())),
            ("conversation_hash", Json::from(miss.key.map(|key| key.conversation_hash.to_string()))),
            ("input_hash", Json::from(miss.key.map(|key| key.input_hash.to_string()))),
            ("reason", Json::from(miss.reason.to_string())),
            ("explanation", Json::Str(shown(&miss.to_string()))),
        ])
    });
    let served = crate::model::served().iter().map(|served| turn(served.turn)).collect::<Vec<_>>();
    let unused = replay.unused().into_iter().map(turn).collect::<Vec<_>>();
    Json::object([
        ("served", Json::Array(served)),
        ("missed", Json::Array(calls.collect())),
        ("unused", Json::Array(unused)),
    ])
}

/// The signals that end the server.
pub(super) struct Ended {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
}

impl Ended {
    #[cfg(unix)]
    pub(super) fn listen() -> Result<Ended> {
        use tokio::signal::unix::{SignalKind, signal};
        let failed = |e| Error::new(format!("failed to listen for signals: {e}"));
        let terminate = signal(SignalKind::terminate()).map_err(failed)?;
        Ok(Ended { terminate, interrupt: signal(SignalKind::interrupt()).map_err(failed)? })
    }

    #[cfg(unix)]
    pub(super) async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }

    #[cfg(not(unix))]
    pub(super) fn listen() -> Result<Ended> {
        Ok(Ended {})
    }

    #[cfg(not(unix))]
    pub(super) async fn wait(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}
