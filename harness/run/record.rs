//! Recording a scenario: drive it with the provider behind the model server, make a fixture of the journal, prove that
//! it replays, and only then write it.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::files;
use crate::fixture::Fixture;
use crate::fixture::call_log;
use crate::json::Json;
use crate::model::{Cost, Mode, Recorder, RecorderOptions, Resume, ServerOptions, Upstreams, merged};
use crate::report::{Failure, Progress, notes, summary, terminal};
use crate::run::commands::record_command;
use crate::run::declared_secrets;
use crate::run::golden::Compared;
use crate::run::project::Project;
use crate::run::proof::Proof;
use crate::run::runner::RecordOptions;
use crate::run::trial;
use crate::scenario::{Scenario, is_name};
use crate::text::{counted, nearest};

/// Records scenarios by name, one after another. The exit code is 0 where all were, 1 where one was not.
///
/// # Errors
/// Where a name is no scenario's, or no provider is configured.
pub(crate) fn record(project: &Project, names: &[String], options: RecordOptions) -> Result<ExitCode> {
    let scenarios: Vec<&Scenario> = names.iter().map(|name| find(project, name)).collect::<Result<_>>()?;
    let upstreams = Upstreams::from_env()?;
    let mut code = ExitCode::SUCCESS;
    for scenario in scenarios {
        if let Err(failure) = record_one(project, scenario, &upstreams, options) {
            terminal::error(format!("{}: not recorded: {failure}\n", scenario.name));
            code = ExitCode::from(1);
        }
    }
    project.print_notes();
    Ok(code)
}

fn find<'a>(project: &'a Project, name: &str) -> Result<&'a Scenario> {
    for found in &project.discovered.scenarios {
        match found {
            Ok(scenario) if scenario.name == name => return Ok(scenario),
            Err(broken) if broken.name == name => return Err(broken.error.clone()),
            _ => {}
        }
    }
    let error = Error::new(format!("no scenario is called `{name}`"));
    Err(match nearest(name, project.discovered.sound().map(|scenario| scenario.name.as_str())) {
        Some(near) => error.help(format!("did you mean `{near}`?")),
        None if is_name(name) => error.help(format!("to make one: retake new {name}")),
        None => error,
    })
}

fn record_one(
    project: &Project,
    scenario: &Scenario,
    upstreams: &Upstreams,
    options: RecordOptions,
) -> Result<(), Failure> {
    let name = &scenario.name;
    let Some(file) = project.fixtures.file(scenario) else {
        return Err(Failure::new(format!("{} says fixture = \"none\"", scenario.file.display())));
    };
    let shown = file.strip_prefix(&project.root).unwrap_or(&file).to_owned();
    let journal_file = journal_of(&file);
    let old = file.exists().then(|| project.fixtures.of(scenario)).transpose().map(Option::flatten);
    declared_secrets::check(&project.discovered, scenario)?;
    let secrets = declared_secrets::of_project(&project.discovered)?;
    let begun = begin(project, name, &journal_file, &old, options.resume)?;
    let old = old.ok().flatten();
    let resume = begun.resume.clone();
    let progress = Progress::start(name);
    let watch = progress.clone();
    let watch = Arc::new(move |tally: &_| watch.show(tally));
    let errors = scenario.record_errors;
    let options_of_recorder = RecorderOptions { secrets, errors, watch, resume: begun.resume };
    let recorder = Recorder::new(upstreams.clone(), begun.journal, options_of_recorder);
    let recorder = Arc::new(recorder.before_paying(told_before_paying(name, &progress)));
    let server = ServerOptions { callers: project.callers.clone(), ..ServerOptions::default() };
    let mode = Mode::Record(recorder.clone());
    let run = trial::play(project, scenario, old.as_deref(), mode, server, || false);
    progress.end();
    if let Some(resume) = &resume {
        let (recalled, live) = resume.counts();
        let live = counted(live, "call");
        terminal::note(format!(
            "{name}: {} served from what was recorded, {live} to the provider",
            counted(recalled, "call")
        ));
    }
    for line in summary(&recorder.tally()) {
        terminal::note(format!("{name}: {line}"));
    }
    let run = run?;
    // In their place come those of the proof, which name turns.
    project.note(name, notes(None, [], &run.flaws));
    let troubles = recorder.troubles();
    if !troubles.is_empty() {
        let failure = Failure::new("model calls failed while recording").evidence(troubles.join("\n"));
        return Err(run.systems.iter().fold(going_on(failure, name, &recorder), Failure::evidence));
    }
    if let Some(error) = &run.driven.failure {
        let failure = going_on(Failure::new(error.to_string()), name, &recorder);
        return Err(run.systems.iter().fold(failure, Failure::evidence));
    }
    let of_old = old.as_ref().map(|fixture| fixture.notes.clone()).unwrap_or_default();
    let of_old = of_old.into_iter().chain([("scenario".to_owned(), Json::from(name.as_str()))]).collect();
    let journaled = call_log::to_fixture(&journal_file, &shown, of_old, &project.rules)?;
    journaled.left_out.iter().chain(&journaled.warnings).for_each(|line| terminal::note(format!("warning: {line}")));
    let turns = journaled.fixture.table.turns().len();
    if turns == 0 {
        let failure = run.systems.iter().fold(Failure::new("no model call became a turn"), Failure::evidence);
        return Err(failure
            .resolve("if it calls one", "let the system use the stage's model URL and key for its model calls")
            .resolve("if it calls none", "fixture = \"none\" in scenario.toml"));
    }
    // What is proven is the text that will be read, not what is in memory.
    let mut text = journaled.fixture.print();
    let candidate = Arc::new(Fixture::parse(&shown, text.as_bytes(), &project.rules)?);
    let proof = Proof { project, scenario, fixture: Some(&candidate), of_recording: true };
    let (golden, proven) = match proof.run() {
        Ok(golden) => (golden, "two replays agree"),
        Err(unproven) if options.accept_unstable && !unproven.why.is_empty() => {
            let why = unproven.why.join("\n  ");
            terminal::note(format!("{name}: warning: written without a proof, since this varies:\n  {why}"));
            text = Fixture { unstable: unproven.why, ..journaled.fixture }.print();
            (unproven.golden, "marked as unstable")
        }
        Err(unproven) => return Err(unproven.failure),
    };
    files::write_whole(&file, text.as_bytes())?;
    recorder.close()?;
    terminal::note(format!("{name}: {} recorded to {}, {proven}", counted(turns, "turn"), shown.display()));
    if let Some(golden) = golden {
        let change = match project.goldens.compare(&scenario.golden_name, &golden, &scenario.file)? {
            Compared::Same => "unchanged",
            Compared::New => "new",
            Compared::Differs(_) => "changed",
        };
        terminal::note(format!("{name}: golden {change}"));
    }
    Ok(())
}

/// A journal that is begun, and what the recording is served from.
struct Begun {
    journal: call_log::CallLog,
    resume: Option<Arc<Resume>>,
}

/// Begins the journal, and says what is to be expected. A journal that a resumed recording goes on from stays in the file.
fn begin(
    project: &Project,
    name: &str,
    file: &Path,
    old: &Result<Option<Arc<Fixture>>>,
    resume: bool,
) -> Result<Begun> {
    let rules = &project.rules;
    if !resume {
        if let Ok(Some(old)) = old {
            let cost = Cost::of_fixture(old, rules);
            terminal::note(format!("{name}: {cost} are to be expected, as in {}", old.path.display()));
        }
        return Ok(Begun { journal: call_log::CallLog::create(file)?, resume: None });
    }
    let shown = file.strip_prefix(&project.root).unwrap_or(file);
    let mut calls = call_log::LoggedCalls::default();
    if file.exists() {
        calls = call_log::read(file, shown)
            .map_err(|e| e.help(format!("to record from the start: retake record {name}")))?;
        calls.torn.iter().for_each(|torn| terminal::note(format!("warning: {torn}")));
    }
    // What became a fixture is served from the fixture, where that can still be read: it may be newer.
    if calls.recorded && matches!(old, Ok(Some(_))) {
        calls = call_log::LoggedCalls::default();
    }
    if let Err(error) = old {
        terminal::note(format!("warning: the old fixture is not used: {error}"));
    }
    let turns = merged(calls.turns(rules), rules);
    let old = old.as_ref().ok().and_then(Option::as_deref);
    let resume = Resume::new(&turns, old, rules.clone());
    let mut from: Vec<String> = Vec::new();
    if !turns.is_empty() {
        from.push(format!("{} recorded in {}", counted(turns.len(), "call"), shown.display()));
    }
    from.extend(old.map(|old| format!("{} in {}", counted(old.table.turns().len(), "turn"), old.path.display())));
    let cost = resume.expected();
    terminal::note(if from.is_empty() {
        format!("{name}: nothing is recorded yet, so each call goes to the provider")
    } else {
        let from = from.join(", ");
        format!("{name}: {cost} are to be expected, less what equals a recorded call: {from}")
    });
    let entries: Vec<call_log::LoggedCall> = turns.into_iter().map(|(_, entry)| entry).collect();
    let journal =
        if entries.is_empty() { call_log::CallLog::create(file)? } else { call_log::CallLog::resume(file, &entries)? };
    Ok(Begun { journal, resume: Some(Arc::new(resume)) })
}

/// Says what is to be expected before the first call that is paid.
fn told_before_paying(name: &str, progress: &Progress) -> impl Fn(&str, Cost) + Send + Sync + 'static {
    let (name, progress) = (name.to_owned(), progress.clone());
    move |call, expected| {
        let rest = if expected.calls == 0 {
            "no recorded call is left".to_owned()
        } else {
            format!("at most {expected} are to be expected from here on, as recorded")
        };
        let line = format!("{name}: {call} equals no recorded call and goes to the provider; {rest}");
        progress.beside(|| terminal::note(line));
    }
}

/// With what goes on where a recording failed, unless nothing was recorded.
fn going_on(failure: Failure, name: &str, recorder: &Recorder) -> Failure {
    if recorder.calls() == 0 {
        return failure;
    }
    failure.resolve("to go on from what was recorded", format!("{} --resume", record_command(name)))
}

/// The journal of a fixture file, in a folder that no commit takes in.
pub(crate) fn journal_of(fixture: &Path) -> std::path::PathBuf {
    let name = fixture.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    fixture.with_file_name(".journal").join(format!("{name}.jsonl"))
}
