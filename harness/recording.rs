//! Recording a scenario: drive it with the provider behind the model server, make a fixture of the journal, prove that
//! it replays, and only then write it.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use crate::error::{Error, Result, nearest};
use crate::files;
use crate::fixture::{Fixture, journal};
use crate::golden::Compared;
use crate::json::Json;
use crate::model::{Mode, RecordOptions, Recorder, ServerOptions, Upstreams};
use crate::project::Project;
use crate::proof::prove;
use crate::report::{Failure, Progress, counted, notes, summary, terminal};
use crate::scenario::Scenario;
use crate::trial;

/// Records scenarios by name, one after another. The exit code is 0 where all were, 1 where one was not.
///
/// # Errors
/// Where a name is no scenario's, or no provider is configured.
pub(crate) fn record(project: &Project, names: &[String]) -> Result<ExitCode> {
    let scenarios: Vec<&Scenario> = names.iter().map(|name| find(project, name)).collect::<Result<_>>()?;
    let upstreams = Upstreams::from_env()?;
    let mut code = ExitCode::SUCCESS;
    for scenario in scenarios {
        if let Err(failure) = record_one(project, scenario, &upstreams) {
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
        None => error.help(format!("to make one: retake new {name}")),
    })
}

fn record_one(project: &Project, scenario: &Scenario, upstreams: &Upstreams) -> Result<(), Failure> {
    let name = &scenario.name;
    let Some(file) = project.fixture_file(scenario) else {
        return Err(Failure::new(format!("{} says fixture = \"none\"", scenario.file.display())));
    };
    let shown = file.strip_prefix(&project.root).unwrap_or(&file).to_owned();
    let journal_file = journal_of(&file);
    project.check_secrets(scenario)?;
    let secrets = project.secrets()?;
    let progress = Progress::start(name);
    let watch = progress.clone();
    let options =
        RecordOptions { secrets, errors: scenario.record_errors, watch: Arc::new(move |tally| watch.show(tally)) };
    let recorder = Arc::new(Recorder::new(upstreams.clone(), journal::Journal::create(&journal_file)?, options)?);
    let old = file.exists().then(|| project.fixture(scenario)).transpose().ok().flatten().flatten();
    let options = ServerOptions { callers: project.callers.clone(), ..ServerOptions::default() };
    let mode = Mode::Record(recorder.clone());
    let run = trial::play(project, scenario, old.as_deref(), mode, options, || false);
    progress.end();
    for line in summary(&recorder.tally()) {
        terminal::note(format!("{name}: {line}"));
    }
    let run = run?;
    // In their place come those of the proof, which name turns.
    project.note(name, notes(None, [], &run.flaws));
    let troubles = recorder.troubles();
    if !troubles.is_empty() {
        let failure = Failure::new("model calls failed while recording").evidence(troubles.join("\n"));
        return Err(run.systems.iter().fold(failure, Failure::evidence));
    }
    if let Some(error) = &run.driven.failure {
        return Err(run.systems.iter().fold(Failure::new(error.to_string()), Failure::evidence));
    }
    let of_old = old.as_ref().map(|fixture| fixture.notes.clone()).unwrap_or_default();
    let of_old = of_old.into_iter().chain([("scenario".to_owned(), Json::from(name.as_str()))]).collect();
    let journaled = journal::to_fixture(&journal_file, &shown, of_old, &project.rules)?;
    journaled.left_out.iter().chain(&journaled.warnings).for_each(|line| terminal::note(format!("warning: {line}")));
    let turns = journaled.fixture.table.turns().len();
    if turns == 0 {
        let failure = run.systems.iter().fold(Failure::new("no model call became a turn"), Failure::evidence);
        return Err(failure
            .resolve("if it calls one", "let the system use the stage's model URL and key for its model calls")
            .resolve("if it calls none", "fixture = \"none\" in scenario.toml"));
    }
    // What is proven is the text that will be read, not what is in memory.
    let text = journaled.fixture.print();
    let candidate = Arc::new(Fixture::parse(&shown, text.as_bytes(), &project.rules)?);
    let golden = prove(project, scenario, Some(&candidate))?;
    files::write_whole(&file, text.as_bytes())?;
    terminal::note(format!("{name}: {} recorded to {}, two replays agree", counted(turns, "turn"), shown.display()));
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

/// The journal of a fixture file, in a folder that no commit takes in.
pub(crate) fn journal_of(fixture: &Path) -> std::path::PathBuf {
    let name = fixture.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    fixture.with_file_name(".journal").join(format!("{name}.jsonl"))
}
