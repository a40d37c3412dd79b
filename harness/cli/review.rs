use std::io::BufRead;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::{accept, offer};
use crate::view::{Diff, Shown, columns};
use retake::__private::project::OpenProject;
use retake::__private::report::{Runs, terminal};
use retake::__private::run::{Waiting, WaitingKind, waiting};
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_wire::fixture::Fixture;

/// Go through what waits for a decision, and accept, reject or skip each change
#[derive(Debug, Args)]
#[command(after_help = format!("Example:\n  retake review\n\n\
    When a run's result differs from the golden, the new golden waits next to the\n\
    committed one, and so does a fixture that `retake record --propose` made.\n\n\
    On a terminal, one key answers; elsewhere, a letter and Enter:\n{KEYS}\n\n\
    To decide without questions: retake accept, retake reject"))]
pub(super) struct Review {}

/// What each answer does.
const KEYS: &str = "  a  accept, if two replays agree\n  \
    A  accept this and all that follow, without showing them\n  \
    r  reject\n  \
    s  skip, and decide later\n  \
    b  show the two texts side by side\n  \
    u  show a unified diff\n  \
    w  show the whole text\n  \
    q  quit";

/// How two texts are shown.
type Layout = fn(&str, &str, usize) -> Diff;

impl Review {
    #[expect(clippy::unused_self, reason = "a subcommand without options is still one")]
    pub(super) fn run(&self) -> Result<ExitCode> {
        let root = super::project::root()?;
        let all = waiting(&root)?;
        if all.is_empty() {
            terminal::out("nothing waits for a decision");
            return Ok(ExitCode::SUCCESS);
        }
        let mut answers = std::io::stdin().lock().lines();
        let (mut accepted, mut rejected, mut left) = (0, 0, 0);
        let mut accepts_all = false;
        let mut layout: Layout = if columns::width() >= WIDE { Diff::side_by_side } else { Diff::unified };
        'all: for (index, waits) in all.iter().enumerate() {
            // A golden that was accepted together with its fixture is gone already.
            if !waits.file.exists() {
                accepted += 1;
                continue;
            }
            if accepts_all {
                *if accept::again(&root, &waits.name)? { &mut accepted } else { &mut left } += 1;
                continue;
            }
            let texts = texts(&root, waits)?;
            show(&root, waits, (index + 1, all.len()), &texts, layout);
            loop {
                let question = "[a]ccept [A]ll [r]eject [s]kip  [b]oth sides [u]nified [w]hole  [q]uit [?]: ";
                let answer = if let Some(key) = offer::pressed(question) {
                    Some(key.to_string())
                } else {
                    terminal::ask(question);
                    answers.next().transpose().map_err(|e| Error::new(format!("no answer: {e}")))?
                };
                // Ctrl-D is a key like others.
                let Some(answer) = answer.filter(|answer| !["q", "\u{4}"].contains(&answer.trim())) else {
                    left += all.len() - index;
                    break 'all;
                };
                accepts_all = answer.trim() == "A";
                match answer.trim() {
                    "a" | "A" if accept::again(&root, &waits.name)? => accepted += 1,
                    "r" => {
                        waits.reject()?;
                        rejected += 1;
                    }
                    // `retake accept` has printed why it failed.
                    "a" | "A" | "s" => left += 1,
                    letter @ ("b" | "u" | "w") => {
                        layout = match letter {
                            "b" => Diff::side_by_side,
                            "u" => Diff::unified,
                            _ => Diff::whole,
                        };
                        show(&root, waits, (index + 1, all.len()), &texts, layout);
                        continue;
                    }
                    "?" => {
                        terminal::out(KEYS);
                        continue;
                    }
                    _ => continue,
                }
                break;
            }
        }
        terminal::out(format!("\n{accepted} accepted, {rejected} rejected, {left} left"));
        Ok(ExitCode::SUCCESS)
    }
}

/// The terminal width from which on two texts are first shown side by side.
const WIDE: usize = 120;

/// The committed text and the waiting one, in the form in which they are shown.
fn texts(root: &std::path::Path, waits: &Waiting) -> Result<[String; 2]> {
    let committed = root.join(&waits.shown);
    match waits.kind {
        WaitingKind::Golden | WaitingKind::Values | WaitingKind::Worlds => {
            let goldens = super::project::goldens(root);
            let committed = goldens.committed(&committed)?.unwrap_or_default();
            Ok([committed, goldens.committed(&waits.file)?.unwrap_or_default()])
        }
        WaitingKind::Fixture => {
            let rules = OpenProject::of_fixture(&committed, Some(root))?.rules;
            let text = |file: &PathBuf| -> Result<String> {
                if !file.exists() {
                    return Ok(String::new());
                }
                let fixture = Fixture::parse(&waits.shown, &retake_base::files::read(file)?, &rules)?;
                Ok(Shown { fixture: &fixture, rules: &rules, used_by: &[], width: columns::WIDTH }.whole())
            };
            Ok([text(&committed)?, text(&waits.file)?])
        }
    }
}

fn show(root: &std::path::Path, waits: &Waiting, (number, of): (usize, usize), texts: &[String; 2], layout: Layout) {
    let width = columns::width();
    let kind = match waits.kind {
        WaitingKind::Golden => "golden",
        WaitingKind::Values => "values of the recording",
        WaitingKind::Worlds => "table of worlds",
        WaitingKind::Fixture => "fixture",
    };
    terminal::out(format!("\n{}", columns::ruled(&format!("{number} of {of} · {kind} {}", waits.name), width)));
    let run = Runs::of(root).read(&waits.name).ok().flatten();
    let said = run.as_ref().and_then(|run| run.description.as_deref());
    said.into_iter().flat_map(|text| columns::wrapped(text, 2, width)).for_each(terminal::out);
    let [old, new] = texts;
    let before = if old.is_empty() { "nothing is committed yet" } else { "- committed, + what waits" };
    terminal::out(format!("  {}: {before}\n", waits.shown.display()));
    let diff = layout(old, new, width);
    diff.print();
    if diff.is_empty() {
        terminal::out(format!("  both read the same ({})", counted(new.lines().count(), "line")));
    }
    terminal::out("");
}
