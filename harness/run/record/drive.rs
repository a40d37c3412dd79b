//! The second stage of a recording: driving the scenario once, with the real provider behind the model server.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::begin::{Begun, Recording};
use crate::report::{Failure, Note, Progress, notes, summary, terminal};
use crate::run::commands::record_command;
use crate::run::egress;
use crate::run::interrupt::RELAY_ENDED;
use crate::run::trial::{self, Played};
use retake_base::error::Result;
use retake_base::text::counted;
use retake_core::json::Json;
use retake_model::{Branch, Cost, Mode, Recorder, RecorderOptions, Relay, Resume, ServerOptions, merged};
use retake_scenario::{Delays, Scenario, Unused};
use retake_wire::fixture::{Fixture, Naming, ToolExchanges, call_log};

/// A recording whose journal contains all its calls.
pub(super) struct Driven<'a> {
    pub(super) recording: Recording<'a>,
    pub(super) recorder: Arc<Recorder>,
    /// The end of each system's output, which a failure quotes.
    pub(super) systems: Vec<String>,
    /// The requests to tool servers, with their answers.
    pub(super) tools: ToolExchanges,
    /// What places are called there.
    pub(super) naming: Naming,
    /// The run, if it was driven here.
    pub(super) played: Option<Played>,
}

impl<'a> Begun<'a> {
    /// A recording whose calls were all made elsewhere. The exchanges with tool servers are those of a fixture.
    /// Fails if the fixture cannot be read.
    pub(super) fn driven(self, tools: &Path) -> Result<Driven<'a>, Failure> {
        let Begun { recording, secrets, journal, .. } = self;
        let tools = Fixture::read(tools, &recording.project.rules)?.tools;
        let watch = Arc::new(|_: &_| {});
        let options = RecorderOptions { secrets, errors: true, delays: false, watch, resume: None };
        // No call goes anywhere.
        let recorder = Arc::new(Recorder::new(Relay::none(), journal, options));
        Ok(Driven { recording, recorder, systems: Vec::new(), tools, naming: Naming::default(), played: None })
    }

    /// Drives the scenario. Each call is in the journal before the system gets the end of its answer.
    /// Fails if a call or a step failed, with the command that resumes the recording.
    pub(super) fn drive(self, relay: &Relay, recorded_tools: bool) -> Result<Driven<'a>, Failure> {
        let Begun { recording, secrets, journal, resume } = self;
        let Recording { project, scenario, old, .. } = &recording;
        let name = &scenario.name;
        let progress = Progress::start(name);
        let watch = progress.clone();
        let watch = Arc::new(move |tally: &_| watch.show(tally));
        let delays = scenario.options.delays == Delays::Recorded;
        let given = RecorderOptions { secrets, errors: scenario.record_errors, delays, watch, resume: resume.clone() };
        let mut recorder = Recorder::new(relay.clone(), journal, given);
        let tools = old.as_ref().filter(|_| recorded_tools).map(|old| Arc::new(Branch::of_tools(old, &project.rules)));
        recorder.branch.clone_from(&tools);
        recorder.before_paying = Some(Box::new(announcement(name, &progress)));
        let recorder = Arc::new(recorder);
        let server = ServerOptions { callers: project.open.callers.clone(), ..ServerOptions::default() };
        let mode = Mode::Record(recorder.clone());
        // Steps that refer to a recorded answer get the turns that are in the journal so far.
        let turns = || {
            let Ok(so_far) = recording.so_far(&recorder) else { return Json::object::<String>([]) };
            let fixture = Arc::new(so_far.fixture);
            // The answers as they were given on this stage.
            fixture.at(&recorder.places(), &project.rules).map_or_else(|| fixture.answers(), |here| here.answers())
        };
        let played = trial::play(project, scenario, old.as_deref(), mode, server, || false, Some(&turns));
        progress.end();
        say_what_was_paid(name, resume.as_deref(), &recorder);
        let played = played.map_err(|error| match project.interrupt.code() {
            Some(_) => recording.interrupted(&recorder),
            None => error.into(),
        })?;
        // The proof replaces these notes with its own, which name turns.
        let reached = played.egress.as_ref().and_then(egress::recorded);
        project.note(name, notes(None, [], &played.flaws).into_iter().chain(reached.map(Note::from)));
        let failed = recording.so_far(&recorder)?.failed;
        if let Some(why) = tools.and_then(|tools| tools.ended()) {
            return Err(Failure::new(why));
        }
        let systems: Vec<String> = played.systems.iter().map(|log| log.quoted.clone()).collect();
        if let Some(failure) = failure(scenario, &played, &recorder, &failed) {
            return Err(systems.into_iter().fold(with_resume_advice(failure, name, &recorder), Failure::evidence));
        }
        let naming = Naming::default();
        let mut tools = naming.tools(&played.tools.recorded, &recorder.places());
        played.tell_ids(&mut tools, scenario, &project.rules);
        Ok(Driven { recording, recorder, systems, tools, naming, played: Some(played) })
    }
}

impl Recording<'_> {
    /// The failure of a recording that a signal has ended, with what a resumed one will not pay for again.
    pub(super) fn interrupted(&self, recorder: &Recorder) -> Failure {
        let journal = self.project.shown(&self.journal_file);
        let saved = call_log::read(&self.journal_file, &journal, recorder.secrets().scrub());
        let saved = saved.map_or(0, |calls| merged(calls.turns(&self.project.rules), &self.project.rules).len());
        let what = if self.project.interrupt.code() == Some(RELAY_ENDED) {
            "the command through which calls reach the provider has ended"
        } else {
            "interrupted"
        };
        if saved == 0 {
            return Failure::new(format!("{what} before an answer was complete, so nothing is saved"));
        }
        let of = if saved == 1 { "1 complete answer is".to_owned() } else { format!("{saved} complete answers are") };
        let failure = Failure::new(format!("{what}; {of} saved in {}", journal.display()));
        with_resume_advice(failure, &self.scenario.name, recorder)
    }

    /// The fixture that the journal makes so far, and the calls that the provider answered with an error.
    fn so_far(&self, recorder: &Recorder) -> Result<call_log::FixtureOfLog> {
        let (journal, rules, scrub) = (&self.journal_file, &self.project.rules, recorder.secrets().scrub());
        call_log::to_fixture(None, journal, &self.shown, BTreeMap::new(), rules, scrub)
    }
}

/// A page that asks the model after the scenario settled: in replay it would be closed before.
fn asks_later(scenario: &Scenario, played: &Played) -> Option<Failure> {
    let later = played.driven.later.filter(|_| scenario.options.unused != Unused::Allow)?;
    let settle = scenario.options.settle;
    let first = format!("a page asked the model {later:.1?} after everything else, and `settle` is {settle:?}");
    let case = format!("to wait for that call, set in {}", scenario.file.display());
    Some(Failure::new(first).resolve(case, format!("settle = \"{}s\"", later.as_secs() + 3)))
}

/// Why a recording is incomplete. A provider's errors come first, since everything else follows from them.
fn failure(scenario: &Scenario, played: &Played, recorder: &Recorder, failed: &[String]) -> Option<Failure> {
    let troubles = recorder.troubles();
    if !troubles.is_empty() {
        return Some(Failure::new("model calls failed while recording").evidence(troubles.join("\n")));
    }
    let after = played.error();
    let Some((first, more)) = failed.split_first() else {
        return after.map(|error| Failure::new(error.to_string())).or_else(|| asks_later(scenario, played));
    };
    let mut failure = Failure::new(format!("the provider failed: {first}"));
    if !more.is_empty() {
        failure = failure.evidence(more.join("\n"));
    }
    failure = after.iter().fold(failure, |failure, error| failure.evidence(format!("after that: {error}")));
    Some(failure.resolve("if the scenario is about that failure", "record = { errors = true } in scenario.toml"))
}

fn say_what_was_paid(name: &str, resume: Option<&Resume>, recorder: &Recorder) {
    if let Some(resume) = resume {
        let (recalled, live) = resume.counts();
        let [recalled, live] = [recalled, live].map(|calls| counted(calls, "call"));
        terminal::note(format!("{name}: {recalled} served from the recording, {live} sent to the provider"));
    }
    for line in summary(&recorder.tally()) {
        terminal::note(format!("{name}: {line}"));
    }
}

/// A callback that prints the expected cost before the first paid call of a resumed recording.
fn announcement(name: &str, progress: &Progress) -> impl Fn(&str, Cost) + Send + Sync + 'static {
    let (name, progress) = (name.to_owned(), progress.clone());
    move |call, expected| {
        let rest = if expected.calls == 0 {
            "no recorded call is left".to_owned()
        } else {
            format!("expect at most {expected} from here on, as recorded")
        };
        let line = format!("{name}: {call} equals no recorded call and goes to the provider; {rest}");
        progress.interrupted_by(|| terminal::note(line));
    }
}

/// Adds the command that resumes a failed recording without paying again, unless nothing was recorded.
pub(super) fn with_resume_advice(failure: Failure, name: &str, recorder: &Recorder) -> Failure {
    if recorder.answered() == 0 {
        return failure;
    }
    failure.resolve("to continue from what was recorded", format!("{} --resume", record_command(name)))
}
