//! The third stage of a recording: proving that it replays.

use std::sync::Arc;

use super::begin::Recording;
use super::drive::{Driven, with_resume_advice};
use super::held;
use crate::report::{Failure, terminal};
use crate::run::proof::Proof;
use crate::run::trial::Replayed;
use retake_core::events::{Foreign, Golden};
use retake_core::json::Json;
use retake_model::Recorder;
use retake_scenario::ClockFrom;
use retake_wire::fixture::{Fixture, Minute, Suspected, call_log};

/// A recording whose replays agree, or which is accepted although they do not.
pub(super) struct Proven<'a> {
    pub(super) recording: Recording<'a>,
    pub(super) recorder: Arc<Recorder>,
    /// The text of the fixture's file.
    pub(super) fixture: String,
    pub(super) turns: usize,
    pub(super) golden: Option<Golden>,
    /// The minute at which the replays began, if they have the clock of the recording.
    pub(super) by: Option<Minute>,
    /// The result of the proof, as it is printed.
    pub(super) how: String,
}

impl<'a> Driven<'a> {
    /// Makes a fixture of the journal and proves it. With `accept_unstable`, a fixture whose replays vary is marked as
    /// unstable instead of refused.
    /// Fails if no call became a turn, a replay fails, or two replays differ.
    pub(super) fn prove(mut self, accept_unstable: bool) -> Result<Proven<'a>, Failure> {
        let (came, turns) = self.fixture()?;
        let played = self.played.take();
        let Driven { recording, recorder, .. } = self;
        let Recording { project, scenario, shown, old, .. } = &recording;
        let name = &scenario.name;
        let made = old.as_ref().map_or_else(|| came.clone(), |old| came.clone().keeping(old, &project.rules));
        // Prove the printed text, which later replays will read, and not the fixture in memory.
        let mut text = made.print();
        let candidate = Arc::new(Fixture::parse(shown, text.as_bytes(), &project.rules)?);
        let proof = Proof { project, scenario, fixture: Some(&candidate), of_recording: true };
        let (golden, how) = match proof.run() {
            Ok(agreed) => {
                let (mut golden, how) = (agreed.golden.clone(), agreed.in_words());
                let days_move = agreed.run.fixture.as_ref().is_some_and(|fixture| fixture.days_move);
                let made = made.with_varying(&agreed.varying).with_requests(&agreed.dates_stay, &agreed.lacking);
                let made = Fixture { days_move, ..made };
                let made = old.iter().fold(made, |made, old| made.at_time_of(old));
                text = made.print();
                // What was sent meanwhile has the ids and places of the answers that came, which the fixture need not keep.
                let came = Arc::new(Fixture::parse(shown, came.print().as_bytes(), &project.rules)?);
                let here = came.at(&recorder.places(), &project.rules).map_or(came, Arc::new);
                let recorded = played.map(|played| Replayed::of(project, played, Some(here)));
                if let Some(recorded) = &recorded {
                    held::warn_of_errors(recorded, scenario);
                }
                match recorded.and_then(|recorded| held::compare(recorded, agreed, scenario, &mut golden)) {
                    None => (golden, how),
                    Some((what, _)) if accept_unstable => {
                        terminal::note(format!("{name}: warning: written although {what}"));
                        text = Fixture { unstable: vec![what], ..made }.print();
                        (golden, "marked as unstable".to_owned())
                    }
                    Some((_, failure)) => return Err(failure),
                }
            }
            Err(_) if project.interrupt.code().is_some() => return Err(recording.interrupted(&recorder)),
            Err(unproven) if accept_unstable && !unproven.why.is_empty() => {
                let why = unproven.why.join("\n  ");
                terminal::note(format!("{name}: warning: written without a proof, because this varies:\n  {why}"));
                let made = made.with_varying(&proof.unmoved(Foreign::default()));
                text = Fixture { unstable: unproven.why, ..made }.print();
                (unproven.golden, "marked as unstable".to_owned())
            }
            Err(unproven) => return Err(unproven.failure),
        };
        let by = candidate.recorded.filter(|_| scenario.options.clock == ClockFrom::Recorded);
        Ok(Proven { recording, recorder, fixture: text, turns, golden, by, how })
    }

    /// The fixture made of the journal, as the answers came, and the number of its turns.
    fn fixture(&self) -> Result<(Fixture, usize), Failure> {
        let Recording { project, scenario, shown, journal_file, old, .. } = &self.recording;
        let secrets = self.recorder.secrets();
        let of_old = old.as_ref().map(|fixture| fixture.notes.clone()).unwrap_or_default();
        // Other scenarios that replay this recording can use its prompt as `fixture.prompt`.
        let prompt = scenario.vars.fixed("prompt").and_then(Json::into_string);
        let prompt = prompt.map(|prompt| ("prompt".to_owned(), Json::Str(retake_core::secrets::shown(&prompt))));
        let context = scenario.vars.fixed("context").map(|context| ("context".to_owned(), context));
        // Several scenarios may share the fixture, so it is named like its file.
        let name = shown.file_stem().map(|stem| ("scenario".to_owned(), Json::from(&*stem.to_string_lossy())));
        let notes = of_old.into_iter().chain(name).chain(prompt).chain(context).collect();
        let rules = &project.rules;
        let mut made = call_log::to_fixture(old.as_deref(), journal_file, shown, notes, rules, secrets.scrub())?;
        made.left_out.iter().chain(&made.warnings).for_each(|line| terminal::note(format!("warning: {line}")));
        made.fixture.tools.clone_from(&self.tools);
        made.fixture = self.naming.head(made.fixture);
        if let Some(suspected) = Suspected::of(&made.fixture, secrets.scrub(), made.fixture.scrub.names()) {
            let failure = Failure::new(suspected.what)
                .evidence(suspected.places.join("\n"))
                .resolve("if the fixture may hold the placeholders, in scenarios/suite.toml", suspected.mask)
                .resolve("if these are not secrets (their calls are then made again)", suspected.keep);
            return Err(with_resume_advice(failure, &scenario.name, &self.recorder));
        }
        let turns = made.fixture.table.turns().len();
        if turns == 0 {
            let failure = self.systems.iter().fold(Failure::new("no model call became a turn"), Failure::evidence);
            return Err(failure
                .resolve("if the system calls a model", "give its client the stage's model URL and key")
                .resolve("if it calls none", "fixture = \"none\" in scenario.toml"));
        }
        made.fixture.notes.extend(model(&made.fixture).map(|model| ("model".to_owned(), model)));
        made.fixture.notes.extend(scenario.case().map(|case| ("mode".to_owned(), Json::from(case))));
        Ok((made.fixture, turns))
    }
}

/// The model that the first call named.
fn model(fixture: &Fixture) -> Option<Json> {
    let checks = fixture.table.turns().first()?.checks?;
    fixture.texts.get(&checks.model).filter(|model| !model.is_empty()).map(|model| Json::from(model.as_ref()))
}
