//! Finds which file uses which other file, and reports two faults: a use against the order of the modules, and a cycle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::library::{FOLDER, Found, Library};
use super::source::Path;

/// One file uses a name that another file defines.
pub(crate) struct Arrow {
    pub(crate) from: String,
    pub(crate) line: usize,
    pub(crate) to: String,
    /// The path as the source writes it.
    pub(crate) path: String,
    /// Whether the file only re-exports the name, and so does not depend on it.
    passed_on: bool,
}

impl Arrow {
    fn show(&self) -> String {
        format!("{}:{} → {} (`{}`)", self.from, self.line, self.to, self.path)
    }
}

/// Returns all arrows, sorted, and one message for each path that cannot be resolved.
pub(crate) fn arrows(library: &Library) -> (Vec<Arrow>, Vec<String>) {
    let (mut arrows, mut lost) = (Vec::new(), Vec::new());
    for (at, module) in library.modules.iter().filter(|(at, _)| !at.is_empty()) {
        let imports = module.source.uses.iter().map(|import| {
            let used = !import.shown.exported || module.source.words.contains_key(&import.alias);
            (&import.path, !used)
        });
        let paths = module.source.paths.iter().map(|path| (path, false));
        for (path, passed_on) in imports.chain(paths) {
            let Path { names, line } = path;
            let written = names.join("::");
            match library.find(at, path) {
                Found::Item(to) if to != *at => {
                    let to = library.modules[&to].file.clone();
                    arrows.push(Arrow { from: module.file.clone(), line: *line, to, path: written, passed_on });
                }
                Found::Nothing => lost.push(format!(
                    "{}:{line}: `{written}` leads nowhere that this check can see: write it in a form that the check can follow, \
                     or extend tests/it/house/library.rs",
                    module.file
                )),
                _ => {}
            }
        }
    }
    arrows.sort_by(|a, b| (&a.from, &a.to, a.passed_on, a.line).cmp(&(&b.from, &b.to, b.passed_on, b.line)));
    arrows.dedup_by(|b, a| (&a.from, &a.to) == (&b.from, &b.to));
    (arrows, lost)
}

/// Returns a message for each arrow from a top-level module to one that comes after it in the order.
pub(crate) fn upward(arrows: &[Arrow], order: &[String]) -> Vec<String> {
    let place = |file: &str| order.iter().position(|module| module == top_level_of(file));
    let mut wrong = Vec::new();
    for arrow in arrows {
        match (place(&arrow.from), place(&arrow.to)) {
            (Some(from), Some(to)) if from < to => wrong.push(format!(
                "{}: `{}` comes before `{}` in the map of {FOLDER}/lib.rs and may not use it: move what both need to \
                 `{}` or a module before it, or move the code that needs it to `{}` or a module after it",
                arrow.show(),
                top_level_of(&arrow.from),
                top_level_of(&arrow.to),
                top_level_of(&arrow.from),
                top_level_of(&arrow.to),
            )),
            (Some(_), None) if [format!("{FOLDER}/lib.rs"), format!("{FOLDER}/main.rs")].contains(&arrow.to) => {
                wrong.push(format!("{}: no module may use this file: move what is used into a module", arrow.show()));
            }
            // `map::differences` reports a module that has no row.
            _ => {}
        }
    }
    wrong
}

/// Returns a message for each cycle of files, the shortest first. Each arrow is part of at most one of them.
pub(crate) fn cycles(arrows: &[Arrow]) -> Vec<String> {
    let mut graph: BTreeMap<&str, BTreeMap<&str, &Arrow>> = BTreeMap::new();
    for arrow in arrows.iter().filter(|arrow| !arrow.passed_on) {
        graph.entry(&arrow.from).or_default().insert(&arrow.to, arrow);
    }
    let mut wrong = Vec::new();
    while let Some(cycle) = shortest_cycle(&graph) {
        let shown: Vec<String> = cycle.iter().map(|arrow| arrow.show()).collect();
        wrong.push(format!(
            "a cycle of {} files:\n    {}\n  move what two of them need into a file of its own, or pass it as an argument",
            cycle.len(),
            shown.join("\n    ")
        ));
        for arrow in cycle {
            graph.get_mut(arrow.from.as_str()).map(|to| to.remove(arrow.to.as_str()));
        }
    }
    wrong
}

fn shortest_cycle<'a>(graph: &BTreeMap<&'a str, BTreeMap<&'a str, &'a Arrow>>) -> Option<Vec<&'a Arrow>> {
    graph.keys().filter_map(|start| cycle_through(graph, start)).min_by_key(Vec::len)
}

/// Returns the shortest path from a file back to itself.
fn cycle_through<'a>(graph: &BTreeMap<&'a str, BTreeMap<&'a str, &'a Arrow>>, start: &str) -> Option<Vec<&'a Arrow>> {
    let mut ways = VecDeque::from([(start, Vec::new())]);
    let mut seen = BTreeSet::new();
    while let Some((file, way)) = ways.pop_front() {
        for (to, arrow) in graph.get(file).into_iter().flatten() {
            let way = [way.as_slice(), &[*arrow]].concat();
            if *to == start {
                return Some(way);
            }
            if seen.insert(*to) {
                ways.push_back((to, way));
            }
        }
    }
    None
}

/// Returns the top-level module of a file: `model` for `harness/model/replay.rs`.
pub(crate) fn top_level_of(file: &str) -> &str {
    let inside = file.strip_prefix(FOLDER).map_or(file, |rest| rest.trim_start_matches('/'));
    let module = inside.split('/').next().unwrap_or(inside);
    module.strip_suffix(".rs").unwrap_or(module)
}
