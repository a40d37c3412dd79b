//! Finds the files to import: those that a person named, and those in folders that a person named.

use std::path::{Path, PathBuf};

use retake_base::error::{Error, Result};
use retake_base::files::failed;
use retake_base::text::counted;

struct File {
    path: PathBuf,
    /// Whether a person named the file. If not, it was found in a folder.
    named: bool,
}

/// What files hold, lines about what was skipped, and an error for each file that cannot be read, or that a person named although it
/// has another format.
pub(super) type Files<T> = (Vec<(PathBuf, T)>, Vec<String>, Vec<Error>);

/// Reads files, and those of folders, in order. `read` returns what a file holds, or that it has another format.
pub(super) fn each<T>(
    inputs: &[PathBuf],
    endings: &[&str],
    mut read: impl FnMut(&Path) -> Result<Result<T, String>>,
) -> Result<Files<T>> {
    let (found, mut skipped) = find(inputs, endings)?;
    let (mut held, mut errors) = (Vec::new(), Vec::new());
    for file in found {
        match read(&file.path) {
            Ok(Ok(of_file)) => held.push((file.path, of_file)),
            Ok(Err(other)) if file.named => errors.push(Error::new(other).in_file(&file.path)),
            Ok(Err(other)) => skipped.push(format!("{}: skipped: {other}", file.path.display())),
            Err(error) => errors.push(error.in_file(&file.path)),
        }
    }
    Ok((held, skipped, errors))
}

/// Returns the files in order, and one line for each folder in which files were skipped.
fn find(inputs: &[PathBuf], endings: &[&str]) -> Result<(Vec<File>, Vec<String>)> {
    let (mut files, mut skipped) = (Vec::new(), Vec::new());
    for input in inputs {
        if !input.is_dir() {
            files.push(File { path: input.clone(), named: true });
            continue;
        }
        let (before, mut others) = (files.len(), 0);
        walk(input, endings, &mut files, &mut others)?;
        let endings = endings.iter().map(|ending| format!(".{ending}")).collect::<Vec<_>>().join(", ");
        if files.len() == before {
            return Err(Error::new(format!("the folder contains no file that ends in {endings}")).in_file(input));
        }
        if others > 0 {
            let others = counted(others, "file");
            skipped.push(format!("{}: skipped {others} without the ending {endings}", input.display()));
        }
    }
    Ok((files, skipped))
}

/// Collects the files of a folder and of the folders in it, and counts those with other endings. Skips dotfiles, which are not
/// recordings, and does not follow links to folders, which may form a cycle.
fn walk(folder: &Path, endings: &[&str], files: &mut Vec<File>, others: &mut usize) -> Result<()> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = entries.map_err(|e| failed("read", folder, &e))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_name().to_string_lossy().starts_with('.') {
            continue;
        }
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            walk(&path, endings, files, others)?;
        } else if has_ending(&entry.file_name().to_string_lossy(), endings) {
            files.push(File { path, named: false });
        } else {
            *others += 1;
        }
    }
    Ok(())
}

/// Whether a file has one of these endings, packed or not.
fn has_ending(name: &str, endings: &[&str]) -> bool {
    let name = name.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    endings.iter().any(|ending| name.strip_suffix(ending).is_some_and(|stem| stem.ends_with('.')))
}
