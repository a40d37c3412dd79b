use std::process::ExitCode;

use clap::Args;
use serde::Serialize;

use super::handover;
use super::test::{filter_of, fits};
use crate::view::time;
use retake::__private::project::OpenProject;
use retake::__private::report::{RunResult, Runs, as_json, table, terminal};
use retake::__private::run::{Fixtures, Goldens, has_golden};
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_core::json::Layout;
use retake_scenario::{Broken, Discovered, FixtureRef, Scenario, SystemSpec, discover, name_of};

/// List the scenarios: which system each drives, what it replays, whether it has a golden
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake list\n  retake list chat --json\n\n\
    Exit code 0 if every listed scenario can be read, 1 if one of them or its fixture is wrong or missing.")]
pub(super) struct List {
    /// List only scenarios whose name contains one of these texts, or whose folder is one of these paths
    filter: Vec<String>,
    /// Print a JSON array of objects: name, file, kind, system, system_kind, fixture, turns, golden, ignored, tags, last, error
    #[arg(long)]
    json: bool,
    /// Print only the names, without looking at fixtures and goldens: for the completions of a shell
    #[arg(long, conflicts_with_all = ["json", "filter"])]
    names: bool,
}

/// One scenario in the list.
#[derive(Default, Serialize)]
struct Row {
    name: String,
    file: Option<String>,
    kind: Option<&'static str>,
    system: Option<String>,
    system_kind: Option<&'static str>,
    fixture: Option<String>,
    turns: Option<usize>,
    /// Whether its golden exists; `None` if the scenario has no golden.
    golden: Option<bool>,
    ignored: bool,
    tags: Vec<String>,
    /// The data of its last run, if there is any that can be read.
    last: Option<Last>,
    error: Option<String>,
}

/// The last run of a scenario.
#[derive(Serialize)]
struct Last {
    result: RunResult,
    started: String,
    took_ms: f64,
}

impl List {
    pub(super) fn run(self) -> Result<ExitCode> {
        let root = super::project::root()?;
        let mut discovered = discover(&root)?;
        if self.names {
            discovered.scenarios.iter().map(name_of).for_each(terminal::out);
            return Ok(ExitCode::SUCCESS);
        }
        // Only the project's own runner knows its routers.
        if !handover::has_runner(&root) {
            discovered.check_systems(&[])?;
        }
        let open = OpenProject::of_scenarios(&discovered);
        let (fixtures, goldens) = (Fixtures::new(root.clone(), open.rules.clone()), super::project::goldens(&root));
        let row = |found: &Result<Scenario, Broken>| match found {
            Ok(scenario) => Row::of(scenario, &discovered, &fixtures, &goldens),
            Err(Broken { name, error }) => Row { name: name.clone(), error: Some(error.to_string()), ..Row::default() },
        };
        let runs = Runs::of(&root);
        let with_run = |row: Row| {
            let last = runs.read(&row.name).ok().flatten();
            let last = last.map(|run| Last { result: run.result, started: run.started, took_ms: run.took_ms });
            Row { last, ..row }
        };
        let all: Vec<Row> = discovered.scenarios.iter().map(row).map(with_run).collect();
        let filters: Vec<String> = self.filter.into_iter().map(|typed| filter_of(&root, typed)).collect();
        let names: Vec<&str> = all.iter().map(|row| row.name.as_str()).collect();
        if let Some(lost) = filters.iter().find(|filter| !names.iter().any(|name| fits(filter, name, false))) {
            let lost = lost.trim_end_matches('/');
            let error = Error::new(format!("no scenario's name contains `{lost}`"));
            return Err(error.suggest(lost, names));
        }
        let wanted = |row: &&Row| filters.is_empty() || filters.iter().any(|filter| fits(filter, &row.name, false));
        let rows: Vec<&Row> = all.iter().filter(wanted).collect();
        if self.json {
            terminal::out(as_json(&rows)?.print(Layout::Pretty));
        } else {
            print(&rows);
        }
        Ok(ExitCode::from(u8::from(rows.iter().any(|row| row.error.is_some()))))
    }
}

impl Row {
    fn of(scenario: &Scenario, all: &Discovered, fixtures: &Fixtures, goldens: &Goldens) -> Row {
        let (turns, error) = match fixtures.of(scenario) {
            Ok(fixture) => (fixture.map(|fixture| fixture.table.turns().len()), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let kind = match () {
            () if scenario.tools.is_some() => "tools",
            () if scenario.needs_browser() => "browser",
            () if scenario.only_runs() => "command line",
            () => "requests",
        };
        let system = scenario.system.clone().filter(|_| scenario.needs_system());
        let system_kind = |name: &String| match all.suite.systems.get(name) {
            Some(SystemSpec::Command(_)) => "command",
            Some(SystemSpec::Url(_)) => "url",
            None => "router",
        };
        Row {
            name: scenario.name.clone(),
            file: Some(scenario.file.display().to_string()),
            kind: Some(kind),
            system_kind: system.as_ref().map(system_kind),
            system,
            fixture: if let FixtureRef::Named(name) = &scenario.fixture { Some(name.clone()) } else { None },
            turns,
            golden: has_golden(scenario).then(|| goldens.file(&scenario.golden_name).is_file()),
            ignored: scenario.skip.is_some() || (scenario.needs_browser() && !cfg!(feature = "browser")),
            tags: scenario.tags.clone(),
            last: None,
            error,
        }
    }

    /// The texts of the columns.
    fn columns(&self) -> [String; 6] {
        let or_none = |text: Option<&str>| text.unwrap_or("-").to_owned();
        let turns = match (&self.fixture, self.turns) {
            (None, _) => "no model".to_owned(),
            (Some(name), Some(turns)) if *name == self.name => counted(turns, "turn"),
            (Some(name), Some(turns)) => format!("{} of {name}", counted(turns, "turn")),
            (Some(name), None) => name.clone(),
        };
        let golden = self.golden.map_or("no golden", |is_there| if is_there { "golden" } else { "golden missing" });
        let golden = if self.ignored { format!("{golden}, ignored") } else { golden.to_owned() };
        let last = self.last.as_ref().map(|run| {
            let day = run.started.split('T').next().unwrap_or_default();
            match run.result {
                RunResult::Passed => format!("passed in {}, {day}", time(run.took_ms)),
                RunResult::Failed => format!("FAILED in {}, {day}", time(run.took_ms)),
                RunResult::Skipped => format!("ignored, {day}"),
            }
        });
        let [kind, system, last] = [self.kind, self.system.as_deref(), last.as_deref()].map(or_none);
        [self.name.clone(), kind, system, turns, golden, last]
    }
}

const HEAD: [&str; 6] = ["scenario", "kind", "system", "fixture", "golden", "last run"];

fn print(rows: &[&Row]) {
    let sound = rows.iter().filter(|row| row.kind.is_some());
    let columns: Vec<[String; 6]> =
        std::iter::once(HEAD.map(str::to_owned)).chain(sound.map(|row| row.columns())).collect();
    let mut lines = table(&columns).into_iter();
    lines.next().filter(|_| columns.len() > 1).into_iter().for_each(terminal::out);
    for row in rows {
        if row.kind.is_some() {
            terminal::out(lines.next().unwrap_or_default());
        }
        if let Some(error) = &row.error {
            let name = if row.kind.is_none() { &row.name } else { "" };
            terminal::out(format!("{name}  {}", error.replace('\n', "\n  ")));
        }
    }
}
