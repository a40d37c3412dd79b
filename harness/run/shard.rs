//! `--shard 2/5`: which scenarios one of several CI jobs runs. The jobs do not talk to each other, so all of them have to find the
//! same shards: they use the times in `.retake/shard-times`, which no sharded run changes.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use retake_base::error::{Error, Result};
use retake_base::files::{self, RUN_FOLDER};

use crate::report::{RunResult, Runs};

/// One of several shards, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    number: usize,
    of: usize,
}

/// The most shards: more CI jobs than this are surely a mistake.
const MOST: usize = 10_000;

impl FromStr for Shard {
    type Err = Error;

    fn from_str(text: &str) -> Result<Shard> {
        let numbers = text.split_once('/').and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match numbers {
            Some((number, of)) if (1..=of).contains(&number) && of <= MOST => Ok(Shard { number, of }),
            _ => {
                Err(Error::new(format!("`{text}` is not a shard")).help("write its number and how many there are: 2/5"))
            }
        }
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// How long scenarios took, in milliseconds, by name.
pub type Times = BTreeMap<String, f64>;

impl Shard {
    /// Whether it is the first one, which also does what is done once for a project.
    pub(super) fn is_first(self) -> bool {
        self.number == 1
    }

    /// Returns this shard's part of the scenarios: the longest ones are dealt first, each to the shard that has least to do. One
    /// without a time counts as the mean of the others.
    pub(super) fn part<'a>(self, names: &BTreeSet<&'a str>, times: &Times) -> BTreeSet<&'a str> {
        let known: Vec<f64> = names.iter().filter_map(|name| times.get(*name)).copied().collect();
        #[expect(clippy::cast_precision_loss, reason = "nobody has that many scenarios")]
        let mean = if known.is_empty() { 1.0 } else { known.iter().sum::<f64>() / known.len() as f64 };
        let mut dealt: Vec<(&str, f64)> =
            names.iter().map(|name| (*name, times.get(*name).copied().unwrap_or(mean))).collect();
        dealt.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        let mut loads = vec![0.0; self.of];
        let mut part = BTreeSet::new();
        for (name, time) in dealt {
            let lightest = (0..self.of).min_by(|a, b| f64::total_cmp(&loads[*a], &loads[*b])).unwrap_or_default();
            loads[lightest] += time;
            if lightest + 1 == self.number {
                part.insert(name);
            }
        }
        part
    }
}

/// The file of the times, in `.retake`.
const FILE: &str = "shard-times";

/// The most that is read of it.
const MOST_BYTES: u64 = 16 << 20;

/// Returns the times by which a project is divided. If there are none, they are taken from the data of its last runs and kept, since
/// each sharded run writes new data.
pub(super) fn times(root: &Path) -> Result<Times> {
    let file = Path::new(RUN_FOLDER).join(FILE);
    let Some(bytes) = files::read_inside(root, &file, MOST_BYTES)? else { return keep_times(root) };
    serde_json::from_slice(&bytes).map_err(|error| {
        Error::new(format!("not a list of times: {error}"))
            .in_file(&root.join(&file))
            .help("remove it: the next whole run writes it again")
    })
}

/// Writes how long each scenario took in its last run, for later sharded runs.
///
/// # Errors
/// If data of a run cannot be read.
pub fn keep_times(root: &Path) -> Result<Times> {
    let ran = Runs::of(root).all()?.into_iter().filter(|run| run.result != RunResult::Skipped);
    let times: Times = ran.map(|run| (run.scenario, run.took_ms)).collect();
    write_times(root, &times);
    Ok(times)
}

/// Writes these times for later sharded runs. A project that cannot be written to has the same times in each job: none.
pub(super) fn write_times(root: &Path, times: &Times) {
    let text = serde_json::to_string_pretty(times).unwrap_or_default() + "\n";
    let _ = files::run_folder(root, FILE).and_then(|file| files::replace(&file, text.as_bytes()));
}

#[cfg(test)]
mod tests;
