//! Finds out which fields exclude each other, by reading files with the examples of both.

use std::fs;

use super::schema::{Rule, Schema, What};
use crate::{Discovered, discover};
use retake_base::error::Result;

const STEP: &str = "[[step]]\nget = \"/\"\n";
pub(super) const SOUND: (&str, &str) = ("scenarios/sound/scenario.toml", STEP);

/// Reads files with the examples of two fields.
pub(super) struct Probe<'a> {
    /// The schema of the types alone.
    pub(super) plain: &'a Schema,
    pub(super) file: &'static str,
}

impl Probe<'_> {
    /// Returns, for each of the `kinds` of a table, the fields that the reader refuses together with it. Those in `either` are
    /// not tried.
    pub(super) fn refused(
        &self,
        table: &'static str,
        kinds: &[&'static str],
        either: &[&str],
        text: impl Fn(&str, &str) -> String,
    ) -> Vec<Rule> {
        let line = |field: &str| {
            let told = &self.plain.1[&(table.to_owned(), field.to_owned())];
            format!("{field} = {}", told.example)
        };
        let properties = self.plain.0["definitions"][table]["properties"].as_object().unwrap();
        let rules = kinds.iter().map(|kind| {
            let others =
                properties.keys().filter(|field| !kinds.contains(&field.as_str()) && !either.contains(&field.as_str()));
            // A server with a URL takes other fields than a server with a command.
            let address = (*kind == "mcp").then(|| "mcp = { url = \"http://127.0.0.1:9\" }".to_owned());
            let forms: Vec<String> = std::iter::once(line(kind)).chain(address).collect();
            assert!(forms.iter().any(|form| !self.refuses(&text(form, ""))), "{table} `{kind}` alone is refused");
            let refused = others.filter(|field| forms.iter().all(|form| self.refuses(&text(form, &line(field)))));
            Rule { table, what: What::Without(kind, refused.cloned().collect()) }
        });
        rules.collect()
    }

    fn refuses(&self, text: &str) -> bool {
        match discovered(&[SOUND, (self.file, text)]) {
            Err(_) => true,
            Ok(discovered) => discovered.scenarios.iter().any(Result::is_err),
        }
    }
}

/// Reads a project with these files and those that the examples name.
pub(super) fn discovered(files: &[(&str, &str)]) -> Result<Discovered> {
    let root = tempfile::tempdir().unwrap();
    let of_scenario = ["scenarios/a/body.json", "scenarios/a/note.txt"].into_iter();
    let has_scenario = files.iter().any(|(path, _)| *path == "scenarios/a/scenario.toml");
    let beside = ["services/agent/x", "agents/cli/x", "templates/config.yaml"].into_iter();
    let beside = beside.chain(of_scenario.filter(|_| has_scenario));
    for (path, text) in beside.map(|path| (path, "{}")).chain(files.iter().copied()) {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    discover(root.path())
}
