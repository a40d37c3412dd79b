//! The language of a project, which decides how its service is started and how its scenarios run.

use std::path::Path;

use clap::ValueEnum;

/// The language of a project's service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    Rust,
    #[value(name = "typescript")]
    TypeScript,
    Python,
}

impl Language {
    /// Guesses the language of the project in a folder from its package files; Python if there are none.
    pub(crate) fn of(folder: &Path) -> Language {
        let has = |file: &str| folder.join(file).is_file();
        let python = ["pyproject.toml", "requirements.txt", "setup.py"].into_iter().any(has);
        match () {
            () if has("Cargo.toml") => Language::Rust,
            () if has("package.json") && !python => Language::TypeScript,
            () if has("package.json") && has("tsconfig.json") => Language::TypeScript,
            () => Language::Python,
        }
    }

    /// How to call the command in such a project.
    pub(crate) fn retake(self) -> &'static str {
        match self {
            Language::Rust | Language::Python => "retake",
            Language::TypeScript => "npx retake",
        }
    }

    /// The command that starts the service, as a list in TOML; `None` for Rust, where the service is a router.
    pub(super) fn command(self, folder: &Path) -> Option<String> {
        let first = |files: &[&'static str]| files.iter().copied().find(|file| folder.join(file).is_file());
        match self {
            Language::Rust => None,
            Language::Python => {
                let file = first(&["app.py", "main.py", "server.py", "src/app.py", "src/main.py"]).unwrap_or("app.py");
                let run = if folder.join("uv.lock").is_file() { "\"uv\", \"run\", \"python\"" } else { "\"python3\"" };
                Some(format!("[{run}, \"{file}\"]"))
            }
            Language::TypeScript => {
                let files = [
                    "src/index.ts",
                    "src/server.ts",
                    "src/app.ts",
                    "src/main.ts",
                    "index.ts",
                    "server.ts",
                    "app.ts",
                    "main.ts",
                    "src/index.js",
                    "src/server.js",
                    "index.js",
                    "server.js",
                    "app.js",
                    "index.mjs",
                    "server.mjs",
                ];
                let file = first(&files).unwrap_or("app.ts");
                let typed = Path::new(file).extension().is_some_and(|extension| extension == "ts");
                let run = if typed { "\"node\", \"--import\", \"tsx\"" } else { "\"node\"" };
                Some(format!("[{run}, \"{file}\"]"))
            }
        }
    }

    /// The command that installs what the project still needs; `None` if it needs nothing.
    pub(super) fn still_to_install(self, folder: &Path) -> Option<&'static str> {
        let declares = |name: &str| {
            let text = retake_base::files::read(&folder.join("package.json")).unwrap_or_default();
            String::from_utf8_lossy(&text).contains(&format!("\"{name}\":"))
        };
        match self {
            Language::TypeScript if !declares("retake") || !declares("tsx") => {
                Some("npm install --save-dev retake tsx")
            }
            _ => None,
        }
    }
}
