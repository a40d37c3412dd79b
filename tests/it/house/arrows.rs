//! Which file uses which, and what is wrong with that: an arrow against the order of the rooms, or a circle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::library::{FOLDER, Found, Library};
use super::source::Path;

/// A file uses a name that another defines.
pub(crate) struct Arrow {
    pub(crate) from: String,
    pub(crate) line: usize,
    pub(crate) to: String,
    /// The path as it is written.
    pub(crate) path: String,
    /// The name is only passed on, so that the file does not depend on it.
    passed_on: bool,
}

impl Arrow {
    fn show(&self) -> String {
        format!("{}:{} → {} (`{}`)", self.from, self.line, self.to, self.path)
    }
}

/// All arrows, sorted, and the paths that lead nowhere, as messages.
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
                    "{}:{line}: `{written}` leads nowhere that this check can see: write it so that it can be followed, or \
                     teach tests/it/house/library.rs to follow it",
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

/// Arrows from a room to one that stands below it in the order.
pub(crate) fn upward(arrows: &[Arrow], order: &[String]) -> Vec<String> {
    let place = |file: &str| order.iter().position(|room| room == room_of(file));
    let mut wrong = Vec::new();
    for arrow in arrows {
        match (place(&arrow.from), place(&arrow.to)) {
            (Some(from), Some(to)) if from < to => wrong.push(format!(
                "{}: `{}` stands above `{}` in the map of {FOLDER}/lib.rs and may not use it: move what both need to \
                 `{}` or above, or what needs it to `{}` or below",
                arrow.show(),
                room_of(&arrow.from),
                room_of(&arrow.to),
                room_of(&arrow.from),
                room_of(&arrow.to),
            )),
            (Some(_), None) if [format!("{FOLDER}/lib.rs"), format!("{FOLDER}/main.rs")].contains(&arrow.to) => {
                wrong.push(format!("{}: this file is above all rooms: move what is used to a room", arrow.show()));
            }
            // A room without a row is told of by the map.
            _ => {}
        }
    }
    wrong
}

/// Circles of files, each arrow in one of them at most, short ones first.
pub(crate) fn circles(arrows: &[Arrow]) -> Vec<String> {
    let mut graph: BTreeMap<&str, BTreeMap<&str, &Arrow>> = BTreeMap::new();
    for arrow in arrows.iter().filter(|arrow| !arrow.passed_on) {
        graph.entry(&arrow.from).or_default().insert(&arrow.to, arrow);
    }
    let mut wrong = Vec::new();
    while let Some(circle) = shortest_circle(&graph) {
        let shown: Vec<String> = circle.iter().map(|arrow| arrow.show()).collect();
        wrong.push(format!(
            "a circle of {} files:\n    {}\n  put what two of them need into a file of its own, or hand it over as an argument",
            circle.len(),
            shown.join("\n    ")
        ));
        for arrow in circle {
            graph.get_mut(arrow.from.as_str()).map(|to| to.remove(arrow.to.as_str()));
        }
    }
    wrong
}

fn shortest_circle<'a>(graph: &BTreeMap<&'a str, BTreeMap<&'a str, &'a Arrow>>) -> Option<Vec<&'a Arrow>> {
    graph.keys().filter_map(|start| circle_through(graph, start)).min_by_key(Vec::len)
}

/// The shortest way from a file back to itself.
fn circle_through<'a>(graph: &BTreeMap<&'a str, BTreeMap<&'a str, &'a Arrow>>, start: &str) -> Option<Vec<&'a Arrow>> {
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

/// The room of a file: `harness/model/replay.rs` is in `model`.
pub(crate) fn room_of(file: &str) -> &str {
    let inside = file.strip_prefix(FOLDER).map_or(file, |rest| rest.trim_start_matches('/'));
    let room = inside.split('/').next().unwrap_or(inside);
    room.strip_suffix(".rs").unwrap_or(room)
}
