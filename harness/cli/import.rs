use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use crate::error::{Error, Result};
use crate::fixture::{Fixture, journal};
use crate::key::Rules;
use crate::model::CallerRules;
use crate::report::{counted, terminal};

/// Make a fixture of recordings in another form
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  retake import deerflow traces/*.json --out fixtures/imported.json\n\n\
    Exit code 0 where a turn was written, 1 where none was.")]
pub(super) struct Import {
    /// The form of the recordings
    format: ImportFormat,
    /// The recordings
    #[arg(required = true)]
    input: Vec<PathBuf>,
    /// The fixture to write
    #[arg(long)]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ImportFormat {
    /// A fixture of deer-flow's replay provider
    Deerflow,
    /// A journal, as recording leaves it in fixtures/.journal
    Journal,
}

impl Import {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let (rules, _) = rules_of_here()?;
        let mut made: Option<Fixture> = None;
        let mut left_out = Vec::new();
        for file in &self.input {
            let fixture = match self.format {
                ImportFormat::Deerflow => Fixture::read(file, &rules)?,
                ImportFormat::Journal => {
                    let read = journal::to_fixture(file, &self.out, notes_of(&self.out, &rules), &rules)?;
                    left_out.extend(read.left_out);
                    read.warnings.iter().for_each(|warning| terminal::note(format!("warning: {warning}")));
                    read.fixture
                }
            };
            made = Some(match made {
                None => fixture,
                Some(earlier) => earlier.followed_by(fixture),
            });
        }
        for line in &left_out {
            terminal::note(format!("left out: {line}"));
        }
        let fixture = made.ok_or_else(|| Error::new("nothing to import"))?;
        let turns = fixture.table.turns().len();
        if turns == 0 {
            terminal::error(format!("no turn: {} left out, nothing was written", left_out.len()));
            return Ok(ExitCode::from(1));
        }
        fixture.write(&self.out)?;
        terminal::note(format!(
            "{} written to {}, {} left out",
            counted(turns, "turn"),
            self.out.display(),
            left_out.len()
        ));
        Ok(ExitCode::SUCCESS)
    }
}

/// The notes of the fixture that is replaced: prompt and context are a person's.
pub(super) fn notes_of(out: &Path, rules: &Rules) -> BTreeMap<String, crate::json::Json> {
    if out.exists() { Fixture::read(out, rules).map(|old| old.notes).unwrap_or_default() } else { BTreeMap::new() }
}

/// The key rules of the project that the command stands in; version 1 where there is none.
pub(super) fn rules_of_here() -> Result<(Rules, CallerRules)> {
    let root = super::root()?;
    if !root.join("scenarios/suite.toml").exists() {
        return Ok((Rules::default(), CallerRules::default()));
    }
    let suite = crate::scenario::discover(&root)?.suite;
    Ok((crate::project::rules_of(&suite), CallerRules::new(suite.callers.clone())))
}
