//! Forking: runs a scenario on its recording up to a turn, and from there with the real provider, as another model or with
//! another prompt. The recording stays as it is. What a fork leaves is under `.retake/forks`, until it is accepted or swept.

mod accept;
mod folder;
mod turn;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;

use super::action::ForkOptions;
use super::audit::in_parallel;
use super::declared_secrets;
use super::project::Project;
use super::record::{relay, wanted};
use super::trial::{self, Played, Replayed};
use crate::report::{ForkRow, fork_table, terminal};
pub(super) use accept::accept;
use folder::Folder;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_base::text::counted;
use retake_core::events::{Change, Payload};
use retake_core::json::{Json, Layout};
use retake_core::secrets::Secrets;
use retake_model::{
    Branch, Cost, Mode, Pacing, Recorder, RecorderOptions, Relay, Resume, Rewrite, ServerOptions, merged,
};
use retake_scenario::Scenario;
use retake_wire::fixture::{Fixture, Naming, Recorded, call_log};

/// Runs a fork, and prints its table. If the same fork was interrupted, it continues, and pays for no answer twice. The exit code
/// is 1 if a run did not reach its end or was not found good.
/// Fails if there is no such scenario or turn, or no provider is configured.
pub(super) fn run(project: &Project, name: &[String], options: &ForkOptions) -> Result<ExitCode> {
    let [scenario] = wanted(project, name, false, "forking")?[..] else {
        return Err(Error::new("a fork is of one scenario: name one"));
    };
    let fixture = project.fixtures.of(scenario)?;
    let fixture = fixture.ok_or_else(|| Error::new(format!("scenario `{}` calls no model", scenario.name)))?;
    let from = turn::named(&fixture, &options.from)?;
    let rewrite = rewrite(&fixture, options)?;
    let relay = relay()?;
    declared_secrets::check(&project.discovered, scenario)?;
    let secrets = project.open.secrets()?;
    let recorded = ForkRow::of(&fixture, &project.discovered.suite.prices);
    let folder = Folder::open(project, scenario, &fixture, from, options, &secrets, recorded)?;
    let open: Vec<usize> = (1..=options.times).filter(|number| !folder.data().runs.contains_key(number)).collect();
    let each = Cost::of_turns(&fixture, from, &project.rules);
    let runs = counted(open.len(), "run");
    terminal::note(format!("{}: expect about {each} for each of {runs}, as recorded", folder.id));
    let forking = Forking { project, scenario, fixture, from, rewrite, relay, secrets, folder };
    project.slots.open(options.times, BTreeMap::new(), false);
    let ran = in_parallel(&open, open.len(), |number| forking.run(*number));
    if let Some(signal) = project.interrupt.code() {
        terminal::note(format!("{}: interrupted; the same command continues it", forking.folder.id));
        return Ok(ExitCode::from(signal));
    }
    ran.into_iter().collect::<Result<()>>()?;
    let (id, data) = (&forking.folder.id, forking.folder.data());
    if options.json {
        terminal::out(serde_json::to_string_pretty(&data).unwrap_or_default());
    } else {
        terminal::out(fork_table(id, &data));
        terminal::note(format!(
            "to read one: {RETAKE} show --fork {id}.1\nto keep one: {RETAKE} fork accept {id}.1\nto remove all: {RETAKE} fork sweep"
        ));
    }
    let is_bad = |row: &ForkRow| row.ended.is_some() || row.verified == Some(false);
    Ok(ExitCode::from(u8::from(data.runs.values().any(is_bad))))
}

/// What is asked instead of what the system asks.
fn rewrite(fixture: &Fixture, options: &ForkOptions) -> Result<Rewrite> {
    let named = options.models.iter().chain(&options.prompts).filter_map(|(caller, _)| caller.as_deref());
    for caller in named {
        turn::known_caller(fixture, caller)?;
    }
    let parsed = |(path, value): &(String, String)| {
        // What is no JSON is a text, so that nobody has to quote a word twice.
        (path.clone(), Json::parse(value.as_bytes()).unwrap_or_else(|_| value.as_str().into()))
    };
    Ok(Rewrite {
        models: options.models.clone(),
        prompts: options.prompts.clone(),
        settings: options.settings.iter().map(parsed).collect(),
    })
}

/// A fork that runs.
struct Forking<'a> {
    project: &'a Project,
    scenario: &'a Scenario,
    fixture: Arc<Fixture>,
    from: usize,
    rewrite: Rewrite,
    relay: Relay,
    secrets: Secrets,
    folder: Folder,
}

impl Forking<'_> {
    /// Makes one run, on a stage of its own, and notes its row.
    fn run(&self, number: usize) -> Result<()> {
        let Forking { project, scenario, fixture, secrets, .. } = self;
        let (file, rules) = (self.folder.path.join(format!("{number}.jsonl")), &project.rules);
        let mut paid = Vec::new();
        if file.exists() {
            let calls = call_log::read(&file, &file, secrets.scrub())?;
            paid = merged(calls.turns(rules), rules);
            self.drop_prefix(&mut paid);
        }
        let entries: Vec<call_log::LoggedCall> = paid.iter().map(|(_, entry)| entry.clone()).collect();
        let resume = (!entries.is_empty()).then(|| Arc::new(Resume::new(&paid, None, rules.clone())));
        let journal = call_log::CallLog::resume(&file, &entries)?;
        let branch = Arc::new(Branch::new(fixture, self.from, rules, self.rewrite.clone()));
        let watch = Arc::new(|_: &_| {});
        let options =
            RecorderOptions { secrets: secrets.clone(), errors: scenario.record_errors, delays: false, watch, resume };
        let mut recorder = Recorder::new(self.relay.clone(), journal, options);
        recorder.branch = Some(branch.clone());
        let recorder = Arc::new(recorder);
        let server = ServerOptions { callers: project.open.callers.clone(), ..ServerOptions::default() };
        let so_far = || {
            let so_far = call_log::to_fixture(None, &file, &file, BTreeMap::new(), rules, secrets.scrub());
            so_far.map_or_else(|_| Json::object::<String>([]), |so_far| so_far.fixture.answers())
        };
        let mut staged = (*scenario).clone();
        staged.name = format!("{}.{number:04}", self.folder.id);
        let mode = Mode::Record(recorder.clone());
        let played = trial::play(project, &staged, Some(&**fixture), mode, server, || false, Some(&so_far))?;
        let (shown, notes) = (&fixture.path, fixture.notes.clone());
        let forked = call_log::to_fixture(Some(&**fixture), &file, shown, notes, rules, secrets.scrub())?;
        let naming = Naming::default();
        let tools = naming.tools(&played.tools.recorded, &recorder.places());
        let fixture = naming.head(Fixture { tools, ..forked.fixture });
        let mut row = ForkRow::of(&fixture, &project.discovered.suite.prices);
        row.replayed = branch.recalled();
        let troubles = recorder.troubles().into_iter().chain(forked.failed);
        let step = played.error().map(ToString::to_string);
        row.ended = branch.ended().into_iter().chain(troubles).chain(step).next();
        if row.ended.is_none() {
            row.verified = self.verified(&played)?;
            let named = Arc::new(fixture.clone());
            let here = named.at(&recorder.places(), rules).map_or(named, Arc::new);
            row.golden = self.golden(played, here);
        }
        files::write_whole(&self.folder.path.join(format!("{number}.json")), fixture.print().as_bytes())?;
        self.folder.note(number, row)
    }

    /// Removes the calls before the branch, which are replayed again and were not paid for.
    fn drop_prefix(&self, paid: &mut Vec<(Recorded, call_log::LoggedCall)>) {
        let rules = &self.project.rules;
        for turn in self.fixture.table.turns().iter().take(self.from) {
            let is_this = |(call, _): &(Recorded, call_log::LoggedCall)| {
                call.key(rules).conversation_hash == turn.key.conversation_hash && call.output == turn.output
            };
            if let Some(at) = paid.iter().position(is_this) {
                paid.remove(at);
            }
        }
    }

    /// Whether the suite's command finds the run good; `None` if there is none. It gets the events as lines of JSON.
    fn verified(&self, played: &Played) -> Result<Option<bool>> {
        let [program, args @ ..] = &self.project.discovered.suite.verify[..] else { return Ok(None) };
        let mut lines = String::new();
        for captured in played.driven.captured.iter().filter(|captured| !captured.delivery.is_beside) {
            for event in &captured.events {
                let data = event.json().unwrap_or_else(|| match &event.payload {
                    Payload::Data(text) | Payload::Comment(text) | Payload::Tail(text) => (&**text).into(),
                    Payload::Empty => Json::Null,
                });
                let (request, label) = (captured.request.as_str().into(), (&*event.label()).into());
                let line = [("request", request), ("event", label), ("data", data)];
                lines += &(Json::object(line).print(Layout::Compact) + "\n");
            }
        }
        let failed = |e: std::io::Error| Error::new(format!("failed to start `{program}`, the suite's `verify`: {e}"));
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.project.root).stdin(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().map_err(failed)?;
        if let Some(mut input) = child.stdin.take() {
            // A command that has seen enough may close its input.
            let _ = input.write_all(lines.as_bytes());
        }
        Ok(Some(child.wait().map_err(failed)?.success()))
    }

    /// How the golden of the run differs from the committed one; `None` if there is none.
    fn golden(&self, played: Played, fixture: Arc<Fixture>) -> Option<Vec<String>> {
        let Forking { project, scenario, .. } = self;
        let committed = project.goldens.golden(&scenario.golden_name).ok().flatten()?;
        let run = Replayed {
            clock: project.systems.clock(scenario, Pacing::None, Some(&fixture)),
            committed: project.goldens.compared(&scenario.golden_name),
            ..Replayed::of(project, played, Some(fixture))
        };
        let mut sides = run.sides(scenario, &committed)?;
        sides.is.keep_pieces_as(&sides.was, true);
        Some(sides.changes().iter().map(Change::words).collect())
    }
}
