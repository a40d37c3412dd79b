//! The project that the command stands in, and what it is given.

use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::fixture::Fixture;
use crate::json::Json;
use crate::key::Rules;
use crate::model::CallerRules;
#[cfg(feature = "record")]
use crate::secrets::Secrets;

/// The project's folder: `RETAKE_ROOT`, else the nearest folder upwards that holds `scenarios/`, else this one.
pub(super) fn root() -> Result<PathBuf> {
    if let Some(root) = std::env::var_os("RETAKE_ROOT").filter(|root| !root.is_empty()) {
        return Ok(PathBuf::from(root));
    }
    let here = std::env::current_dir().map_err(|e| Error::new(format!("failed to find the current folder: {e}")))?;
    Ok(here.ancestors().find(|folder| folder.join("scenarios").is_dir()).unwrap_or(&here).to_owned())
}

/// A file's bytes, or those of standard input where no file is named.
pub(super) fn input(file: Option<&Path>) -> Result<Vec<u8>> {
    if let Some(file) = file {
        crate::files::read(file)
    } else {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|e| Error::new(format!("failed to read standard input: {e}")))?;
        Ok(bytes)
    }
}

/// The rules of the project that the command stands in, for keys and for callers; version 1 and none where there is no
/// project.
pub(super) fn rules() -> Result<(Rules, CallerRules)> {
    let root = root()?;
    if !root.join("scenarios/suite.toml").exists() {
        return Ok((Rules::default(), CallerRules::default()));
    }
    let suite = crate::scenario::discover(&root)?.suite;
    Ok((crate::run::project::rules_of(&suite), CallerRules::new(suite.callers.clone())))
}

/// The notes of the fixture that is replaced: prompt and context are a person's.
pub(super) fn notes_of(out: &Path, rules: &Rules) -> BTreeMap<String, Json> {
    if out.exists() { Fixture::read(out, rules).map(|old| old.notes).unwrap_or_default() } else { BTreeMap::new() }
}

/// What the suite of the project that the command stands in declares, and what else of the environment looks secret.
#[cfg(feature = "record")]
pub(super) fn secrets() -> Result<Secrets> {
    let root = root()?;
    let suite = root.join("scenarios/suite.toml").exists();
    let declared = if suite { crate::scenario::discover(&root)?.suite.defaults.secrets } else { Vec::new() };
    let text = |os: std::ffi::OsString| os.into_string().ok();
    let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
    Secrets::new(declared, environment).map_err(Error::new)
}
