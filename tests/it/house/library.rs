//! The modules of the library, and which of them defines a name.

use std::collections::BTreeMap;

use super::source::{Path, Source};

/// The text of each file by its path in the project, with `/` as the separator.
pub(crate) type Files = BTreeMap<String, String>;

/// The folder of the library's sources.
pub(crate) const FOLDER: &str = "harness";

/// The modules of the library by their path (`["model", "replay"]`; empty for the root), without those that only tests use.
pub(crate) struct Library {
    pub(crate) modules: BTreeMap<Vec<String>, Module>,
}

/// A module, which is always one file.
pub(crate) struct Module {
    pub(crate) file: String,
    pub(crate) source: Source,
}

/// What a path leads to.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// A module itself.
    Module(Vec<String>),
    /// An item that this module's file defines.
    Item(Vec<String>),
    /// Something outside the library: another crate or a local name.
    Foreign,
    /// A path that begins in the library but does not resolve.
    Nothing,
}

impl Library {
    /// Reads the modules that `lib.rs` declares, and recursively the modules that those declare.
    pub(crate) fn read(files: &Files) -> Library {
        let mut library = Library { modules: BTreeMap::new() };
        library.add(files, &[]);
        library
    }

    fn add(&mut self, files: &Files, path: &[String]) {
        let stem = [&[FOLDER.to_owned()], path].concat().join("/");
        let candidates = if path.is_empty() {
            vec![format!("{stem}/lib.rs")]
        } else {
            vec![format!("{stem}.rs"), format!("{stem}/mod.rs")]
        };
        let Some(file) = candidates.into_iter().find(|file| files.contains_key(file)) else { return };
        // `internal.rs` re-exports what benches and tests need, and the order does not apply to it.
        if file == format!("{FOLDER}/internal.rs") {
            return;
        }
        let source = Source::parse(&files[&file]);
        let children: Vec<String> = source.modules().map(|module| module.name.clone()).collect();
        self.modules.insert(path.to_owned(), Module { file, source });
        for child in children {
            self.add(files, &[path, &[child]].concat());
        }
    }

    /// Resolves a path that is written in a module.
    pub(crate) fn find(&self, module: &[String], path: &Path) -> Found {
        self.follow(module, &path.names, 0)
    }

    fn follow(&self, module: &[String], names: &[String], depth: usize) -> Found {
        let (mut at, mut rest, relative) = match names[0].as_str() {
            // An exported macro may name items of `internal`, which is hidden from users.
            "$crate" if names[1] == "internal" => return Found::Foreign,
            "crate" | "$crate" => (Vec::new(), &names[1..], false),
            "self" => (module.to_vec(), &names[1..], false),
            "super" => (module[..module.len().saturating_sub(1)].to_vec(), &names[1..], false),
            _ => (module.to_vec(), names, true),
        };
        while rest.first().is_some_and(|name| name == "super") {
            at.pop();
            rest = &rest[1..];
        }
        for (index, name) in rest.iter().enumerate() {
            let last = index + 1 == rest.len();
            match self.name(&at, name, last, depth) {
                Found::Module(path) => at = path,
                Found::Nothing if relative && index == 0 => return Found::Foreign,
                found => return found,
            }
        }
        Found::Module(at)
    }

    /// Resolves a name in a module: an item that it defines, a child module, or something that it imports. If a module and
    /// something else share a name, the last name of a path (`last`) means the other one.
    fn name(&self, at: &[String], name: &str, last: bool, depth: usize) -> Found {
        let Some(module) = self.modules.get(at) else { return Found::Nothing };
        // Imports that form a cycle resolve to nothing.
        if depth > 16 {
            return Found::Nothing;
        }
        let below = [at, &[name.to_owned()]].concat();
        if !last && self.modules.contains_key(&below) {
            return Found::Module(below);
        }
        if module.source.items.iter().any(|item| item.kind != "mod" && item.name == name) {
            return Found::Item(at.to_vec());
        }
        let named = module.source.uses.iter().filter(|import| import.alias == name);
        let found: Vec<Found> = named.map(|import| self.follow(at, &import.path.names, depth + 1)).collect();
        if let Some(found) = found.iter().find(|found| matches!(found, Found::Item(_))).or(found.first()) {
            return found.clone();
        }
        if self.modules.contains_key(&below) {
            return Found::Module(below);
        }
        if at.is_empty()
            && let Some((path, _)) = self.modules.iter().find(|(_, module)| module.exports_macro(name))
        {
            return Found::Item(path.clone());
        }
        for import in module.source.uses.iter().filter(|import| import.alias == "*") {
            if let Found::Module(from) = self.follow(at, &import.path.names, depth + 1)
                && from != at
                && let found @ (Found::Module(_) | Found::Item(_)) = self.name(&from, name, last, depth + 1)
            {
                return found;
            }
        }
        Found::Nothing
    }
}

impl Module {
    fn exports_macro(&self, name: &str) -> bool {
        self.source.items.iter().any(|item| item.kind == "macro" && item.shown.macro_export && item.name == name)
    }
}
