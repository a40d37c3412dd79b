//! All checks, put together.

use super::library::{Files, Library};
use super::{arrows, map, public, walks};

/// What is wrong with imports, a message each.
pub(crate) fn imports(files: &Files) -> Vec<String> {
    let library = Library::read(files);
    let order: Vec<String> = map::rows(files).into_iter().map(|(room, _)| room).collect();
    let (arrows, lost) = arrows::arrows(&library);
    [lost, arrows::upward(&arrows, &order), arrows::circles(&arrows)].concat()
}

/// All that is wrong.
pub(crate) fn all(files: &Files) -> Vec<String> {
    let list = files.get(public::LIST).map_or("", String::as_str);
    [map::differences(files), imports(files), public::differences(&Library::read(files), list), walks::faults(files)]
        .concat()
}
