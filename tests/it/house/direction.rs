//! The direction between the files of a crate: which use which, and the circles among them that cross folders.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use regex::Regex;

use super::source::{Source, sources};

/// The modules of a crate, each with its path of names: `["miss", "explanation"]`.
struct Modules(BTreeMap<Vec<String>, Module>);

struct Module {
    file: String,
    /// What it defines.
    defines: BTreeSet<String>,
    /// Paths in its code, apart from what it brings in.
    paths: BTreeSet<String>,
    /// What it uses under a name of its own: the name, the path, and whether others get it from here.
    uses: Vec<Use>,
}

struct Use {
    name: String,
    path: Vec<String>,
    is_public: bool,
}

/// Returns the circles of a crate: files that use each other, directly or through others, and are not all in one folder. A file that
/// has a folder is in that folder.
pub(super) fn circles(of: &str) -> BTreeSet<BTreeSet<String>> {
    let modules = Modules::of(sources(of));
    let edges = modules.edges();
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        edges.keys().map(|from| (from.as_str(), reached(&edges, from))).collect();
    let circle = |file: &str| -> BTreeSet<String> {
        let together = reach[file].iter().filter(|other| reach.get(*other).is_some_and(|back| back.contains(file)));
        together.map(|other| (*other).to_owned()).collect()
    };
    let circles = reach.keys().map(|file| circle(file)).filter(|circle| circle.len() > 1);
    circles.filter(|circle| circle.iter().map(|file| modules.folder(file)).collect::<BTreeSet<_>>().len() > 1).collect()
}

fn reached<'a>(edges: &'a BTreeMap<String, BTreeSet<String>>, from: &str) -> BTreeSet<&'a str> {
    let (mut reached, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(file) = next.pop() {
        for to in edges.get(file).into_iter().flatten() {
            if reached.insert(to.as_str()) {
                next.push(to);
            }
        }
    }
    reached
}

impl Modules {
    fn of(sources: Vec<Source>) -> Modules {
        let defines =
            Regex::new(r"\b(?:struct|enum|fn|const|static|type|trait|macro_rules!) ([A-Za-z_][A-Za-z_0-9]*)").unwrap();
        let paths = Regex::new(r"\b[A-Za-z_][A-Za-z_0-9]*(?:::[A-Za-z_][A-Za-z_0-9]*)+").unwrap();
        let (statement, spaces) = (Regex::new(USE).unwrap(), Regex::new(r"\s*::\s*").unwrap());
        let modules = sources.into_iter().map(|source| {
            let code = statement.replace_all(&source.code, "");
            let code = spaces.replace_all(&code, "::");
            let module = Module {
                file: source.path.to_str().unwrap().to_owned(),
                defines: defines.captures_iter(&code).map(|found| found[1].to_owned()).collect(),
                paths: paths.find_iter(&code).map(|found| found.as_str().to_owned()).collect(),
                uses: uses(&statement, &source.code),
            };
            (names(&source.path), module)
        });
        let mut modules = Modules(modules.collect());
        let relative: Vec<Vec<String>> = modules.0.keys().cloned().collect();
        for of in relative {
            let whole: Vec<Vec<String>> =
                modules.0[&of].uses.iter().map(|it| modules.absolute(&of, &it.path).unwrap_or_default()).collect();
            let uses = &mut modules.0.get_mut(&of).unwrap().uses;
            uses.iter_mut().zip(whole).for_each(|(it, path)| it.path = path);
            uses.retain(|it| !it.path.is_empty());
        }
        modules
    }

    /// A path from the root of the crate; `None` if it leads to another crate.
    fn absolute(&self, of: &[String], path: &[String]) -> Option<Vec<String>> {
        let (mut base, mut rest) = (of.to_vec(), path);
        match path.first()?.as_str() {
            "crate" => (base, rest) = (Vec::new(), &path[1..]),
            "self" => rest = &path[1..],
            "super" => {
                while rest.first().is_some_and(|name| name == "super") {
                    base.pop()?;
                    rest = &rest[1..];
                }
            }
            name => {
                let child = [of, &[name.to_owned()]].concat();
                self.0.get(&child)?;
            }
        }
        base.extend_from_slice(rest);
        Some(base)
    }

    /// The file in which a path ends, through what modules on the way export.
    fn file(&self, path: &[String], depth: usize) -> Option<&str> {
        let module = (0..=path.len()).rev().find(|length| self.0.contains_key(&path[..*length]))?;
        let (module, rest) = (&self.0[&path[..module]], &path[module..]);
        let Some(name) = rest.first().filter(|_| depth < 8) else { return Some(&module.file) };
        let exported = module.uses.iter().filter(|it| it.is_public);
        let (named, all): (Vec<&Use>, Vec<&Use>) = exported.partition(|it| it.name != "*");
        if let Some(it) = named.iter().find(|it| it.name == *name) {
            return self.file(&[&it.path, &rest[1..]].concat(), depth + 1);
        }
        let defines = |it: &&Use| self.0.get(&it.path).is_some_and(|module| module.defines.contains(name));
        let exporting = if module.defines.contains(name) { None } else { all.into_iter().find(defines) };
        exporting.map_or(Some(&*module.file), |it| self.file(&[&it.path[..], rest].concat(), depth + 1))
    }

    /// Which files each file uses. What a file only passes on does not count.
    fn edges(&self) -> BTreeMap<String, BTreeSet<String>> {
        let mut edges: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (of, module) in &self.0 {
            let used = module.uses.iter().filter(|it| !it.is_public).map(|it| it.path.clone());
            // A path in the code begins at the crate, at a parent, or at a module in this one.
            let inline = module
                .paths
                .iter()
                .filter_map(|path| self.absolute(of, &path.split("::").map(str::to_owned).collect::<Vec<_>>()));
            let to = edges.entry(module.file.clone()).or_default();
            for path in used.chain(inline) {
                to.extend(self.file(&path, 0).filter(|file| *file != module.file).map(str::to_owned));
            }
        }
        edges
    }

    /// The folder of a file, as its modules see it.
    fn folder(&self, file: &str) -> Vec<String> {
        let mut names = names(Path::new(file));
        if !self.0.keys().any(|other| other.len() > names.len() && other.starts_with(&names)) {
            names.pop();
        }
        names
    }
}

/// The names of the module in a file.
fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = path.with_extension("").iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if names.last().is_some_and(|name| ["mod", "lib", "main"].contains(&name.as_str())) {
        names.pop();
    }
    names
}

/// A statement that brings something in.
const USE: &str = r"(?s)(pub(?:\([^)]*\))?\s+)?\buse\s+([^;]*);";

/// Returns what a source brings in: `use a::{b, c as d, e::*};` is three.
fn uses(statement: &Regex, code: &str) -> Vec<Use> {
    let mut uses = Vec::new();
    for found in statement.captures_iter(code) {
        let tree: String =
            found[2].split_whitespace().collect::<Vec<_>>().join(" ").replace(" as ", "@").replace(' ', "");
        for path in spread(&tree) {
            let (path, name) = path.split_once('@').map_or((path.as_str(), None), |(path, name)| (path, Some(name)));
            let mut path: Vec<String> = path.split("::").map(str::to_owned).collect();
            let own = if path.last().is_some_and(|last| last == "*" || last == "self") {
                path.pop()
            } else {
                path.last().cloned()
            };
            let own = own.map(|own| if own == "self" { path.last().cloned().unwrap_or_default() } else { own });
            let name = name.map(str::to_owned).or(own).unwrap_or_default();
            uses.push(Use { name, path, is_public: found.get(1).is_some() });
        }
    }
    uses
}

/// Spreads the braces of a path.
fn spread(tree: &str) -> Vec<String> {
    let Some((before, rest)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let inner = &rest[..rest.rfind('}').unwrap_or(rest.len())];
    let (mut parts, mut depth, mut begin) = (Vec::new(), 0, 0);
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&inner[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&inner[begin..]);
    let parts = parts.into_iter().filter(|part| !part.is_empty());
    parts.flat_map(spread).map(|part| format!("{before}{part}")).collect()
}
