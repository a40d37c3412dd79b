//! Makes a run of a fork the recording of its scenario, by the proof that each recording has to pass.

use std::process::ExitCode;

use super::folder::read;
use crate::run::project::Project;
use crate::run::record::{accepted, wanted};
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};
use retake_base::files;

/// Accepts the run with this id, `NAME-1.2`. If the fork has one run, `NAME-1` is enough.
/// Fails if there is no such run, or it did not reach its end.
pub(in crate::run) fn accept(project: &Project, id: &str) -> Result<ExitCode> {
    let forks = files::run_folder(&project.root, "forks")?;
    let (fork, number) = match id.rsplit_once('.').filter(|_| !forks.join(id).is_dir()) {
        Some((fork, number)) => (fork, number.parse::<usize>().ok()),
        None => (id, Some(1)),
    };
    let file = forks.join(fork).join("fork.json");
    if !file.is_file() {
        let error = Error::new(format!("there is no fork `{id}`"));
        return Err(error.help(format!("`{RETAKE} fork` prints the ids in its table")));
    }
    let data = read(&file)?;
    if number.is_some() && fork == id && data.times > 1 {
        return Err(Error::new(format!("`{id}` has {} runs: name one, as {id}.1", data.times)));
    }
    let Some((number, row)) = number.and_then(|number| Some((number, data.runs.get(&number)?))) else {
        return Err(Error::new(format!("the fork `{fork}` has no finished run of that number: {id}")));
    };
    if let Some(why) = &row.ended {
        return Err(Error::new(format!("`{id}` did not reach its end, so it cannot be replayed: {why}")));
    }
    let [scenario] = wanted(project, std::slice::from_ref(&data.scenario), false, "accepting")?[..] else {
        return Err(Error::new(format!("there is no scenario `{}` any more", data.scenario)));
    };
    let folder = forks.join(fork);
    let journal = folder.join(format!("{number}.jsonl"));
    Ok(accepted(project, scenario, &journal, &folder.join(format!("{number}.json"))))
}
