//! The state of `retake serve`: the fixtures that it serves, and its answers under `/__retake/`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};

use axum::http::Method;
use serde::Deserialize;

use super::project::ProjectOption;
use retake::__private::project::OpenProject;
use retake::__private::report::{note_lines, notes};
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_core::json::Json;
use retake_core::secrets::shown;
use retake_model::{
    Companion, Fault, Load, Miss, Mode, ModelServer, Pacing, Replay, Scope, Staged, Stages, places_here,
};
use retake_scenario::Level;
use retake_wire::fixture::Fixture;
use retake_wire::{Body, Response};

/// The fixtures that a server replays, and their state since the server started or was last reset.
#[derive(Debug)]
pub(super) struct Serving {
    pub(super) project: OpenProject,
    option: ProjectOption,
    pub(super) how: How,
    /// The folders whose fixtures a reset may name.
    folders: Vec<PathBuf>,
    laid_in: Mutex<LaidIn>,
    server: OnceLock<Weak<ModelServer>>,
}

/// How fixtures are served, whichever they are.
#[derive(Debug)]
pub(super) struct How {
    /// Whether turns are served once more when all were served.
    pub(super) repeat: bool,
    pub(super) load: Arc<Load>,
    /// Whether answers have to be as slow as they were recorded.
    pub(super) needs_delays: bool,
    /// The fault that the first call of a turn, or of each turn, meets.
    pub(super) world: Option<(Option<usize>, Fault)>,
    /// Whether calls may ask for a fault in a header.
    pub(super) by_header: bool,
}

/// The fixtures that are served now.
#[derive(Clone, Debug)]
struct LaidIn {
    files: Vec<PathBuf>,
    name: String,
    replay: Arc<Replay>,
}

/// The body of a reset.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reset {
    /// The fixtures to serve from now on, as files or names; `None` keeps the current ones.
    fixtures: Option<Vec<PathBuf>>,
    /// The name that misses mention from now on; `None` keeps the current one.
    name: Option<String>,
}

impl Serving {
    /// Serves these fixture files of a project.
    /// Fails if one cannot be read.
    pub(super) fn of(files: &[PathBuf], project: OpenProject, option: ProjectOption, how: How) -> Result<Serving> {
        let laid_in = LaidIn::of(files.to_vec(), "serve".to_owned(), &project, &how)?;
        let beside = files.iter().map(|file| file.parent().unwrap_or(file).to_owned());
        let folders = beside.chain([option.folder()?]).filter_map(|folder| resolved(&folder)).collect();
        let (laid_in, server) = (Mutex::new(laid_in), OnceLock::new());
        Ok(Serving { project, option, how, folders, laid_in, server })
    }

    /// The replay of the current fixtures.
    pub(super) fn replay(&self) -> Arc<Replay> {
        self.laid_in().replay
    }

    /// Sets the server that replays these fixtures.
    pub(super) fn of_server(&self, server: &Arc<ModelServer>) {
        let _ = self.server.set(Arc::downgrade(server));
    }

    /// The misses since the last reset.
    pub(super) fn misses(&self) -> Vec<Arc<Miss>> {
        self.replay().scope().misses()
    }

    /// The differences from the recording since the last reset, one line each: first those that fail, then those that are only
    /// noted.
    pub(super) fn drift(&self) -> (Vec<String>, Vec<String>) {
        let Some(server) = self.server.get().and_then(Weak::upgrade) else { return Default::default() };
        let (seat, replay) = (server.seat(), self.replay());
        let (drift, flaws) = (seat.drift(), seat.flaws());
        // The suite's levels, which also apply to a scenario without a `drift` of its own.
        let weight = self.project.drift;
        let of_level = |level: Level| drift.iter().filter(move |(_, drift)| weight.of(drift.check) == level);
        let failing = note_lines(&notes(Some(replay.fixture()), of_level(Level::Fail), &[]));
        (failing, note_lines(&notes(Some(replay.fixture()), of_level(Level::Note), &flaws)))
    }

    /// The report since the last reset: what was served, missed and left unused, and what differed.
    pub(super) fn report(&self) -> Json {
        let replay = self.replay();
        let turns = |turns: Vec<usize>| turns.into_iter().map(|index| turn(replay.fixture(), index)).collect();
        let (failing, noted) = self.drift();
        let lines = |level: &'static str, lines: Vec<String>| {
            let line = move |text: String| Json::object([("level", level.into()), ("text", Json::Str(shown(&text)))]);
            lines.into_iter().map(line)
        };
        let report = [
            ("served", Json::Array(turns(replay.scope().served()))),
            ("missed", missed(&replay.scope().misses())),
            ("unused", Json::Array(turns(replay.unused()))),
            ("drift", Json::Array(lines("fail", failing).chain(lines("note", noted)).collect())),
        ];
        let earlier = self.earlier();
        let any = earlier.iter().any(|(_, count)| *count > 0);
        let earlier = any.then(|| ("earlier", Json::object(earlier.map(|(name, count)| (name, Json::from(count))))));
        let limited = self.how.load.limited().map(|calls| ("limited", Json::from(calls)));
        Json::object(report.into_iter().chain(limited).chain(earlier))
    }

    /// How much happened that the report only counts: it lists the last of each.
    fn earlier(&self) -> [(&'static str, usize); 3] {
        let (served, missed) = retake_model::forgotten();
        let drift = self.server.get().and_then(Weak::upgrade).map_or(0, |server| server.seat().forgotten_drift());
        [("served", served), ("missed", missed), ("drift", drift)]
    }

    /// Forgets what was served and missed, and serves other fixtures if the body names some.
    fn reset(&self, body: &[u8]) -> Result<Json> {
        let asked = if body.trim_ascii().is_empty() { Ok(Reset::default()) } else { serde_json::from_slice(body) };
        let asked = asked.map_err(|e| {
            Error::new(format!("the body is not a valid reset: {e}"))
                .help("send no body, or {\"fixtures\": [\"NAME\"], \"name\": \"TEST\"}")
        })?;
        let before = self.laid_in();
        let files = match asked.fixtures {
            Some(named) => named.iter().map(|named| self.of_project(named)).collect::<Result<_>>()?,
            None => before.files,
        };
        let laid_in = LaidIn::of(files, asked.name.unwrap_or(before.name), &self.project, &self.how)?;
        if let Some(server) = self.server.get().and_then(Weak::upgrade) {
            // The process-wide registry contains only entries of this server, so all of them can go.
            retake_model::reset();
            self.how.load.reset();
            server.lay_in(Mode::Replay(laid_in.replay.clone()), Pacing::None);
        }
        *self.laid_in.lock() = laid_in;
        Ok(self.health())
    }

    /// The file of a fixture that a reset names. Whoever may send a reset may not read other files with it.
    fn of_project(&self, named: &Path) -> Result<PathBuf> {
        let file = self.option.fixture_file(named)?;
        // A file that does not exist is looked for where it would be.
        let whole = resolved(&file).or_else(|| Some(resolved(file.parent()?)?.join(file.file_name()?)));
        let is_json = file.extension().is_some_and(|extension| extension == "json");
        if is_json && whole.is_some_and(|whole| self.folders.iter().any(|folder| whole.starts_with(folder))) {
            return Ok(file);
        }
        Err(Error::new(format!("{} is not a fixture of this project", named.display()))
            .help("a reset serves .json files of the project, or next to those that `retake serve` was started with"))
    }

    fn health(&self) -> Json {
        let LaidIn { files, replay, .. } = self.laid_in();
        let fixtures = files.iter().map(|file| name_of(file).into()).collect();
        Json::object([
            ("status", "ok".into()),
            ("version", env!("CARGO_PKG_VERSION").into()),
            ("fixtures", Json::Array(fixtures)),
            ("turns", replay.fixture().table.turns().len().into()),
        ])
    }

    fn laid_in(&self) -> LaidIn {
        self.laid_in.lock().clone()
    }
}

impl Companion for Serving {
    fn answer(&self, method: &Method, path: &str, body: &[u8]) -> Option<Response> {
        match (method, path) {
            (&Method::GET | &Method::HEAD, "health") => Some(Response::json(200, self.health())),
            (&Method::GET, "misses") => Some(Response::json(200, missed(&self.misses()))),
            (&Method::GET, "metrics") => {
                Some(Response::of(200, "text/plain; version=0.0.4; charset=utf-8", Body::Text(self.how.load.metrics())))
            }
            (&Method::GET, "report") => Some(Response::json(200, self.report())),
            (&Method::POST, "reset") => Some(match self.reset(body) {
                Ok(served) => Response::json(200, served),
                Err(error) => Response::json(400, Json::object([("error", Json::Str(shown(&error.to_string())))])),
            }),
            _ => None,
        }
    }
}

impl LaidIn {
    fn of(files: Vec<PathBuf>, name: String, project: &OpenProject, how: &How) -> Result<LaidIn> {
        let mut fixtures = files.iter().map(|file| Fixture::read(file, &project.rules));
        let none = || Ok(Fixture::of_turns(Path::new("none"), [].into(), Vec::new(), &project.rules));
        let first = fixtures.next().unwrap_or_else(none)?;
        let fixture = fixtures.try_fold(first, |all, next| next.map(|next| all.followed_by(next)))?;
        if how.needs_delays && !files.is_empty() && !fixture.keeps_delays() {
            let names: Vec<String> = files.iter().map(|file| name_of(file)).collect();
            return Err(Error::new(format!("{} was recorded without delays, so they cannot be replayed", names.join(", ")))
                .help("record again with delays = \"recorded\" in the suite or the scenario, or serve it with --delays ttft=400ms,tps=60"));
        }
        let rules = project.rules.clone();
        let mut replay = Replay::new(Arc::new(fixture), rules, Scope::new(&name)).with_repeat(how.repeat);
        if how.world.is_some() || how.by_header {
            replay.staged = Some(Arc::new(Staged::of(Stages::Faulty(how.world, 1), u32::MAX)));
        }
        replay.on_stage(&places_here(None));
        Ok(LaidIn { files, name, replay: Arc::new(replay) })
    }
}

/// A turn in a report, with its index in its own file. If several fixtures are served, the turn's fixture is named.
fn turn(fixture: &Fixture, index: usize) -> Json {
    let caller = fixture.table.turns()[index].caller.as_deref();
    let (file, turn) = fixture.file_of(index);
    let of_file = (!fixture.joined.is_empty()).then(|| ("fixture", name_of(file).into()));
    Json::object([("turn", Json::from(turn)), ("caller", Json::from(caller))].into_iter().chain(of_file))
}

fn missed(misses: &[Arc<Miss>]) -> Json {
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
    Json::Array(calls.collect())
}

/// A path without links and `..`; `None` if there is no such file or folder.
fn resolved(path: &Path) -> Option<PathBuf> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    path.canonicalize().ok()
}

/// The name of a fixture: its file name without `.json`.
fn name_of(file: &Path) -> String {
    file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned())
}
