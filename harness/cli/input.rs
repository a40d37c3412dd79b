//! The input of a subcommand: a file, or standard input.

use std::io::Read as _;
use std::path::Path;

use retake_base::error::{Error, Result};

/// Reads a file, or standard input if no file is given.
pub(super) fn input(file: Option<&Path>) -> Result<Vec<u8>> {
    if let Some(file) = file {
        retake_base::files::read(file)
    } else {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.map_err(|e| Error::new(format!("failed to read standard input: {e}")))?;
        Ok(bytes)
    }
}
