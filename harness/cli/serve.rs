use std::net::SocketAddr;
use std::num::NonZero;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::companion::{How, Serving};
use super::project::{ProjectOption, note_each};
use retake::__private::report::terminal;
use retake::__private::run::Signals;
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_core::json::{Json, Layout};
use retake_core::secrets::{hide, shown};
use retake_model::{
    Fault, FaultKind, KEPT, Load, Mode, ModelServer, Pace, Rate, ServerOptions, SessionBy, forgotten, keep_the_last,
};
use retake_scenario::Delays;

/// Serve fixtures as a model, for a system that you start yourself
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake serve fixtures/greeting.json --addr 127.0.0.1:8080 --key test\n  \
    retake serve greeting parting --repeat\n  \
    retake serve greeting --repeat --delays ttft=400ms,tps=60 --rate 100/s\n\n\
    When it is ready, it prints one line of JSON with its URLs and its key. On SIGTERM or SIGINT it writes the report \
    and exits: with 1 if a call missed, or differed where the suite sets drift = { … = \"fail\" }, otherwise with \
    0.\n\n\
    The rules of keys, callers and drift come from the project that contains the fixture: scenarios/suite.toml in the \
    nearest folder upwards.\n\n\
    While it runs, these paths answer without the key:\n  \
    GET  /__retake/health   whether it runs, and which fixtures it serves\n  \
    GET  /__retake/misses   the calls that missed, each with an explanation\n  \
    GET  /__retake/report   which turns were served or left unused, which calls\n                          \
    missed, and what differed\n  \
    GET  /__retake/metrics  the counts of calls, and how late frames were sent,\n                          \
    for Prometheus\n  POST /__retake/reset    forget all of this, and serve every turn again\n\n\
    With the body {\"fixtures\": [\"parting\"], \"name\": \"test_b\"}, a reset also changes the fixtures, and misses \
    name test_b from then on.")]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Serve {
    /// The fixtures: files, or names in the project; their turns are served as one table. Without any, each call is a
    /// miss until a reset names some
    fixture: Vec<PathBuf>,
    /// The loopback address to listen on; port 0 picks a free port
    #[arg(long, default_value = "127.0.0.1:0")]
    addr: SocketAddr,
    /// The API key that calls must send [default: a random one]
    #[arg(long)]
    key: Option<String>,
    /// Once all turns of a conversation have been served, start again with the first
    #[arg(long)]
    repeat: bool,
    /// How slowly answers are sent: `recorded`, `none`, `0.5x` (in half of the recorded time), or
    /// `ttft=400ms,tps=60,jitter=10%`: the time to the first token, tokens per second, and by how much both vary [default:
    /// the suite's `delays`]
    #[arg(long, value_name = "DELAYS")]
    delays: Option<Pace>,
    /// Answer this many calls at once; more get the provider's own 429
    #[arg(long, value_name = "CALLS", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,
    /// Answer this many calls per second, minute or hour, as in `100/s`; more get the provider's own 429
    #[arg(long, value_name = "RATE")]
    rate: Option<Rate>,
    /// Serve each session the turns from the first one on: `header:NAME` and `json:/POINTER` say where a call names its
    /// session, `first-message` takes what the conversation begins with
    #[arg(long, value_name = "WHERE")]
    session_by: Option<SessionBy>,
    /// How many threads answer calls [default: the number of cores]
    #[arg(long, value_name = "N")]
    workers: Option<NonZero<usize>>,
    /// Write the report to this file, as JSON: what was served, missed and left unused
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    /// At the end, print the report as JSON instead of messages about misses and drift
    #[arg(long)]
    json: bool,
    /// Also exit when standard input ends, as it does when the program that started this one ends
    #[arg(long)]
    until_eof: bool,
    /// Let the first call of a turn meet a fault: turn1/cut-clean, or only rate-limit for each turn. See retake worlds
    #[arg(long, value_name = "WORLD", value_parser = world)]
    world: Option<(Option<usize>, Fault)>,
    /// Let calls ask for a fault in the header x-retake-world
    #[arg(long, conflicts_with = "world")]
    worlds: bool,
    #[command(flatten)]
    project: ProjectOption,
}

impl Serve {
    pub(super) fn run(self) -> Result<ExitCode> {
        if self.key.as_ref().is_some_and(|key| key.trim().is_empty()) {
            return Err(Error::new("the key is empty, so calls without a key would be accepted")
                .help("leave out --key to use a random one"));
        }
        let files = self.fixture.iter().map(|named| self.project.fixture_file(named)).collect::<Result<Vec<_>>>()?;
        let project = self.project.open_for_all(&files)?;
        hide(project.secrets()?.scrub().clone());
        if files.is_empty() {
            terminal::note("no fixture is named, so each call is a miss until POST /__retake/reset names one");
        }
        keep_the_last(KEPT);
        // If a load test does not say how slowly answers are sent, the suite does.
        let of_suite = || if project.delays == Delays::Recorded { Pace::recorded() } else { Pace::default() };
        let pace = self.delays.clone().unwrap_or_else(of_suite);
        let load = Load::new(pace, self.limit.map(|limit| limit as usize), self.rate, self.session_by.clone());
        let how = How {
            repeat: self.repeat,
            load,
            needs_delays: self.delays.as_ref().is_some_and(Pace::is_recorded),
            world: self.world,
            by_header: self.worlds,
        };
        let serving = Arc::new(Serving::of(&files, project, self.project.clone(), how)?);
        let runtime = retake_model::threads::runtime()?;
        let code = runtime.block_on(self.serve(&serving));
        runtime.shutdown_background();
        code
    }

    async fn serve(self, serving: &Arc<Serving>) -> Result<ExitCode> {
        // Listen before printing the line that says it is ready: its reader may send a signal at once.
        let mut ended = Signals::listen()?;
        let eof = at_eof(self.until_eof);
        let workers = self.workers.or_else(|| std::thread::available_parallelism().ok()).map_or(1, NonZero::get);
        let options = ServerOptions {
            callers: serving.project.callers.clone(),
            address: Some(self.addr),
            key: self.key.clone(),
            load: Some(serving.how.load.clone()),
            more_workers: workers - 1,
            ..ServerOptions::default()
        };
        let server = Arc::new(ModelServer::start(Mode::Replay(serving.replay()), options).await?);
        serving.of_server(&server);
        server.accompany(serving.clone());
        say_ready(&server);
        tokio::select! {
            _ = ended.wait() => {}
            () = eof => {}
        }
        let report = serving.report().print(Layout::Pretty);
        if let Some(file) = &self.report {
            retake_base::files::write_whole(file, (report.clone() + "\n").as_bytes())?;
        }
        let misses = serving.misses();
        let (failing, notes) = serving.drift();
        if self.json {
            terminal::out(shown(&report));
        } else {
            misses.iter().take(SHOWN).for_each(terminal::note);
            let all = misses.len() + forgotten().1;
            if all > SHOWN {
                let place = if self.report.is_some() { "in the report" } else { "--report FILE lists them" };
                terminal::note(format!("… and {} more misses, {place}", all - SHOWN));
            }
            note_each("note", &notes);
            failing.iter().for_each(terminal::error);
            note_each("note", self.of_load(&serving.how.load));
        }
        Ok(if misses.is_empty() && failing.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
    }

    /// What a load test should know at its end.
    fn of_load(&self, load: &Load) -> Vec<String> {
        let limited = load.limited().filter(|calls| *calls > 0);
        let limited = limited.map(|calls| format!("{} exceeded the limit and got a 429", counted(calls, "call")));
        let nameless = self.session_by.as_ref().filter(|_| load.without_session() > 0);
        let nameless = nameless.map(|by| {
            let calls = counted(load.without_session(), "call");
            format!("{calls} named no session ({by}); they were answered as if they were all of one session")
        });
        limited.into_iter().chain(nameless).collect()
    }
}

fn world(text: &str) -> Result<(Option<usize>, Fault), String> {
    Fault::of_turn(text).ok_or_else(|| {
        let names = FaultKind::ALL.into_iter().filter(|kind| *kind != FaultKind::Order).map(FaultKind::name);
        format!("expected a fault, or turnN/ and a fault: {}", names.collect::<Vec<_>>().join(", "))
    })
}

/// The most misses that are printed.
const SHOWN: usize = 10;

/// Prints one line with the URLs and the key, which is all that a client needs.
pub(super) fn say_ready(server: &ModelServer) {
    let urls = server.urls();
    let ready = [
        ("url", &*urls.url),
        ("openai", &urls.openai),
        ("anthropic", &urls.anthropic),
        ("gemini", &urls.gemini),
        ("ollama", &urls.ollama),
        ("bedrock", &urls.bedrock),
        ("key", server.key()),
    ];
    terminal::out(Json::object(ready.map(|(name, value)| (name, Json::from(value)))).print(Layout::Python));
}

/// Waits for the end of standard input if `heeded`, otherwise forever.
async fn at_eof(heeded: bool) {
    let (said, ended) = tokio::sync::oneshot::channel();
    // In a thread of its own: a blocking read cannot be cancelled, and must not delay the exit.
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
