use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clap::Args;

use super::import::notes_of;
use super::project::{ProjectOption, note_each};
use super::relay::{Running, Upstreams};
use super::serve::say_ready;
use retake::__private::project::OpenProject;
use retake::__private::report::{Progress, summary, terminal};
use retake::__private::run::Signals;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_base::text::{counted, nth_turn};
use retake_core::key::Rules;
use retake_core::places::RunValues;
use retake_core::secrets::{Scrub, hide};
use retake_model::{Lookup, Mode, ModelServer, Recorder, RecorderOptions, Replay, Scope, ServerOptions, places_here};
use retake_scenario::Delays;
use retake_wire::fixture::{Fixture, JournalLock, Suspected, call_log, journal_of};

/// Record the model calls of a service that you drive yourself: by hand, in a browser, by other tests
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  OPENAI_API_KEY=… retake proxy --upstream https://api.openai.com/v1 \\\n    \
    --out fixtures/chat.json --addr 127.0.0.1:8080 --key test\n\n\
    When it is ready, it prints one line of JSON with its URLs and its key. Point your service at the URL, with that \
    key instead of the provider's:\n  OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_API_KEY=test\n\n\
    Only the proxy needs the provider's key: OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or GOOGLE_API_KEY, \
    OLLAMA_API_KEY, AZURE_OPENAI_API_KEY, AWS_BEARER_TOKEN_BEDROCK, AWS_SECRET_ACCESS_KEY. A key is sent only to its \
    own provider; to send it to a gateway instead, set RETAKE_UPSTREAM_OPENAI=URL, RETAKE_UPSTREAM_ANTHROPIC=URL and \
    so on, or what its clients read: OPENAI_BASE_URL, ANTHROPIC_BASE_URL and so on.\n\n\
    On SIGINT (Ctrl-C) or SIGTERM it writes the fixture. Before a client sees the end of an answer, the answer is in \
    the journal, .journal/NAME.jsonl next to the fixture. If the fixture could not be written:\n  \
    retake import journal fixtures/.journal/chat.jsonl --out fixtures/chat.json\n\n\
    Exit code 0 if a fixture was written, 1 if not.")]
pub(super) struct Proxy {
    /// The provider's base URL, for every supported API [default: for each API the address that record uses]
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// The fixture to write; it must not exist yet
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Replace the fixture if it already exists
    #[arg(long)]
    replace: bool,
    /// The loopback address to listen on; port 0 picks a free port
    #[arg(long, default_value = "127.0.0.1:0")]
    addr: SocketAddr,
    /// The API key that calls must send [default: a random one]
    #[arg(long)]
    key: Option<String>,
    /// Also make turns of the provider's errors
    #[arg(long)]
    errors: bool,
    #[command(flatten)]
    project: ProjectOption,
}

impl Proxy {
    pub(super) fn run(self) -> Result<ExitCode> {
        retake::__private::run::may_write_fixtures("recording")?;
        let upstreams = match &self.upstream {
            Some(url) => Upstreams::of_url(url).map_err(|e| e.while_doing("read --upstream"))?,
            None => Upstreams::from_env()?,
        };
        if upstreams.names().is_empty() {
            return Err(Error::new("no provider is configured")
                .help("name one: --upstream URL")
                .help(format!("or set its key or its address, as for `{RETAKE} record`")));
        }
        upstreams.of_clients().into_iter().for_each(terminal::note);
        if let Some(upstream) = &self.upstream {
            for (variable, address) in Upstreams::kept_from(upstream) {
                terminal::note(format!(
                    "{variable} is not sent to {upstream}, which is not the address of its provider\n  \
                     to send the key anyway, set {address}={upstream}"
                ));
            }
        }
        let project = self.project.open(&self.out)?;
        let OpenProject { rules, callers, .. } = &project;
        let secrets = project.secrets()?;
        hide(secrets.scrub().clone());
        let journal_file = journal_of(&self.out);
        let _lock = JournalLock::take(&journal_file)?;
        // Under the lock: another proxy may have just written it.
        if self.out.exists() && !self.replace {
            let out = self.out.display();
            return Err(Error::new(format!("{out} already exists, and its turns would be lost"))
                .help("to keep it, record to another file: --out FILE")
                .help("to replace it: add --replace"));
        }
        let progress = Progress::start("proxy");
        let watch = progress.clone();
        let watch = Arc::new(move |tally: &_| watch.show(tally));
        let options = RecorderOptions {
            secrets,
            errors: self.errors,
            delays: project.delays == Delays::Recorded,
            watch,
            resume: None,
        };
        let relay = Running::start(upstreams, &project.declared, false)?;
        let journal = call_log::CallLog::create(&journal_file)?;
        let recorder = Arc::new(Recorder::new(relay.relay.clone(), journal, options));
        let runtime = retake_model::threads::runtime()?;
        let (mode, address, key) = (Mode::Record(recorder.clone()), Some(self.addr), self.key.clone());
        let served = runtime.block_on(async {
            // Listen before printing the line that says it is ready: its reader may send a signal at once.
            let mut ended = Signals::listen()?;
            let options = ServerOptions { callers: callers.clone(), address, key, ..ServerOptions::default() };
            let server = ModelServer::start(mode, options).await?;
            recorder.on_stage(&places_here(Some(&server)));
            say_ready(&server);
            ended.wait().await;
            Ok::<_, Error>(())
        });
        // This ends calls that are still in flight; the journal records them as cut off.
        drop(runtime);
        progress.end();
        served?;
        summary(&recorder.tally()).iter().for_each(terminal::note);
        let code = self.write_fixture(&journal_file, rules, recorder.secrets().scrub());
        let troubles = recorder.troubles();
        if recorder.is_stopped() {
            troubles.iter().for_each(terminal::error);
            return code.map(|_| ExitCode::from(1));
        }
        note_each("warning", &troubles);
        code
    }

    fn write_fixture(&self, journal_file: &std::path::Path, rules: &Rules, scrub: &Scrub) -> Result<ExitCode> {
        let made = call_log::to_fixture(None, journal_file, &self.out, notes_of(&self.out, rules), rules, scrub)?;
        note_each("left out", &made.left_out);
        if !self.errors && !made.failed.is_empty() {
            terminal::note(format!("to make turns of a provider's errors: {RETAKE} proxy … --errors"));
        }
        note_each("warning", &made.warnings);
        let turns = made.fixture.table.turns().len();
        let left_out = made.left_out.len();
        if turns == 0 {
            let calls =
                if left_out == 0 { String::new() } else { format!("; the calls are in {}", journal_file.display()) };
            terminal::error(format!("no turns: {left_out} left out, nothing was written{calls}"));
            return Ok(ExitCode::from(1));
        }
        if let Some(suspected) = Suspected::of(&made.fixture, scrub, made.fixture.scrub.names()) {
            let (journal, out) = (journal_file.display(), self.out.display());
            terminal::error(suspected.error(&format!("{RETAKE} import journal {journal} --out {out}"), "record again"));
            return Ok(ExitCode::from(1));
        }
        // Check the printed text, which replay will read, and not the fixture in memory.
        let text = made.fixture.print();
        let fixture = Arc::new(Fixture::parse(&self.out, text.as_bytes(), rules)?);
        note_each("warning", first_unserved(&fixture, rules));
        files::write_whole(&self.out, text.as_bytes())?;
        let out = self.out.display();
        terminal::note(format!("{} recorded to {out}, {left_out} left out", counted(turns, "turn")));
        Ok(ExitCode::SUCCESS)
    }
}

/// Looks up each turn in recorded order, as its own call would. Returns a message about the first one that replay would not
/// serve.
fn first_unserved(fixture: &Arc<Fixture>, rules: &Rules) -> Option<String> {
    let replay = Replay::new(fixture.clone(), Arc::new(rules.clone()), Scope::new("proxy"));
    let turns = fixture.table.turns().iter().enumerate();
    turns.into_iter().find_map(|(index, turn)| {
        let lookup = Lookup {
            flaws: Vec::new(),
            values: RunValues::default(),
            first_caller: None,
            via: format!("the call of {}", nth_turn(index)),
            api: turn.wire.as_ref().map(|wire| wire.api),
            caller: turn.caller.clone(),
            conversation: fixture.conversation(index, rules)?.into(),
            checks: None,
        };
        let miss = replay.take(None, &lookup, None).err()?;
        Some(format!("replay does not serve {}: {}", nth_turn(index), miss.reason))
    })
}
