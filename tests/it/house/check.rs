//! Runs the checks and joins what they find.

use super::library::{Files, Library};
use super::{arrows, map, public, walks};

/// Returns one message for each fault in the imports.
pub(crate) fn imports(files: &Files) -> Vec<String> {
    let library = Library::read(files);
    let order: Vec<String> = map::rows(files).into_iter().map(|(module, _)| module).collect();
    let (arrows, lost) = arrows::arrows(&library);
    [lost, arrows::upward(&arrows, &order), arrows::cycles(&arrows)].concat()
}

/// Returns the faults that all checks find.
pub(crate) fn all(files: &Files) -> Vec<String> {
    let list = files.get(public::LIST).map_or("", String::as_str);
    [map::differences(files), imports(files), public::differences(&Library::read(files), list), walks::faults(files)]
        .concat()
}
