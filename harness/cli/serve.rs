use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::companion::Serving;
use super::project::ProjectOption;
use crate::error::{Error, Result};
use crate::json::{Json, Layout};
use crate::model::{Mode, ModelServer, ServerOptions};
use crate::report::terminal;
use crate::secrets::{hide, shown};

/// Serve fixtures as a model, for a system that you start yourself
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake serve fixtures/greeting.json --addr 127.0.0.1:8080 --key test\n  \
    retake serve greeting parting --repeat\n\n\
    Prints one line of JSON with its URLs and key when it is ready. On SIGTERM or SIGINT\n\
    it writes the report and exits: 1 where a call missed, or differed where the suite says\n\
    drift = {{ … = \"fail\" }}; 0 where none did.\n\n\
    Keys, callers and drift are those of the project that the fixture lies in: of the\n\
    scenarios/suite.toml in the nearest folder upwards.\n\n\
    While it runs, a test or a person may ask it, without the key:\n  \
    GET  /__retake/health   that it is there, and which fixtures it serves\n  \
    GET  /__retake/misses   the calls that missed, each explained\n  \
    GET  /__retake/report   what was served, missed, left unused, and what differed\n  \
    POST /__retake/reset    forget all that: each turn is to be served anew. With a body\n                          \
    {{\"fixtures\": [\"parting\"], \"name\": \"test_b\"}} these fixtures are served\n                          \
    from then on, and misses name test_b")]
pub(super) struct Serve {
    /// The fixtures, files or names of the project's; their turns are served as one table. Without one each call is a miss
    /// until a reset names some
    fixture: Vec<PathBuf>,
    /// A loopback address; port 0 for a free one
    #[arg(long, default_value = "127.0.0.1:0")]
    addr: SocketAddr,
    /// The key that calls have to bring; a random one where absent
    #[arg(long)]
    key: Option<String>,
    /// Serve turns again and again: those of a conversation that were all served begin with the first
    #[arg(long)]
    repeat: bool,
    /// Where to write what was served, missed and left unused, as JSON
    #[arg(long)]
    report: Option<PathBuf>,
    /// Print the report at the end, as JSON on standard output, in place of what is said of misses and drift
    #[arg(long)]
    json: bool,
    /// End when standard input does too: with the program that started it and holds the other end
    #[arg(long)]
    until_eof: bool,
    #[command(flatten)]
    project: ProjectOption,
}

impl Serve {
    pub(super) fn run(self) -> Result<ExitCode> {
        if self.key.as_ref().is_some_and(|key| key.trim().is_empty()) {
            return Err(Error::new("the key is empty, so that calls without a key would bring it")
                .help("leave --key out for a random one"));
        }
        let files = self.fixture.iter().map(|named| self.project.fixture_file(named)).collect::<Result<Vec<_>>>()?;
        let project = match &files[..] {
            [] => self.project.open_here()?,
            files => self.project.open_for_all(files)?,
        };
        hide(project.secrets()?.scrub().clone());
        if files.is_empty() {
            terminal::note("no fixture is named, so each call is a miss until POST /__retake/reset names one");
        }
        let serving = Arc::new(Serving::of(&files, project, self.project.clone(), self.repeat)?);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|e| Error::new(format!("failed to start a runtime: {e}")))?;
        let code = runtime.block_on(self.serve(&serving));
        runtime.shutdown_background();
        code
    }

    async fn serve(self, serving: &Arc<Serving>) -> Result<ExitCode> {
        // Before the line that says it is ready: who reads that line may end it at once.
        let mut ended = Ended::listen()?;
        let eof = at_eof(self.until_eof);
        let callers = serving.callers();
        let options = ServerOptions { callers, address: Some(self.addr), key: self.key, ..ServerOptions::default() };
        let server = Arc::new(ModelServer::start(Mode::Replay(serving.replay()), options).await?);
        serving.of_server(&server);
        server.accompany(serving.clone());
        say_ready(&server);
        tokio::select! {
            () = ended.wait() => {}
            () = eof => {}
        }
        let report = serving.report().print(Layout::Pretty);
        if let Some(file) = &self.report {
            crate::files::write_whole(file, (report.clone() + "\n").as_bytes())?;
        }
        let misses = serving.misses();
        let (failing, notes) = serving.drift();
        if self.json {
            terminal::out(shown(&report));
        } else {
            misses.iter().take(SHOWN).for_each(terminal::note);
            if misses.len() > SHOWN {
                let place = if self.report.is_some() { "in the report" } else { "--report FILE lists them" };
                terminal::note(format!("… and {} more misses, {place}", misses.len() - SHOWN));
            }
            for line in &notes {
                terminal::note(format!("note: {line}"));
            }
            failing.iter().for_each(terminal::error);
        }
        Ok(if misses.is_empty() && failing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }
}

/// How many misses are printed; of a flood nobody reads more.
const SHOWN: usize = 10;

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

/// Waits for the end of standard input, where that is to be heeded.
async fn at_eof(heeded: bool) {
    let (said, ended) = tokio::sync::oneshot::channel();
    // A thread of its own: reading cannot be broken off, and must not hold up the end.
    let read = move || {
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        drop(said);
    };
    if heeded && std::thread::Builder::new().name("stdin".to_owned()).spawn(read).is_ok() {
        let _: Result<(), _> = ended.await;
    } else {
        std::future::pending::<()>().await;
    }
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
