//! Where the service is that `retake init` is for: in this folder, or in a folder of a repository with several.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use clap::ValueEnum as _;

use super::language::Language;
use retake::__private::report::terminal;
use retake_base::env::RETAKE;
use retake_base::error::{Error, Result};

/// Returns the language of the service in a folder. If its files do not tell, a person at a terminal is asked.
/// Fails if the services are in folders below, where `retake init` has to be called.
pub(super) fn language(here: &Path, asks: bool) -> Result<Language> {
    if let Some(language) = Language::told_by(here) {
        return Ok(language);
    }
    let below = projects_below(here);
    if !below.is_empty() {
        let error = Error::new(format!("{} holds no service itself, but folders below it do", here.display()));
        let call = |(folder, language): &(PathBuf, Language)| {
            format!("cd {} && {RETAKE} init    # {}", folder.display(), language.name())
        };
        return Err(below.iter().map(call).fold(error, Error::help));
    }
    if asks {
        return asked(&mut std::io::stdin().lock());
    }
    terminal::note(
        "no file here shows the service's language; if it is one of these: --language python, typescript or rust (any other will do, too)",
    );
    Ok(Language::Other)
}

/// Asks whether the service may be started once.
pub(super) fn may_start(command: &str) -> bool {
    terminal::ask(format!(
        "Start the service once, to see its port and its routes? `{command}`, with no key of a provider [Y/n]: "
    ));
    let mut answer = String::new();
    let read = std::io::stdin().lock().read_line(&mut answer).unwrap_or(0);
    read > 0 && !answer.trim().to_ascii_lowercase().starts_with('n')
}

/// Asks how the service is started. `None` if nobody answers.
pub(super) fn started_by() -> Option<Vec<String>> {
    terminal::ask("How is it started? A command, with {{ port }} in the place of its port; nothing to leave: ");
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).ok()?;
    let typed: Vec<String> = answer.split_whitespace().map(str::to_owned).collect();
    Some(super::sources::given(&typed)).filter(|words| !words.is_empty())
}

/// Asks for the language until the answer is one.
fn asked(answers: &mut impl BufRead) -> Result<Language> {
    loop {
        terminal::ask("Which language is the service in? [p]ython [t]ypescript [r]ust [o]ther: ");
        let mut answer = String::new();
        let read = answers.read_line(&mut answer).map_err(|e| Error::new(format!("no answer: {e}")))?;
        if read == 0 {
            let help = format!("{RETAKE} init --language python, typescript, rust or other");
            return Err(Error::new("no answer").help(help));
        }
        let first = answer.trim().to_ascii_lowercase().chars().next();
        let is_meant = |language: &&Language| first.is_some_and(|first| language.name().starts_with(first));
        if let Some(language) = Language::value_variants().iter().find(is_meant) {
            return Ok(*language);
        }
    }
}

/// Returns the folders with a service, one or two levels below, with their languages. What is installed or hidden is not looked at.
fn projects_below(here: &Path) -> Vec<(PathBuf, Language)> {
    let mut found = Vec::new();
    for child in folders(here) {
        if let Some(language) = Language::told_by(&here.join(&child)) {
            found.push((child, language));
            continue;
        }
        for grandchild in folders(&here.join(&child)) {
            let folder = child.join(grandchild);
            found.extend(Language::told_by(&here.join(&folder)).map(|language| (folder, language)));
        }
    }
    found
}

/// Returns the folders in a folder, without those that are hidden or hold what is installed or built.
pub(super) fn folders(of: &Path) -> Vec<PathBuf> {
    let skipped = |name: &str| {
        name.starts_with('.') || matches!(name, "node_modules" | "target" | "venv" | "dist" | "__pycache__" | "build")
    };
    let entries = std::fs::read_dir(of).into_iter().flatten().flatten().filter(|entry| entry.path().is_dir());
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok()).filter(|name| !skipped(name));
    let mut names: Vec<PathBuf> = names.map(PathBuf::from).collect();
    names.sort();
    names
}

#[cfg(test)]
mod tests;
