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
    let (update, record) = advised(ran);
    let waits = retake::__private::run::waiting(root)?.len();
    loop {
        let offers = [
            (!record.is_empty()).then_some("[r]ecord"),
            (!update.is_empty()).then_some("[u]pdate"),
            (waits > 0).then_some("re[v]iew"),
            Some("[o]pen the page"),
        ];
        let told = offers.iter().flatten().copied().collect::<Vec<_>>().join(", ");
        let key = pressed(&format!("{told}, [?], any other key leaves: "));
        match key {
            Some('r') if !record.is_empty() => return record.iter().try_for_each(|advice| run(root, &advice.command)),
            Some('u') if !update.is_empty() => return update.iter().try_for_each(|advice| run(root, &advice.command)),
            Some('v') if waits > 0 => return run(root, &format!("{RETAKE} review")),
            Some('?') => {
                offers.iter().zip(KEYS).filter(|(offer, _)| offer.is_some()).for_each(|(_, does)| terminal::out(does));
            }
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

/// What each key does.
const KEYS: [&str; 4] = [
    "  r  record again, with the provider's key: its answers and the golden change",
    "  u  write the goldens as this run was, if two replays agree",
    "  v  go through what waits for a decision, one change at a time",
    "  o  write the page of this run, and open it",
];

/// What the failures advise: commands that update goldens, and the others, which record.
pub(super) fn advised(ran: &[RunData]) -> (Vec<Advice>, Vec<Advice>) {
    Failed::of(ran).advice().into_iter().partition(|advice| advice.does == Some(Deed::Update))
}

/// Runs a command that a failure advises: this very program, whether or not it is in PATH, or the runner.
pub(super) fn run(root: &Path, command: &str) -> Result<()> {
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

/// Asks for a key, and shows it. What was typed before does not count. `None` if there is no more input, or no terminal.
#[cfg(unix)]
pub(super) fn pressed(question: &str) -> Option<char> {
    let key = key_by_key(true, || {
        terminal::ask(question);
        let mut byte = [0];
        let read = rustix::io::read(std::io::stdin(), &mut byte);
        read.ok().filter(|count| *count == 1).map(|_| char::from(byte[0]))
    })?;
    terminal::out(key.filter(|key| !key.is_control()).map(String::from).unwrap_or_default());
    key
}

/// Does something while the terminal gives each key when it is pressed, and does not echo it. Ctrl-C ends the program, or is a key
/// like others. `None` if there is no terminal.
#[cfg(unix)]
pub(super) fn key_by_key<T>(ends: bool, does: impl FnOnce() -> T) -> Option<T> {
    use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
    let input = std::io::stdin();
    let before = tcgetattr(&input).ok()?;
    let mut one_key = before.clone();
    one_key.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    // What was typed before an offer was shown does not count.
    let typed = if ends { OptionalActions::Flush } else { OptionalActions::Now };
    if !ends {
        one_key.local_modes.remove(LocalModes::ISIG);
    }
    tcsetattr(&input, typed, &one_key).ok()?;
    let done = does();
    let _ = tcsetattr(&input, OptionalActions::Now, &before);
    Some(done)
}

#[cfg(not(unix))]
pub(super) fn pressed(_: &str) -> Option<char> {
    None
}
