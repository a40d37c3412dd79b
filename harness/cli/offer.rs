//! What the failures of a run advise, done by one key on a terminal. Nothing is done that is not asked for.

use std::path::Path;
use std::process::Command;

use crate::view::ReportForm;
use retake::__private::report::{Evidence, RunData, RunResult, terminal};
use retake_base::error::{Error, Result};
use retake_base::text::counted;

/// The commands that the failures of a run advise.
#[derive(Debug, Default, PartialEq)]
struct Advised {
    record: Vec<String>,
    update: Vec<String>,
}

/// Offers what the failures of these runs advise, until it is done or another key is pressed.
/// Fails if a command cannot be started, or the page cannot be written.
pub(super) fn offer(root: &Path, ran: &[RunData]) -> Result<()> {
    if ran.iter().all(|run| run.result != RunResult::Failed) {
        return Ok(());
    }
    let Advised { record, update } = advised(ran);
    loop {
        let said = |commands: &[String]| match commands {
            [one] => one.clone(),
            all => counted(all.len(), "scenario"),
        };
        let mut offers = Vec::new();
        offers.extend((!record.is_empty()).then(|| format!("[r]ecord ({})", said(&record))));
        offers.extend((!update.is_empty()).then(|| format!("[u]pdate ({})", said(&update))));
        offers.push("[o]pen the page of this run".to_owned());
        let key = pressed(&format!("{}, or any other key to leave: ", offers.join(", ")));
        terminal::out(key.map(String::from).unwrap_or_default());
        match key {
            Some('r') if !record.is_empty() => return record.iter().try_for_each(|command| run(root, command)),
            Some('u') if !update.is_empty() => return update.iter().try_for_each(|command| run(root, command)),
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

/// Finds the commands that record or rewrite a golden, each once. A scenario without a fixture names its command in its text.
fn advised(ran: &[RunData]) -> Advised {
    let mut advised = Advised::default();
    for failure in ran.iter().filter_map(|run| run.failure.as_ref()) {
        let in_text = failure.evidence.iter().filter_map(|evidence| match evidence {
            Evidence::Text { text } => text.strip_prefix("to record it: "),
            _ => None,
        });
        for command in failure.advice.iter().map(|advice| advice.command.as_str()).chain(in_text) {
            let of = match () {
                () if command.contains('\n') => continue,
                () if command.starts_with("retake record ") => &mut advised.record,
                () if command.starts_with("retake test ") && command.ends_with(" --update") => &mut advised.update,
                () if command.starts_with("UPDATE_GOLDEN=1 ") => &mut advised.update,
                () => continue,
            };
            if !of.iter().any(|known| known == command) {
                of.push(command.to_owned());
            }
        }
    }
    advised
}

/// Runs a command that a failure advises: this very program, whether or not it is in PATH, or the runner.
fn run(root: &Path, command: &str) -> Result<()> {
    let failed = |e: std::io::Error| Error::new(format!("failed to start `{command}`: {e}"));
    terminal::note(format!("$ {command}"));
    let mut words = command.split(' ');
    let mut started = match words.next() {
        Some("retake") => Command::new(std::env::current_exe().map_err(failed)?),
        Some("UPDATE_GOLDEN=1") => {
            let mut runner = Command::new(words.next().unwrap_or("cargo"));
            runner.env("UPDATE_GOLDEN", "1");
            runner
        }
        _ => return Ok(()),
    };
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

#[cfg(test)]
mod tests;
