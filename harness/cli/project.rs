//! The project that a subcommand works on.

use std::path::PathBuf;

use crate::error::{Error, Result};

/// The project's folder: `RETAKE_ROOT`, else the nearest folder upwards that holds `scenarios/`, else this one.
pub(super) fn root() -> Result<PathBuf> {
    if let Some(root) = std::env::var_os("RETAKE_ROOT").filter(|root| !root.is_empty()) {
        return Ok(PathBuf::from(root));
    }
    let here = std::env::current_dir().map_err(|e| Error::new(format!("failed to find the current folder: {e}")))?;
    Ok(here.ancestors().find(|folder| folder.join("scenarios").is_dir()).unwrap_or(&here).to_owned())
}
