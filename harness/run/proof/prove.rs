//! Runs the proof: replays that agree, or a report on what varies.

use std::sync::{Arc, Once};

use time::OffsetDateTime;

use super::agreement::Agreed;
use super::replays::Proof;
use super::unproven::Unproven;
use crate::report::{Failure, terminal};
use crate::run::project::Project;
use retake_core::conversation::Block;
use retake_core::days::tells;
use retake_core::json::Layout;
use retake_engine::system::DATE_VARIABLE;
use retake_scenario::Scenario;
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
        match self.replays(self.fixture, &self.project.rules) {
            Ok(agreed) => {
                self.note_days();
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

    /// Says which days stay what they are, and that no other clock was tried.
    fn note_days(&self) {
        let (Some(fixture), true) = (self.fixture, self.of_recording) else { return };
        let name = &self.scenario.name;
        for tool in tools_told_a_day(fixture) {
            terminal::note(format!(
                "{name}: the model calls the tool `{tool}` with a day: it stays that day in each replay, and will be past"
            ));
        }
        if !self.project.systems.moves_clock(self.scenario) {
            SAID.call_once(|| {
                terminal::note(
                    format!("untested: another hour, as for a greeting, and another day unless the service honours {DATE_VARIABLE}. Where this \
                     machine has libfaketime (Debian: apt install faketime), the second replay of a system that is a command has another clock"),
                );
            });
        }
    }
}

/// The names of tools that the model called with a day of this fortnight, in the order of their calls.
fn tools_told_a_day(fixture: &Fixture) -> Vec<String> {
    let mut tools: Vec<String> = Vec::new();
    for block in fixture.table.turns().iter().flat_map(|turn| &turn.output.blocks) {
        if let Block::ToolCall(call) = block
            && !tools.contains(&call.name)
            && tells(&call.args.print(Layout::Compact), OffsetDateTime::now_utc().date(), 0)
        {
            tools.push(call.name.clone());
        }
    }
    tools
}
