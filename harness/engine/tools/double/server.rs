//! The doubles of one stage, from their start to their end.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, LazyLock};

use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::answers::Answers;
#[cfg(unix)]
use super::pipe::Pipe;
use super::questions::Questions;
use super::serve::{self, Servers, ToolRequest, ToolsMode};
use super::single::{LazyAnswers, Live, Server};
use super::stdio;
use super::streams::Streams;
use super::traffic::Traffic;
use super::upstream::Upstream;
use super::world::{CallOfTool, ToolWorld};
use crate::system::{Egress, Folder, StageTools};
use crate::tools::executor::Http;
use crate::tools::live::OnStage;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_core::key::Normalizer;
use retake_core::secrets::Scrub;
use retake_model::kept::outliving;
use retake_model::{Pacing, Replay};
use retake_scenario::{ForkTools, Suite, ToolBy};
use retake_wire::fixture::{Lack, ToolExchanges, ToolId};

/// Everything that is needed to start the doubles of a stage.
pub struct Given<'a> {
    /// The suite, which declares the servers.
    pub suite: &'a Suite,
    /// The servers that the scenario and its systems name. If real servers answer, only these are started.
    pub used: &'a BTreeSet<String>,
    /// How long answers are held back.
    pub pacing: Pacing,
    /// The folder of the project.
    pub root: &'a Path,
    /// The fixture, for messages.
    pub fixture: &'a Path,
    /// What was recorded. It is asked when the places of the stage are known.
    pub recorded: Option<Arc<Replay>>,
    /// Where answers come from.
    pub mode: ToolsMode,
    /// The secrets that templates of real servers use as `{{ secret.NAME }}`.
    pub secrets: &'a Json,
    /// The suite's rules for texts.
    pub normalizer: &'a Normalizer,
    /// What removes secrets.
    pub scrub: &'a Scrub,
    /// Watches what real servers try to reach.
    pub egress: &'a Egress,
}

/// The doubles of a stage, while it runs.
pub struct Doubles {
    state: Arc<Servers>,
    address: SocketAddr,
    names: Vec<(String, ToolBy)>,
    task: JoinHandle<()>,
    _folder: Option<Folder>,
}

impl Doubles {
    /// Starts a double for each tool server that is used; in replay on a thread that outlives the stage. If answers come from the
    /// real servers, these are started too. Returns `None` if none is used.
    /// Fails if a double or a real server cannot be started.
    pub async fn start(given: Given<'_>) -> Result<Option<Doubles>> {
        let has_double = |by: &ToolBy| matches!(by, ToolBy::McpCommand(_) | ToolBy::McpUrl(_) | ToolBy::Http(_));
        // In replay all servers have a double, so that recorded exchanges of a server that is no longer used count as unused.
        let is_used = |name: &str| matches!(given.mode, ToolsMode::Replay(_)) || given.used.contains(name);
        let specs: Vec<_> =
            given.suite.tools.iter().filter(|(name, spec)| has_double(&spec.by) && is_used(name.as_str())).collect();
        if specs.is_empty() {
            return Ok(None);
        }
        let live = !matches!(given.mode, ToolsMode::Replay(_) | ToolsMode::Fork(_, ForkTools::Recorded));
        let made = live.then(Folder::of_stage);
        made.as_ref().map_or(Ok(()), Folder::make)?;
        let mut by_name = BTreeMap::new();
        for (name, spec) in &specs {
            let streams = Arc::<Streams>::default();
            let live = if let Some(folder) = &made {
                let stage = OnStage::new(given.root, folder, given.secrets, given.egress)?;
                let of_tool = |error: Error| error.of(&format!("tool `{name}`:")).in_file(&given.suite.path);
                let traffic = Arc::new(Traffic::new(Arc::clone(&streams), given.scrub.clone()));
                let upstream = match &spec.by {
                    #[cfg(unix)]
                    ToolBy::McpCommand(command) => {
                        let command = stage.command(command).map_err(of_tool)?;
                        let (process, stream, _) = command.speak(spec.timeout).await.map_err(of_tool)?;
                        Upstream::Pipe(Pipe::new(process, stream, Arc::clone(&traffic)))
                    }
                    ToolBy::McpUrl(url) | ToolBy::Http(url) => {
                        let (url, headers) = stage.url(url).map_err(of_tool)?;
                        Upstream::Http(Http::new(url, headers))
                    }
                    #[cfg(not(unix))]
                    ToolBy::McpCommand(_) => {
                        return Err(of_tool(Error::new(
                            "a server that is started as a command needs Linux or macOS for now",
                        )));
                    }
                    _ => continue,
                };
                Some(Live { upstream, traffic })
            } else {
                None
            };
            let (recorded, name) = (given.recorded.clone(), (*name).clone());
            let (normalizer, scrub, of) = (given.normalizer.clone(), given.scrub.clone(), name.clone());
            let answers = move || {
                let Some(recorded) = recorded else { return Mutex::new(Answers::new(&[], &normalizer, &scrub)) };
                let exchanges = recorded.fixture().tools.get(&of).map(Vec::as_slice).unwrap_or_default();
                let answers = Answers::new(exchanges, &normalizer, &scrub);
                Mutex::new(answers.with_second_look(move |then, now| recorded.says_the_same(then, now)))
            };
            let (is_plain, questions, drift) =
                (matches!(spec.by, ToolBy::Http(_)), Questions::default(), Mutex::default());
            let answers: LazyAnswers = LazyLock::new(Box::new(answers));
            by_name.insert(name, Server { answers, live, streams, is_plain, questions, drift });
        }
        let key = uuid::Uuid::new_v4().simple().to_string();
        let Given { mode, pacing, .. } = given;
        let (fixture, seen, asked) = (given.fixture.to_owned(), Mutex::default(), AtomicU64::new(0));
        let state = Arc::new(Servers { key, mode, fixture, by_name, world: Mutex::default(), seen, pacing, asked });
        let failed = |e: std::io::Error| Error::new(format!("failed to listen for tools: {e}"));
        let router = serve::router(Arc::clone(&state));
        let serving = async move {
            let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
            let address = listener.local_addr()?;
            Ok((address, tokio::spawn(async move { drop(axum::serve(listener, router).await) })))
        };
        // In replay, a call after the end of the stage is a miss, just as a late model call is.
        let replays = matches!(state.mode, ToolsMode::Replay(_));
        let served = if replays { outliving()?.spawn(serving).await } else { Ok(serving.await) };
        let (address, task) =
            served.map_err(|e| Error::new(format!("the tool server did not start: {e}")))?.map_err(failed)?;
        let names = specs.iter().map(|(name, spec)| ((*name).clone(), spec.by.clone())).collect();
        Ok(Some(Doubles { state, address, names, task, _folder: made }))
    }

    /// Sets what becomes of calls of tools in the run that comes. With `anew`, nothing was served in it yet.
    pub fn lay_in(&self, world: Arc<ToolWorld>, anew: bool) {
        *self.state.world.lock() = world;
        if anew {
            for server in self.state.by_name.values() {
                server.answers.lock().anew();
            }
        }
    }

    /// Returns what a stage knows of them: for each MCP server its URL, or the command that starts its double; for each plain HTTP
    /// tool its `url`; and what differs from run to run.
    pub fn on_stage(&self) -> StageTools {
        let value = |(name, by): &(String, ToolBy)| {
            let url = format!("http://{}/{}/{name}", self.address, self.state.key);
            let command = stdio::command(&url).filter(|_| matches!(by, ToolBy::McpCommand(_)));
            let value = match (by, command) {
                (ToolBy::Http(_), _) => Json::object([("url", Json::Str(url))]),
                (_, None) => Json::Str(url),
                (_, Some(words)) => Json::Array(words.into_iter().map(Json::Str).collect()),
            };
            (name.clone(), value)
        };
        let names = vec![(format!("{}/{}", self.address, self.state.key), "<tools>".to_owned())];
        StageTools { context: Json::object(self.names.iter().map(value)), names }
    }

    /// Ends the doubles and the real servers, and returns what they were asked. In replay, the doubles still answer late calls.
    pub async fn end(self) -> Asked {
        match self.state.mode {
            ToolsMode::Replay(_) => keep(self.task),
            ToolsMode::Live | ToolsMode::Record | ToolsMode::Fork(..) => self.task.abort(),
        }
        let mut asked = Asked { requests: self.state.seen.lock().clone(), ..Asked::default() };
        for (name, server) in &self.state.by_name {
            let named = |line: String| format!("`{name}`: {line}");
            asked.drift.extend(server.drift.lock().iter().cloned().map(named));
            server.answers.lock().told_to(&mut asked, name);
            let questions = server.open_questions().into_iter();
            asked.unanswered.extend(questions.map(|method| format!("the server `{name}` asked the agent `{method}`")));
            if let ToolsMode::Fork(..) = self.state.mode {
                asked.recorded.insert(name.clone(), server.answers.lock().served());
            }
            if let Some(live) = &server.live {
                // Before the server ends, since requests that it has not answered by now fail then.
                asked.recorded.entry(name.clone()).or_default().extend(live.traffic.exchanges());
                live.upstream.end().await;
            }
        }
        asked
    }
}

/// The doubles of the stages that ended last. Each of them occupies a port, so only the last ones are kept.
static ENDED: Mutex<VecDeque<JoinHandle<()>>> = Mutex::new(VecDeque::new());
const ENDED_KEPT: usize = 64;

/// Keeps the doubles of a stage that ended, so that they answer late calls.
fn keep(task: JoinHandle<()>) {
    let mut ended = ENDED.lock();
    ended.push_back(task);
    if ended.len() > ENDED_KEPT {
        ended.pop_front().into_iter().for_each(|oldest| oldest.abort());
    }
}

/// What the doubles of a stage were asked.
#[derive(Debug, Default)]
pub struct Asked {
    /// Recorded requests that the system did not make.
    pub unused: Vec<String>,
    /// The same, each as its server and its index in the fixture.
    pub unused_at: Vec<(String, usize)>,
    /// Recorded requests with days in whose place were made only such with the same days, or with days as far from today, each with
    /// whether they are the same.
    pub dates_stay: BTreeSet<(CallOfTool, bool)>,
    /// Headers of recorded requests that those in their place did not have, and ids that are others there.
    pub lacking: BTreeSet<(CallOfTool, Lack)>,
    /// The ids of the requests that got a recorded answer, each with what counts as the same request.
    pub ids: Vec<(CallOfTool, String, Vec<ToolId>)>,
    /// Answers of live servers that differ from the recorded ones, one line for each.
    pub drift: Vec<String>,
    /// Requests of servers that the system has not answered, one line each.
    pub unanswered: Vec<String>,
    /// The exchanges with real servers.
    pub recorded: ToolExchanges,
    /// The first requests, in the order in which they were answered.
    pub requests: Vec<ToolRequest>,
}

#[cfg(test)]
mod tests;
