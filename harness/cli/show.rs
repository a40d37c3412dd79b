use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::project::{self, ProjectOption};
use crate::view::{Shown, columns};
use retake::__private::report::terminal;
use retake_base::error::{Error, Result};
use retake_base::text::{counted, nearest};
use retake_scenario::{Discovered, FixtureRef, discover};
use retake_wire::fixture::Fixture;

/// Show a fixture as a readable conversation
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  retake show write_read_file\n  retake show fixtures/write_read_file.json --turn 2\n\n\
    Each message is shown once, under the turn that first sent it. With --turn, one\n\
    turn is shown completely: every message that the model was sent, its answer, and\n\
    what else the fixture stores for the turn."
)]
pub(super) struct Show {
    /// The name of a scenario or fixture, or a fixture's file
    #[arg(value_name = "NAME|FIXTURE")]
    name: PathBuf,
    /// Show only this turn, with its whole conversation
    #[arg(long, value_name = "N")]
    turn: Option<usize>,
    #[command(flatten)]
    project: ProjectOption,
}

impl Show {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let root = project::root()?;
        // A fixture can be shown even if the project has no scenarios.
        let discovered = discover(&root).ok();
        let file = self.file(&root, discovered.as_ref())?;
        let rules = self.project.open(&file)?.rules;
        let bytes = retake_base::files::read(&file)?;
        let shown = root
            .canonicalize()
            .ok()
            .and_then(|root| Some(file.canonicalize().ok()?.strip_prefix(root).ok()?.to_owned()));
        let fixture = Fixture::parse(shown.as_deref().unwrap_or(&file), &bytes, &rules)?;
        let used_by = used_by(&file, discovered.as_ref());
        let shown = Shown { fixture: &fixture, rules: &rules, used_by: &used_by, width: columns::width() };
        terminal::out(match self.turn {
            None => shown.whole(),
            Some(index) => shown.turn(index).ok_or_else(|| {
                let turns = counted(fixture.table.turns().len(), "turn");
                let error = Error::new(format!("there is no turns[{index}]")).in_file(&file);
                error.help(format!("the fixture has {turns}, counted from 0"))
            })?,
        });
        Ok(ExitCode::SUCCESS)
    }

    /// The fixture's file: of the scenario of this name, the file itself, or the fixture of this name.
    fn file(&self, root: &Path, discovered: Option<&Discovered>) -> Result<PathBuf> {
        let name = self.name.to_string_lossy();
        let named = |name: &str| root.join("fixtures").join(format!("{name}.json"));
        let scenario = discovered.and_then(|all| all.sound().find(|scenario| scenario.name == name));
        if let Some(scenario) = scenario {
            return match &scenario.fixture {
                FixtureRef::Named(fixture) => Ok(named(fixture)),
                FixtureRef::None => Err(Error::new(format!("scenario `{name}` calls no model: fixture = \"none\""))),
            };
        }
        if self.name.exists() {
            return Ok(self.name.clone());
        }
        if named(&name).is_file() {
            return Ok(named(&name));
        }
        let error = Error::new(format!("`{name}` is neither a scenario nor a fixture"));
        let fixtures = retake_base::files::names(&root.join("fixtures"), ".json").unwrap_or_default();
        let scenarios = discovered.iter().flat_map(|all| all.sound()).map(|scenario| scenario.name.as_str());
        Err(match nearest(&name, scenarios.chain(fixtures.iter().map(String::as_str))) {
            Some(near) => error.help(format!("did you mean `{near}`?")),
            None => error,
        })
    }
}

/// The names of the scenarios that replay a fixture.
fn used_by(file: &Path, discovered: Option<&Discovered>) -> Vec<String> {
    let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let fed = |fixture: &FixtureRef| matches!(fixture, FixtureRef::Named(name) if Some(name) == stem.as_ref());
    let scenarios = discovered.iter().flat_map(|all| all.sound()).filter(|scenario| fed(&scenario.fixture));
    scenarios.map(|scenario| scenario.name.clone()).collect()
}
