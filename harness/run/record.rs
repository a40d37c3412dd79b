//! Recording scenarios, in four stages: begin the journal, drive the scenario with the real provider
//! behind the command's relay, prove that the recording
//! replays, and only then write its files.

mod begin;
mod drive;
mod held;
mod prove;
mod wanted;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use super::action::RecordOptions;
use super::project::Project;
use crate::report::{Failure, RunAction, terminal};
use begin::{Begin, Begun, Recording, begin};
use drive::with_resume_advice;
use prove::Proven;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_base::text::counted;
use retake_model::Relay;
use retake_scenario::{Scenario, Suite, SystemSpec, Template};
pub(super) use wanted::{is_named, wanted};

/// Records scenarios one after another: those with these names or parts of names, or all. The exit code is 0 if all of them were
/// recorded, otherwise 1; after a signal, that of the signal.
/// Fails if a name matches no scenario, or no provider is configured.
pub(super) fn run(project: &Project, names: &[String], options: RecordOptions) -> Result<ExitCode> {
    let scenarios = wanted(project, names, options.all, "recording")?;
    let relay = relay()?;
    let (mut code, mut told) = (ExitCode::SUCCESS, BTreeSet::new());
    for scenario in scenarios {
        if project.interrupt.code().is_some() {
            break;
        }
        if let Err(failure) = record(project, scenario, &relay, options) {
            let why = failure.to_string();
            let shown = if told.insert(why.clone()) { &why } else { "for the same reason" };
            terminal::error(format!("{}: not recorded: {shown}\n", scenario.name));
            code = ExitCode::from(1);
        }
    }
    if let Some(signal) = project.interrupt.code() {
        code = ExitCode::from(signal);
    }
    project.print_notes();
    Ok(code)
}

/// Makes the calls of another journal the recording of a scenario, with the tool exchanges of a fixture, if the recording passes
/// its proof.
pub(super) fn accepted(project: &Project, scenario: &Scenario, journal: &Path, tools: &Path) -> ExitCode {
    let accepted = project.logged(scenario, RunAction::Record, || {
        begin(project, scenario, Begin::With(journal))?.driven(tools)?.prove(false)?.commit(false)
    });
    project.print_notes();
    let Err(failure) = accepted else { return ExitCode::SUCCESS };
    terminal::error(format!("{}: not accepted: {failure}\n", scenario.name));
    ExitCode::from(1)
}

/// The relay of the command that started this runner.
/// Fails if no command did, or no provider is configured.
pub(super) fn relay() -> Result<Relay> {
    let relay = Relay::from_env().ok_or_else(|| {
        let why = "a runner reaches no provider: the relay of the command `retake` does, which did not start it";
        Error::new(why).help(format!("to record: {RETAKE} record NAME"))
    })?;
    if relay.reaches.is_empty() {
        return Err(Error::new("recording needs a provider, but none is configured")
            .help("set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or OLLAMA_API_KEY for the provider itself")
            .help("or RETAKE_UPSTREAM_OPENAI for another address that speaks OpenAI's API: https://host/v1")
            .help("(RETAKE_UPSTREAM_ANTHROPIC, _GEMINI and _OLLAMA likewise)"));
    }
    Ok(relay)
}

fn record(project: &Project, scenario: &Scenario, relay: &Relay, options: RecordOptions) -> Result<(), Failure> {
    project.logged(scenario, RunAction::Record, || {
        let begun = begin(project, scenario, if options.resume { Begin::Resume } else { Begin::Anew })?;
        begun.reach(relay)?;
        begun.drive(relay, options.recorded_tools)?.prove(options.accept_unstable)?.commit(options.propose)
    })
}

impl Proven<'_> {
    /// Writes the fixture and the golden, or proposes them, and prints which. Closes the journal once the fixture is on disk.
    /// Fails if a file cannot be written.
    pub(super) fn commit(self, propose: bool) -> Result<(), Failure> {
        let written = self.write(propose);
        written.map_err(|failure| with_resume_advice(failure, &self.recording.scenario.name, &self.recorder))
    }

    fn write(&self, propose: bool) -> Result<(), Failure> {
        let Recording { project, scenario, file, shown, .. } = &self.recording;
        let (name, ending) = (&scenario.name, if propose { ".new" } else { "" });
        let mut written = file.clone().into_os_string();
        written.push(ending);
        files::write_whole(Path::new(&written), self.fixture.as_bytes())?;
        self.recorder.close()?;
        let turns = counted(self.turns, "turn");
        terminal::note(format!("{name}: {turns} recorded to {}{ending}, {}", shown.display(), self.how));
        let goldens = project.goldens.by(self.by);
        if propose {
            let propose = |golden| goldens.propose_golden(&scenario.golden_name, golden, &scenario.file);
            if self.golden.as_ref().is_some_and(propose) {
                terminal::note(format!("{name}: golden changed"));
            }
            terminal::note(format!("{name}: to look at the changes and decide: {RETAKE} review"));
        } else if let Some(golden) = &self.golden {
            let compared = goldens.compare_golden(&scenario.golden_name, golden, &scenario.file, false)?;
            terminal::note(format!("{name}: golden {}", compared.change()));
        }
        Ok(())
    }
}

impl Begun<'_> {
    /// Lets the relay try the providers, without calling them. A recording that is resumed may need no provider, so it only says
    /// what it cannot reach.
    /// Fails if a provider cannot be reached, in one line.
    pub(super) fn reach(&self, relay: &Relay) -> Result<(), Failure> {
        let scenario = self.recording.scenario;
        let suite = &self.recording.project.discovered.suite;
        let named = scenario.system.iter().flat_map(|system| pointed_at(suite, system)).collect::<BTreeSet<_>>();
        let reached = |provider: &&String| named.is_empty() || named.contains(provider.as_str());
        let tried: Vec<&String> = relay.reaches.iter().filter(reached).collect();
        let failed: Vec<String> = tried.iter().filter_map(|provider| relay.tries(provider).err()).collect();
        // A system whose settings are not in the suite calls one provider or another.
        let matters = if named.is_empty() { failed.len() == tried.len() } else { true };
        let Some(first) = failed.into_iter().next().filter(|_| matters) else { return Ok(()) };
        if self.resume.as_ref().is_some_and(|resume| resume.expected.calls > 0) {
            terminal::note(format!("{}: warning: {first}", scenario.name));
            return Ok(());
        }
        Err(Failure::new(first))
    }
}

/// The providers whose addresses the templates of a system name, and of the systems that it needs; none if no template does.
fn pointed_at(suite: &Suite, system: &str) -> BTreeSet<String> {
    let Some(SystemSpec::Command(spec)) = suite.systems.get(system) else { return BTreeSet::new() };
    let own = spec.command.iter().chain(spec.env.values()).chain(spec.files.values()).chain(&spec.cwd);
    let models = own.flat_map(Template::names).filter_map(|name| name.strip_prefix("model."));
    let models = models.filter(|model| !matches!(*model, "key" | "url")).map(str::to_owned);
    models.chain(spec.needs.iter().flat_map(|needed| pointed_at(suite, needed))).collect()
}
