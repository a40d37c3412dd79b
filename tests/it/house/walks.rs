//! Checks the walks in `tests/README.md`: each file exists, and no walk returns to a module that it has left.

use super::arrows::top_level_of;
use super::library::Files;

/// The page that contains the walks.
pub(crate) const PAGE: &str = "tests/README.md";

/// Returns one message for each step to a missing file or to a module that the walk has already left.
pub(crate) fn faults(files: &Files) -> Vec<String> {
    let page = files.get(PAGE).map_or("", String::as_str);
    let (mut wrong, mut walks, mut modules) = (Vec::new(), 0, Vec::<&str>::new());
    let lines = page.lines().enumerate().skip_while(|(_, line)| *line != "## Walks");
    for (index, line) in lines {
        if line.starts_with("### ") {
            walks += 1;
            modules.clear();
        }
        let Some((_, step)) = line.split_once(". `") else { continue };
        let file = step.split('`').next().unwrap_or(step);
        let place = format!("{PAGE}:{}", index + 1);
        if !files.contains_key(file) {
            wrong.push(format!("{place}: there is no {file}: name the file that does this now"));
        }
        let module = top_level_of(file);
        if modules.last() != Some(&module) && modules.contains(&module) {
            wrong.push(format!("{place}: {file} leads back to `{module}`: a walk visits each module once"));
        }
        modules.push(module);
    }
    if walks != 4 {
        wrong.push(format!("{PAGE}: expected 4 walks, each under a heading of its own, found {walks}"));
    }
    wrong
}
