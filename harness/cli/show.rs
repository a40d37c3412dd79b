use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::project::{self, ProjectOption};
use crate::view::{RowKind, Shown, columns, side_by_side};
use retake::__private::report::{ForkData, terminal};
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_scenario::{Discovered, FixtureRef, discover, is_name};
use retake_wire::fixture::Fixture;

/// Show a fixture as a readable conversation
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  retake show write_read_file\n  retake show fixtures/write_read_file.json --turn 2\n  \
        retake show write_read_file --answer 2\n  retake show --fork write_read_file-1.1\n\n\
        Each message is shown once, under the turn that first sent it. With --turn, one turn is shown completely: \
        every message that the model was sent, its answer, and what else the fixture stores for the turn.\n\n\
        With --answer, an answer is printed to be edited: put it in the place of the turn's `wire`, and change \
        nothing else."
)]
pub(super) struct Show {
    /// The name of a scenario or fixture, or a fixture's file
    #[arg(value_name = "NAME|FIXTURE", required_unless_present = "fork")]
    name: Option<PathBuf>,
    /// Show this run of a fork beside the recording
    #[arg(long, value_name = "ID", conflicts_with_all = ["name", "turn"])]
    fork: Option<String>,
    /// Print the answer of turn N, counted from 1, in the form that a fixture takes in the place of a turn's `wire`
    #[arg(long, value_name = "N", conflicts_with_all = ["fork", "turn"])]
    answer: Option<NonZero<usize>>,
    /// Show only turn N, counted from 1, with its whole conversation
    #[arg(long, value_name = "N")]
    turn: Option<NonZero<usize>>,
    #[command(flatten)]
    project: ProjectOption,
}

impl Show {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let root = project::root()?;
        if let Some(id) = &self.fork {
            return self.beside(&root, id);
        }
        // A fixture can be shown even if the project has no scenarios.
        let discovered = discover(&root).ok();
        let file = Show::file(&self.name.clone().unwrap_or_default(), &root, discovered.as_ref())?;
        let rules = self.project.open(&file)?.rules;
        let bytes = retake_base::files::read(&file)?;
        let below = |root: PathBuf| Some(file.canonicalize().ok()?.strip_prefix(root).ok()?.to_owned());
        let shown = root.canonicalize().ok().and_then(below);
        let fixture = Fixture::parse(shown.as_deref().unwrap_or(&file), &bytes, &rules)?;
        if let Some(number) = self.answer {
            terminal::out(answer(&fixture, number)?);
            return Ok(ExitCode::SUCCESS);
        }
        let used_by = used_by(&file, discovered.as_ref());
        let shown = Shown { fixture: &fixture, rules: &rules, used_by: &used_by, width: columns::width() };
        terminal::out(match self.turn {
            None => shown.whole(),
            Some(number) => shown.turn(number.get() - 1).ok_or_else(|| no_turn(number, &fixture))?,
        });
        Ok(ExitCode::SUCCESS)
    }

    /// Shows a run of a fork beside the recording that it branches off.
    fn beside(&self, root: &Path, id: &str) -> Result<ExitCode> {
        let (run, file) = super::fork::files_of(root, id)?;
        let fork: ForkData = serde_json::from_slice(&retake_base::files::read(&file)?)
            .map_err(|e| Error::new(format!("not a fork: {e}")).in_file(&file))?;
        if !is_name(&fork.scenario) {
            return Err(Error::new(format!("`{}` is no scenario", fork.scenario)).in_file(&file));
        }
        let recorded = Show::file(Path::new(&fork.scenario), root, discover(root).ok().as_ref())?;
        let rules = self.project.open(&recorded)?.rules;
        let width = columns::width();
        let half = (width.saturating_sub(3) / 2).max(30);
        let conversation = |file: &Path, shown: &str| {
            let fixture = Fixture::parse(Path::new(shown), &retake_base::files::read(file)?, &rules)?;
            let shown = Shown { fixture: &fixture, rules: &rules, used_by: &[], width: half };
            Ok::<_, Error>(shown.whole())
        };
        let (old, new) = (conversation(&recorded, "recorded")?, conversation(&run, id)?);
        let cut = |line: &str| line.chars().take(half).collect::<String>();
        let lines = side_by_side(&old, &new).into_iter().map(|row| {
            let sign = match row.kind {
                RowKind::Same | RowKind::Fold => ' ',
                RowKind::Changed | RowKind::Removed | RowKind::Added => '|',
            };
            format!("{:half$} {sign} {}", cut(&row.old), cut(&row.new)).trim_end().to_owned()
        });
        terminal::out(lines.collect::<Vec<_>>().join("\n"));
        Ok(ExitCode::SUCCESS)
    }

    /// The fixture's file: of the scenario of this name, the file itself, or the fixture of this name.
    fn file(path: &Path, root: &Path, discovered: Option<&Discovered>) -> Result<PathBuf> {
        let name = path.to_string_lossy();
        let named = |name: &str| root.join("fixtures").join(format!("{name}.json"));
        let scenario = discovered.and_then(|all| all.sound().find(|scenario| scenario.name == name));
        if let Some(scenario) = scenario {
            return match &scenario.fixture {
                FixtureRef::Named(fixture) => Ok(named(fixture)),
                FixtureRef::None => Err(Error::new(format!("scenario `{name}` calls no model: fixture = \"none\""))),
            };
        }
        if path.exists() {
            return Ok(path.to_owned());
        }
        if named(&name).is_file() {
            return Ok(named(&name));
        }
        let error = Error::new(format!("`{name}` is neither a scenario nor a fixture"));
        let fixtures = retake_base::files::names(&root.join("fixtures"), ".json").unwrap_or_default();
        let scenarios = discovered.iter().flat_map(|all| all.sound()).map(|scenario| scenario.name.as_str());
        Err(error.suggest(&name, scenarios.chain(fixtures.iter().map(String::as_str))))
    }
}

/// The answer of a turn as the field `output`.
fn answer(fixture: &Fixture, number: NonZero<usize>) -> Result<String> {
    let turns = fixture.table.turns();
    let turn = turns.get(number.get() - 1).ok_or_else(|| no_turn(number, fixture))?;
    turn.answer_field().ok_or_else(|| {
        let what = format!("turn {number} is no answer of a model that could be written otherwise");
        Error::new(what).in_file(&fixture.path).help("to change it: edit the body in its `wire`")
    })
}

fn no_turn(number: NonZero<usize>, fixture: &Fixture) -> Error {
    let have = counted(fixture.table.turns().len(), "turn");
    Error::new(format!("there is no turn {number}")).in_file(&fixture.path).help(format!("the fixture has {have}"))
}

/// The names of the scenarios that replay a fixture.
fn used_by(file: &Path, discovered: Option<&Discovered>) -> Vec<String> {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let fed = |fixture: &FixtureRef| matches!(fixture, FixtureRef::Named(name) if Some(name) == stem.as_ref());
    let scenarios = discovered.iter().flat_map(|all| all.sound()).filter(|scenario| fed(&scenario.fixture));
    scenarios.map(|scenario| scenario.name.clone()).collect()
}
