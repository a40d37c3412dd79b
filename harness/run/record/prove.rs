//! Proving that what was recorded replays.

use std::sync::Arc;

use super::begin::Recording;
use super::drive::Driven;
use crate::fixture::{Fixture, call_log};
use crate::json::Json;
use crate::model::Recorder;
use crate::report::{Failure, terminal};
use crate::run::proof::Proof;

/// A recording of which two replays agree, or one that is accepted as it is.
pub(super) struct Proven<'a> {
    pub(super) recording: Recording<'a>,
    pub(super) recorder: Arc<Recorder>,
    /// The fixture, as it will be read.
    pub(super) fixture: String,
    pub(super) turns: usize,
    pub(super) golden: Option<String>,
    /// What a person is told of the proof.
    pub(super) how: &'static str,
}

impl<'a> Driven<'a> {
    /// Makes a fixture of the journal and replays it twice. With `accept_unstable` one that varies is marked, and goes on.
    ///
    /// # Errors
    /// Where no call became a turn, a replay fails, or two differ.
    pub(super) fn prove(self, accept_unstable: bool) -> Result<Proven<'a>, Failure> {
        let (made, turns) = self.fixture()?;
        let Driven { recording, recorder, .. } = self;
        let Recording { project, scenario, shown, .. } = &recording;
        let name = &scenario.name;
        // What is proven is the text that will be read, not what is in memory.
        let mut text = made.print();
        let candidate = Arc::new(Fixture::parse(shown, text.as_bytes(), &project.rules)?);
        let proof = Proof { project, scenario, fixture: Some(&candidate), of_recording: true };
        let (golden, how) = match proof.run() {
            Ok(golden) => (golden, "two replays agree"),
            Err(unproven) if accept_unstable && !unproven.why.is_empty() => {
                let why = unproven.why.join("\n  ");
                terminal::note(format!("{name}: warning: written without a proof, since this varies:\n  {why}"));
                text = Fixture { unstable: unproven.why, ..made }.print();
                (unproven.golden, "marked as unstable")
            }
            Err(unproven) => return Err(unproven.failure),
        };
        Ok(Proven { recording, recorder, fixture: text, turns, golden, how })
    }

    /// The fixture of the journal, and how many turns it has.
    fn fixture(&self) -> Result<(Fixture, usize), Failure> {
        let Recording { project, scenario, shown, journal_file, old, .. } = &self.recording;
        let secrets = self.recorder.secrets();
        let of_old = old.as_ref().map(|fixture| fixture.notes.clone()).unwrap_or_default();
        // What was asked: other scenarios that are fed by this recording ask the same, as `fixture.prompt`.
        let prompt = scenario.vars.fixed("prompt").and_then(Json::into_string);
        let prompt = prompt.map(|prompt| ("prompt".to_owned(), Json::from(crate::secrets::shown(&prompt).as_str())));
        let context = scenario.vars.fixed("context").map(|context| ("context".to_owned(), context));
        // Several scenarios may share it: it is named as the file is.
        let name = shown.file_stem().map(|stem| ("scenario".to_owned(), Json::from(&*stem.to_string_lossy())));
        let notes = of_old.into_iter().chain(name).chain(prompt).chain(context).collect();
        let (old, rules) = (old.as_deref(), &project.rules);
        let mut made = call_log::to_fixture_after(old, journal_file, shown, notes, rules, secrets.scrub())?;
        made.left_out.iter().chain(&made.warnings).for_each(|line| terminal::note(format!("warning: {line}")));
        if let Some(old) = old {
            made.fixture = made.fixture.keeping(old);
        }
        made.fixture.tools.clone_from(&self.tools);
        let turns = made.fixture.table.turns().len();
        if turns == 0 {
            let failure = self.systems.iter().fold(Failure::new("no model call became a turn"), Failure::evidence);
            return Err(failure
                .resolve("if it calls one", "let the system use the stage's model URL and key for its model calls")
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
