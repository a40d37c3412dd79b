//! The language of a project, which decides how its service is started and how its scenarios run.

use std::path::Path;

use clap::ValueEnum;
use retake_base::env::RETAKE;

use super::start::UNKNOWN;

/// The language of a project's service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    Rust,
    #[value(name = "typescript")]
    TypeScript,
    Python,
    Other,
}

impl Language {
    /// The language of the project in a folder, as its package files tell it.
    pub(crate) fn of(folder: &Path) -> Language {
        Language::told_by(folder).unwrap_or(Language::Other)
    }

    /// The language that a folder's package files, or the file with which a service begins, tell.
    pub(super) fn told_by(folder: &Path) -> Option<Language> {
        let has = |file: &str| folder.join(file).is_file();
        let python =
            ["pyproject.toml", "requirements.txt", "setup.py", "langgraph.json", "Pipfile"].into_iter().any(has);
        let other = ["go.mod", "Gemfile", "composer.json", "pom.xml", "build.gradle", "build.gradle.kts"];
        let other = other.into_iter().any(has);
        Some(match () {
            () if has("Cargo.toml") => Language::Rust,
            // Beside the files of another language, it is that of the pages.
            () if has("package.json") && !python && !other => Language::TypeScript,
            () if has("package.json") && has("tsconfig.json") => Language::TypeScript,
            () if python || super::start::PYTHON.into_iter().any(has) => Language::Python,
            () if other => Language::Other,
            () if node_file(folder).is_some() => Language::TypeScript,
            () if [".venv/bin/python", "venv/bin/python"].into_iter().any(|file| folder.join(file).exists()) => {
                Language::Python
            }
            () => return None,
        })
    }

    /// Its name among the command's arguments.
    pub(super) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// How to call the command in such a project.
    pub(crate) fn retake(self) -> String {
        if self == Language::TypeScript { "npx retake".to_owned() } else { RETAKE.to_string() }
    }

    /// The command that starts a service of which no file tells more; `None` for Rust, where the service is a router.
    pub(super) fn command(self, folder: &Path) -> Option<Vec<String>> {
        match self {
            Language::Rust => None,
            Language::Other => Some(vec![UNKNOWN.to_owned()]),
            Language::Python => {
                Some([super::start::in_environment(folder, "python3"), vec!["app.py".to_owned()]].concat())
            }
            Language::TypeScript => {
                let file = node_file(folder).unwrap_or_else(|| "app.ts".to_owned());
                let run: &[&str] = if file.ends_with("ts") { &["node", "--import", "tsx"] } else { &["node"] };
                Some(run.iter().copied().chain([&*file]).map(str::to_owned).collect())
            }
        }
    }

    /// The command that installs what the project still needs; `None` if it needs nothing.
    pub(super) fn still_to_install(self, folder: &Path, with_tsx: bool) -> Option<String> {
        let text = retake_base::files::read(&folder.join("package.json")).unwrap_or_default();
        let lacks = |name: &&str| !String::from_utf8_lossy(&text).contains(&format!("\"{name}\":"));
        let needed: Vec<&str> = ["retake"].into_iter().chain(with_tsx.then_some("tsx")).filter(lacks).collect();
        let needs = self == Language::TypeScript && !needed.is_empty();
        needs.then(|| format!("npm install --save-dev {}", needed.join(" ")))
    }
}

/// The files with which a service on Node usually begins.
const NODE: &str = "\
    src/index.ts src/server.ts src/app.ts src/main.ts index.ts server.ts app.ts main.ts src/index.js src/server.js \
    index.js server.js app.js index.mjs server.mjs";

/// The file with which the service in a folder begins: the last one that a script of the project names, or one of a usual name.
/// Scripts of development come first: the others may name what a build puts out.
pub(super) fn node_file(folder: &Path) -> Option<String> {
    let scripts = super::start::scripts_of(folder);
    let words = scripts.iter().rev().flat_map(|(_, script)| script.split_whitespace().rev());
    let named = words.filter(|word| ["ts", "js"].iter().any(|ending| word.ends_with(ending)));
    named.chain(NODE.split(' ')).find(|file| folder.join(file).is_file()).map(str::to_owned)
}
