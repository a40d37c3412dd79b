use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use axum::http::{Request, header};
use clap::Args;

use super::project::{ProjectOption, note_each};
use super::relay::{Running, Upstreams, runner};
use crate::formats::{RequestAtHand, requests};
use retake::__private::report::{CheckData, check_json, check_text, terminal};
use retake::__private::run::{Action, Asking, CheckOptions};
use retake_base::error::{Error, Result};
use retake_core::secrets::hide;
use retake_model::{Cost, KeptCall, Limits, Mode, ModelServer, Replay, Scope, ServerOptions};
use retake_wire::fixture::Fixture;

/// Check whether the provider still answers as recorded; write nothing but a report
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  OPENAI_API_KEY=… retake check write_read_file\n  \
    retake check --all --sample 1 --max-calls 20\n  \
    retake check fixtures/imported.json --requests tests/cassettes/test_chat.yaml\n\n\
    Each scenario is replayed: its service gets the recorded answers. The provider is asked each call as well, and \
    its answer is compared with the recorded one: the fields and their types, the order and framing of events, which \
    tools are called, whether their arguments fit their schemas, and why the answer ends. Texts are never compared. \
    What the provider only adds is a note.\n\n\
    Exit code 0 if everything is as recorded, 1 if something is not, 2 if nothing differs but not everything could be \
    checked: no key, status 429 or 5xx, a broken connection, or a limit that was reached.\n\n\
    To take over what the provider sends today:\n  retake record write_read_file")]
pub(super) struct Check {
    /// The scenarios to check: names or parts of names; with --requests, one fixture
    #[arg(value_name = "NAME|FIXTURE", required_unless_present = "all")]
    name: Vec<String>,
    /// Check every scenario, except those that replay the recording of another one
    #[arg(long, conflicts_with = "name")]
    all: bool,
    /// Take only N scenarios of each API and model
    #[arg(long, value_name = "N")]
    sample: Option<usize>,
    /// Make at most N calls
    #[arg(long, value_name = "N")]
    max_calls: Option<u64>,
    /// Stop before the calls take more than N tokens, read and written
    #[arg(long, value_name = "N")]
    max_tokens: Option<u64>,
    /// Print JSON, in the format retake-check/1
    #[arg(long)]
    json: bool,
    /// Instead of replaying a scenario, send the requests of this cassette (VCR, go-vcr) or HTTP archive
    #[arg(long, value_name = "FILE", conflicts_with_all = ["all", "sample"])]
    requests: Option<PathBuf>,
    #[command(flatten)]
    project: ProjectOption,
}

impl Check {
    pub(super) fn run(self) -> Result<ExitCode> {
        let limits = Limits { calls: self.max_calls, tokens: self.max_tokens };
        if let Some(file) = &self.requests {
            let (requests, left_out) = requests(file)?;
            note_each("left out", left_out);
            return self.send(&requests, limits);
        }
        let root = self.project.folder()?;
        let options = CheckOptions { all: self.all, json: self.json, sample: self.sample, limits };
        runner::act(root, Action::Check(self.name, options))
    }

    /// Sends requests to the provider, and compares its answers with the turns that these requests get in replay.
    fn send(&self, requests: &[RequestAtHand], limits: Limits) -> Result<ExitCode> {
        let [name] = &self.name[..] else {
            return Err(Error::new("--requests sends the requests of one recording, so it goes with one fixture"));
        };
        let file = self.project.fixture_file(name.as_ref())?;
        let project = self.project.open(&file)?;
        let secrets = project.secrets()?;
        hide(secrets.scrub().clone());
        let fixture = Arc::new(Fixture::read(&file, &project.rules)?);
        terminal::note(format!("expect at most {}, as recorded", Cost::of_fixture(&fixture, &project.rules)));
        let running = Running::start(Upstreams::from_env()?, &project.declared, false)?;
        let provider = Asking::begin(running.relay.clone(), secrets, limits)?;
        let mut replay = Replay::new(fixture, project.rules.clone(), Scope::new(name));
        replay.keeps.bodies = true;
        let replay = Arc::new(replay);
        let options = ServerOptions { callers: project.callers, ..ServerOptions::default() };
        let runtime = retake_model::threads::runtime()?;
        let (calls, missed) = runtime.block_on(answered(&replay, options, requests))?;
        drop(runtime);
        let mut check = provider.ask(&calls)?;
        check.unchecked = missed;
        if requests.is_empty() {
            check.unchecked.push("there is no request to a model".to_owned());
        }
        let code = check.result().code();
        let checks: [(String, CheckData); 1] = [(name.clone(), check)];
        terminal::out(if self.json {
            check_json(&checks)
        } else {
            check_text(&checks, |_| "record or import it again".to_owned())
        });
        Ok(ExitCode::from(code))
    }
}

/// Gives each request to a model server. Returns the calls with their turns, and the requests that no turn answers.
async fn answered(
    replay: &Arc<Replay>,
    options: ServerOptions,
    requests: &[RequestAtHand],
) -> Result<(Vec<KeptCall>, Vec<String>)> {
    let server = ModelServer::start(Mode::Replay(replay.clone()), options).await?;
    let mut missed = Vec::new();
    for RequestAtHand { place, method, path, headers, body, failed } in requests {
        let mut request = Request::builder().method(method.as_str()).uri(path);
        for (name, value) in headers.iter().filter(|(name, _)| *name != header::CONTENT_ENCODING) {
            request = request.header(name, value);
        }
        let request = request.body(body.clone().into());
        let mut request = request.map_err(|e| Error::new(format!("{place}: the request cannot be sent: {e}")))?;
        let key = format!("Bearer {}", server.key()).parse();
        let key = key.map_err(|e| Error::new(format!("the key has characters that a header cannot have: {e}")))?;
        request.headers_mut().insert(header::AUTHORIZATION, key);
        let before = replay.scope().served().len();
        drop(server.answer(request).await);
        if replay.scope().served().len() == before {
            let help =
                if *failed { ", whose answer failed; `retake import … --errors` makes a turn of it" } else { "" };
            missed.push(format!("{place}: no turn answers this request{help}"));
        }
    }
    Ok((replay.log().kept, missed))
}
