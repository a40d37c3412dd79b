use retake_core::key::{Rules, attributed};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::test::{filter_of, fits};
use retake::__private::project::OpenProject;
use retake::__private::report::{RunData, RunResult, Runs, TurnData, terminal};
use retake::__private::run::{Fixtures, may_write_fixtures};
use retake_base::cause::CauseKind;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::text::{clipped, counted, nth_turn};
use retake_scenario::{Scenario, discover};
use retake_wire::fixture::Fixture;

/// Take out of fixtures what the last runs did not ask for: turns, exchanges with tool servers, and texts
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake test; retake prune\n  retake prune write_read_file --dry-run\n\n\
    A turn goes if each scenario that replays its fixture ran to its end without a miss, and none of them asked for \
    it. Run the scenarios first: prune believes the data of their last runs, in .retake/runs.")]
pub(super) struct Prune {
    /// Prune only fixtures of scenarios whose name contains one of these texts, or whose folder is one of these paths
    filter: Vec<String>,
    /// Only say what would go
    #[arg(long)]
    dry_run: bool,
}

impl Prune {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        if !self.dry_run {
            may_write_fixtures("pruning")?;
        }
        let discovered = discover(&root)?;
        if let Some(broken) = discovered.scenarios.iter().find_map(|found| found.as_ref().err()) {
            let error = broken.error.clone();
            return Err(error.help("which fixture this scenario replays is not known until it is right"));
        }
        let open = OpenProject::of_scenarios(&discovered);
        let fixtures = Fixtures::new(root.clone(), open.rules.clone());
        let mut users: BTreeMap<PathBuf, Vec<&Scenario>> = BTreeMap::new();
        for scenario in discovered.sound() {
            users.entry(fixtures.file(scenario).unwrap_or_default()).or_default().push(scenario);
        }
        users.remove(Path::new(""));
        let filters: Vec<String> = self.filter.iter().map(|typed| filter_of(&root, typed.clone())).collect();
        let wanted = |name: &str| filters.is_empty() || filters.iter().any(|filter| fits(filter, name, false));
        if let Some(lost) = filters.iter().find(|filter| !discovered.sound().any(|of| fits(filter, &of.name, false))) {
            return Err(Error::new(format!("no scenario's name contains `{}`", lost.trim_end_matches('/'))));
        }
        let mut all_known = true;
        for (file, scenarios) in users.iter().filter(|(_, users)| users.iter().any(|user| wanted(&user.name))) {
            let Some(fixture) = fixtures.of(scenarios[0])? else { continue };
            match unasked(&root, &fixture, scenarios) {
                Err(why) => {
                    all_known = false;
                    terminal::note(format!("{}: kept, {why}", fixture.path.display()));
                }
                Ok(unasked) => self.prune(&fixture, &unasked, &open.rules, file)?,
            }
        }
        Ok(ExitCode::from(u8::from(!all_known)))
    }

    fn prune(&self, fixture: &Fixture, unasked: &Unasked, rules: &Rules, file: &Path) -> Result<()> {
        let pruned = fixture.clone().without(&unasked.turns, &unasked.exchanges, rules);
        let texts = fixture.texts.len() - pruned.texts.len();
        let of = |count: usize, what: &str| (count > 0).then(|| counted(count, what));
        let gone = [of(unasked.turns.len(), "turn"), of(unasked.exchanges.len(), "exchange"), of(texts, "text")];
        let gone: Vec<String> = gone.into_iter().flatten().collect();
        if gone.is_empty() {
            return Ok(());
        }
        let goes = if self.dry_run { "would go" } else { "gone" };
        terminal::out(format!("{}: {goes}: {}", fixture.path.display(), gone.join(", ")));
        for index in &unasked.turns {
            let turn = &fixture.table.turns()[*index];
            let text = turn.output.text();
            let by = attributed(" by", turn.caller.as_deref());
            terminal::out(format!("  {}{by}: {}", nth_turn(*index), clipped(text.trim(), 60).replace('\n', " ")));
        }
        if self.dry_run { Ok(()) } else { pruned.write(file) }
    }
}

/// What no scenario of a fixture asked for.
struct Unasked {
    turns: BTreeSet<usize>,
    exchanges: BTreeSet<(String, usize)>,
}

/// Returns what none of these scenarios asked for in its last run, or why that is not known.
fn unasked(root: &Path, fixture: &Fixture, scenarios: &[&Scenario]) -> Result<Unasked, String> {
    let mut common: Option<Unasked> = None;
    for scenario in scenarios {
        let name = &scenario.name;
        let run = Runs::of(root).read(name).ok().flatten().filter(|run| run.result != RunResult::Skipped);
        let run = run.ok_or_else(|| format!("since {name} has not run here yet: {RETAKE} test {name}"))?;
        if !came_to_its_end(&run, scenario) {
            return Err(format!(
                "since the last run of {name} missed a call or did not come to its end: {RETAKE} explain {name}"
            ));
        }
        if !run.unused.iter().all(|turn| is_same(fixture, turn)) {
            return Err(format!("since it was written after the last run of {name}: {RETAKE} test {name}"));
        }
        let turns: BTreeSet<usize> = run.unused.iter().map(|turn| turn.index).collect();
        let exchanges: BTreeSet<(String, usize)> = run.unused_exchanges.iter().cloned().collect();
        common = Some(match common {
            None => Unasked { turns, exchanges },
            Some(so_far) => Unasked { turns: &so_far.turns & &turns, exchanges: &so_far.exchanges & &exchanges },
        });
    }
    let unasked = common.ok_or("since no scenario replays it")?;
    if !unasked.turns.is_empty() && unasked.turns.len() == fixture.table.turns().len() {
        return Err("since no turn would be left; a scenario that calls no model says fixture = \"none\"".to_owned());
    }
    Ok(unasked)
}

/// Whether a run came to its end, so that it asked for all that its scenario asks for.
fn came_to_its_end(run: &RunData, scenario: &Scenario) -> bool {
    let cut_short = [CauseKind::Crash, CauseKind::Panic, CauseKind::TimeUp, CauseKind::Step];
    let causes = run.failure.iter().flat_map(|failure| &failure.causes);
    let steps = run.steps.iter().filter(|step| step.took_ms.is_some() && step.failure.is_none()).count();
    run.calls.iter().all(|call| call.miss.is_none())
        && (run.result == RunResult::Passed
            || (steps == scenario.steps.len() && !causes.into_iter().any(|cause| cut_short.contains(&cause.kind))))
}

/// Whether a turn of the fixture is still the one that a run knew.
fn is_same(fixture: &Fixture, turn: &TurnData) -> bool {
    let begins = |text: &str| text.starts_with(turn.text.trim_end_matches('…'));
    let now = fixture.table.turns().get(turn.index);
    now.is_some_and(|now| now.caller == turn.caller && begins(&now.output.text()))
}
