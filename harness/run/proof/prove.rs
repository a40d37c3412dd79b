//! Runs the proof: replays that agree, or a report on what varies.

use std::sync::{Arc, Once};

use time::OffsetDateTime;

use super::agreement::Agreed;
use super::replays::Proof;
use super::unproven::Unproven;
use crate::report::{Failure, terminal};
use crate::run::project::Project;
use retake_core::days::tells;
use retake_core::json::Layout;
use retake_core::key::{Check, Rules, put_dates};
use retake_core::places::Told;
use retake_engine::system::DATE_VARIABLE;
use retake_scenario::{ClockFrom, Scenario};
use retake_wire::fixture::Fixture;

/// Proves a scenario, and returns its golden.
/// Fails if one of the replays failed, or two of them differ.
pub(crate) fn prove(project: &Project, scenario: &Scenario, fixture: Option<&Arc<Fixture>>) -> Result<Agreed, Failure> {
    let proof = Proof { project, scenario, fixture, of_recording: false };
    proof.run().map_err(|unproven| unproven.failure)
}

/// What no machine without the library tries is said once.
static SAID: Once = Once::new();

impl Proof<'_> {
    /// Replays. If the replays disagree, finds out what varies and which rules allow it.
    /// Fails if two disagree or one failed, with the report and the lines that mark a fixture as unstable.
    pub(crate) fn run(&self) -> Result<Agreed, Box<Unproven>> {
        let other = || self.replays(Some(&self.with_days_otherwise()?), &self.project.rules).ok();
        let agreed = self.replays(self.fixture, &self.project.rules);
        match agreed.or_else(|disagreement| other().ok_or(disagreement)) {
            Ok(agreed) => {
                self.note_days(agreed.run.fixture.as_deref());
                #[cfg(feature = "browser")]
                self.renew_baselines();
                Ok(agreed)
            }
            Err(disagreement) => Err(Box::new(self.report(disagreement))),
        }
    }

    /// The proof has shown the screenshots, too.
    #[cfg(feature = "browser")]
    fn renew_baselines(&self) {
        if let Err(error) = retake_engine::browser::accept(&self.project.root, &self.scenario.name) {
            terminal::note(format!("{}: warning: {error}", self.scenario.name));
        }
    }

    /// The new recording whose days that the model made move if they stay in this one, or the other way round; `None` without such days.
    fn with_days_otherwise(&self) -> Option<Arc<Fixture>> {
        let fixture = self.fixture.filter(|_| self.of_recording && self.project.interrupt.code().is_none())?;
        let has_some = !tools_told_a_day(fixture, &self.project.rules).is_empty();
        has_some.then(|| Arc::new(Fixture { days_move: !fixture.days_move, ..(**fixture).clone() }))
    }

    /// Says which days stay what they are, and that no other clock was tried.
    fn note_days(&self, fixture: Option<&Fixture>) {
        let (Some(fixture), true) = (fixture, self.of_recording) else { return };
        let name = &self.scenario.name;
        for tool in tools_told_a_day(fixture, &self.project.rules) {
            let how = if fixture.days_move {
                "each replay has the day that is as far from its own"
            } else {
                "it stays that day in each replay, and will be past (if the service minds: clock = \"recorded\")"
            };
            terminal::note(format!("{name}: the model calls the tool `{tool}` with a day: {how}"));
        }
        if !self.project.systems.moves_clock(self.scenario) && self.scenario.options.clock == ClockFrom::Now {
            SAID.call_once(|| {
                terminal::note(
                    format!("untested: another hour, as for a greeting, and another day unless the service honours {DATE_VARIABLE} (a router: `stage.date()`). Where this \
                     machine has libfaketime (Debian: apt install faketime), the second replay of a system that is a command has another clock"),
                );
            });
        }
    }
}

/// The names of tools that the model called with a day of this fortnight that its call did not tell, in the order of their calls.
fn tools_told_a_day(fixture: &Fixture, rules: &Rules) -> Vec<String> {
    let mut tools: Vec<String> = Vec::new();
    for (index, turn) in fixture.table.turns().iter().enumerate() {
        let Some(mut recorded) = fixture.recorded(index, rules) else { continue };
        let prompt = recorded.text(Check::Prompt).take().unwrap_or_default();
        let told = Told::new([&recorded.conversation; 2].map(|of| &of[..]), [&prompt; 2].map(|text| &**text));
        for call in turn.output.tool_calls() {
            let args = call.args.print(Layout::Compact);
            // Days that the call tells are served as the run tells them.
            let others = put_dates(&args, |date| told.tells_day_of(date).then(String::new));
            if !tools.contains(&call.name) && tells(&others, OffsetDateTime::now_utc().date(), 0) {
                tools.push(call.name.clone());
            }
        }
    }
    tools
}
