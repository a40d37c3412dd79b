//! What keeps a program from starting as it should, though it is there.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use retake_base::error::{Error, Result};
use retake_scenario::{Discovered, SystemSpec, Template};

/// Checks how the systems of a suite are started. Returns what is wrong, with the name of what it is about.
pub(super) fn starts(root: &Path, discovered: &Discovered) -> Vec<(String, Error)> {
    let mut wrong = Vec::new();
    for (name, system) in &discovered.suite.systems {
        let SystemSpec::Command(spec) = system else { continue };
        let folder = spec.cwd.as_ref().map_or_else(|| root.to_owned(), |cwd| root.join(cwd.source()));
        let words: Vec<&str> = spec.command.iter().map(Template::source).collect();
        wrong.extend(missing_file(&words, &folder, name));
        wrong.extend(words.first().and_then(|program| other_python(program, &folder, name)));
    }
    wrong
}

/// The file that an interpreter is given and that does not exist.
fn missing_file(words: &[&str], folder: &Path, system: &str) -> Option<(String, Error)> {
    const SOURCES: [&str; 8] = ["py", "ts", "tsx", "mts", "js", "mjs", "cjs", "rb"];
    let is_source = |word: &&&str| {
        let ending = Path::new(word).extension().and_then(|ending| ending.to_str());
        !word.starts_with('-') && !word.contains("{{") && ending.is_some_and(|ending| SOURCES.contains(&ending))
    };
    let file = words.iter().skip(1).find(is_source)?;
    if folder.join(file).is_file() {
        return None;
    }
    let error = Error::new(format!(
        "there is no file {}, which system `{system}` is started with",
        folder.join(file).display()
    ));
    Some((
        (*file).to_owned(),
        error.help("write the file that starts the service into `command` in scenarios/suite.toml"),
    ))
}

/// Says that a system is started with another Python than that of the environment beside it.
fn other_python(program: &str, folder: &Path, system: &str) -> Option<(String, Error)> {
    if !matches!(program, "python" | "python3") {
        return None;
    }
    let own = retake::__private::system::environment_beside(folder)?;
    let path = std::env::var_os("PATH")?;
    let found = std::env::split_paths(&path).map(|place| place.join(program)).find(|file| file.is_file())?;
    if found.parent().and_then(resolved) == own.parent().and_then(resolved) {
        return None;
    }
    let (found, relative) = (found.display(), own.strip_prefix(folder).unwrap_or(&own).display());
    let error = Error::new(format!(
        "`{program}` is {found}, so system `{system}` does not see what is installed in {relative}"
    ));
    Some((program.to_owned(), error.help(format!("in scenarios/suite.toml: command = [\"{relative}\", …]"))))
}

fn resolved(folder: &Path) -> Option<PathBuf> {
    folder.canonicalize().ok()
}

/// Checks that a program is a browser: whether it can show an empty page.
#[cfg_attr(not(feature = "browser"), allow(dead_code, reason = "only pages need a browser"))]
pub(super) fn is_browser(program: &Path) -> Result<()> {
    let profile = tempfile::tempdir().map_err(|e| Error::new(format!("failed to make a folder: {e}")))?;
    let mut asked = Command::new(program);
    asked.args(["--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--dump-dom"]);
    asked.arg(format!("--user-data-dir={}", profile.path().display())).arg("about:blank");
    let shown = asked.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let shown = shown.map_err(|e| Error::new(format!("{} cannot be started: {e}", program.display())))?;
    if String::from_utf8_lossy(&shown.stdout).contains("<html>") {
        return Ok(());
    }
    Err(Error::new(format!("{} is no Chromium: asked for an empty page, it showed none", program.display()))
        .help("name the program of Chromium or Chrome with RETAKE_CHROMIUM, or leave the variable out"))
}

#[cfg(test)]
mod tests;
