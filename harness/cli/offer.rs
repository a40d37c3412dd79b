//! What the failures of a run advise, done by one key on a terminal. Nothing is done that is not asked for.

use std::path::Path;
use std::process::Command;

use crate::view::ReportForm;
use retake::__private::report::{Advice, Deed, Failed, RunData, RunResult, terminal};
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};

/// Offers what the failures of these runs advise, until it is done or another key is pressed.
/// Fails if a command cannot be started, or the page cannot be written.
pub(super) fn offer(root: &Path, ran: &[RunData]) -> Result<()> {
    if ran.iter().all(|run| run.result != RunResult::Failed) {
        return Ok(());
    }
    let advice = Failed::of(ran).advice();
    let (update, record): (Vec<Advice>, Vec<Advice>) =
        advice.into_iter().partition(|advice| advice.does == Some(Deed::Update));
    let said = |all: &[Advice]| all.iter().map(|advice| advice.command.as_str()).collect::<Vec<_>>().join(", then ");
    loop {
        let mut offers = Vec::new();
        offers.extend((!record.is_empty()).then(|| format!("[r]ecord ({})", said(&record))));
        offers.extend((!update.is_empty()).then(|| format!("[u]pdate ({})", said(&update))));
        offers.push("[o]pen the page of this run".to_owned());
        let key = pressed(&format!("{}, or any other key to leave: ", offers.join(", ")));
        terminal::out(key.map(String::from).unwrap_or_default());
        match key {
            Some('r') if !record.is_empty() => return record.iter().try_for_each(|advice| run(root, &advice.command)),
            Some('u') if !update.is_empty() => return update.iter().try_for_each(|advice| run(root, &advice.command)),
            Some('o') => {
                if let Some(page) = super::report::write(root, ran, ReportForm::Html, None)? {
                    terminal::out(page.display());
                    super::report::open(&page);
                }
            }
            _ => return Ok(()),
        }
    }
}

/// Runs a command that a failure advises: this very program, whether or not it is in PATH, or the runner.
fn run(root: &Path, command: &str) -> Result<()> {
    let failed = |e: std::io::Error| Error::new(format!("failed to start `{command}`: {e}"));
    terminal::note(format!("$ {command}"));
    let own = command.strip_prefix(&format!("{RETAKE} "));
    let words = own.or(command.strip_prefix("UPDATE_GOLDEN=1 cargo ")).unwrap_or_default().split(' ');
    let mut started = match own {
        Some(_) => Command::new(std::env::current_exe().map_err(failed)?),
        None => Command::new("cargo"),
    };
    if own.is_none() {
        started.env("UPDATE_GOLDEN", "1");
    }
    started.args(words).current_dir(root).status().map(|_| ()).map_err(failed)
}

/// Asks for a key, which is not echoed. What was typed before does not count. `None` if there is no more input.
#[cfg(unix)]
fn pressed(question: &str) -> Option<char> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let input = std::io::stdin();
    let before = tcgetattr(&input).ok()?;
    let mut one_key = before.clone();
    one_key.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    tcsetattr(&input, OptionalActions::Flush, &one_key).ok()?;
    terminal::ask(question);
    let mut byte = [0];
    let read = rustix::io::read(&input, &mut byte);
    let _ = tcsetattr(&input, OptionalActions::Now, &before);
    read.ok().filter(|count| *count == 1).map(|_| char::from(byte[0]))
}

#[cfg(not(unix))]
fn pressed(_: &str) -> Option<char> {
    None
}
