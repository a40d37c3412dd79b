//! The CI file: its path and its text.

use std::path::{Path, PathBuf};

use super::language::Language;

const CARGO_INSTALL: &str = concat!("      - run: cargo install retake-cli --version '~", minor!(), "' --locked\n");

/// Returns the path of GitHub's workflow file, relative to the project's folder, and its text. The file belongs to the root of
/// the repository, which may contain more than this project.
pub(super) fn workflow(project: &Path, language: Language) -> (PathBuf, String) {
    let below = below(project);
    let up: PathBuf = below.split('/').filter(|part| !part.is_empty()).map(|_| "..").collect();
    let folder = up.join(".github/workflows");
    let own = format!("working-directory: {below}\n");
    let is_of_another = |file: &Path| {
        let text = retake_base::files::read(&project.join(file)).unwrap_or_default();
        !below.is_empty() && !text.is_empty() && !String::from_utf8_lossy(&text).contains(&own)
    };
    let first = folder.join("scenarios.yml");
    let file =
        if is_of_another(&first) { folder.join(format!("scenarios-{}.yml", below.replace('/', "-"))) } else { first };
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    (file, text(&below, &name, project, language))
}

/// Returns the path of a project in its repository.
fn below(project: &Path) -> String {
    let root = project.ancestors().find(|folder| folder.join(".git").exists()).unwrap_or(project);
    project.strip_prefix(root).unwrap_or(Path::new("")).to_string_lossy().replace('\\', "/")
}

/// Returns the beginning of the paths in a project that is at this path, and the lines that make it the folder of a job.
fn at(below: &str) -> (String, String) {
    if below.is_empty() {
        return Default::default();
    }
    (format!("{below}/"), format!("    defaults:\n      run:\n        working-directory: {below}\n"))
}

fn text(below: &str, file: &str, project: &Path, language: Language) -> String {
    let (prefix, folder) = at(below);
    let Steps { service, setup, run } = steps(&prefix, project, language);
    let held = ["scenarios/**", "fixtures/**", "goldens/**"].map(|glob| format!("\"{prefix}{glob}\"")).join(", ");
    let paths = format!("paths: [{service}, {held}, \".github/workflows/{file}\"]");
    let name = file.trim_end_matches(".yml");
    format!(
        "# Replays the scenarios, with no API key and no network.
name: {name}
on:
  push:
    branches: [main]
    # Uncomment to run only when the service or its scenarios change; adapt the list to your project.
    # {paths}
  pull_request:
    # {paths}
jobs:
  scenarios:
    runs-on: ubuntu-latest
{folder}    steps:
      - uses: actions/checkout@v4
{setup}      - run: {run}
      # What each run did, with screenshots of its pages, whether or not it failed.
{}",
        upload(name, &prefix),
    )
}

/// Returns the path and the text of the workflow that compares the recordings with the provider once a week. It opens no pull
/// request. `scenarios` is the path of the other workflow.
pub(super) fn weekly(scenarios: &Path, project: &Path, language: Language) -> (PathBuf, String) {
    let name = scenarios.file_stem().unwrap_or_default().to_string_lossy().replacen("scenarios", "check", 1);
    let (prefix, folder) = at(&below(project));
    let Steps { setup, run, .. } = steps(&prefix, project, language);
    let retake = if language == Language::Rust { "retake" } else { run.trim_end_matches(" test") };
    let install = if language == Language::Rust && !setup.contains("retake-cli") { CARGO_INSTALL } else { "" };
    let text = format!(
        "# Asks the provider once a week whether it still answers as recorded. This costs a few calls: set the key as a secret
# of the repository. A red run changes nothing; `retake record` takes over what the provider sends.
name: {name}
on:
  schedule:
    - cron: \"17 5 * * 1\"
  workflow_dispatch:
permissions:
  contents: read
jobs:
  check:
    runs-on: ubuntu-latest
{folder}    steps:
      - uses: actions/checkout@v4
{setup}{install}      - run: {retake} check --all --sample 1 --max-calls 50
        env:
          OPENAI_API_KEY: ${{{{ secrets.OPENAI_API_KEY }}}}
          ANTHROPIC_API_KEY: ${{{{ secrets.ANTHROPIC_API_KEY }}}}
          GEMINI_API_KEY: ${{{{ secrets.GEMINI_API_KEY }}}}
{}",
        upload(&name, &prefix),
    );
    (scenarios.with_file_name(format!("{name}.yml")), text)
}

/// The step that keeps what each run left.
fn upload(name: &str, prefix: &str) -> String {
    format!(
        "      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: {name}
          path: {prefix}.retake/
          include-hidden-files: true
          if-no-files-found: ignore
"
    )
}

/// Stands where the project says nothing of it.
const NEEDS: &str = "      # - run: …    # what your service needs to start\n";

/// The parts of the workflow that depend on the language.
struct Steps {
    /// The globs of the service's code.
    service: String,
    /// The steps before the scenarios run.
    setup: String,
    /// The command that runs the scenarios.
    run: &'static str,
}

fn steps(prefix: &str, project: &Path, language: Language) -> Steps {
    let has = |file: &str| project.join(file).is_file();
    let globs = |globs: &[&str]| globs.iter().map(|glob| format!("\"{prefix}{glob}\"")).collect::<Vec<_>>().join(", ");
    match language {
        Language::Rust if super::start::of_rust(project).is_some() => Steps {
            service: globs(&["src/**", "Cargo.*"]),
            setup: format!("      - uses: Swatinem/rust-cache@v2\n      - run: cargo build\n{CARGO_INSTALL}"),
            run: "retake test",
        },
        Language::Rust => Steps {
            service: globs(&["src/**", "tests/**", "Cargo.*"]),
            setup: "      - uses: Swatinem/rust-cache@v2\n".to_owned(),
            run: "cargo test --test scenarios",
        },
        Language::Python if has("uv.lock") => Steps {
            service: globs(&["**.py", "pyproject.toml", "uv.lock"]),
            setup: "      - uses: astral-sh/setup-uv@v6\n      - run: uv sync --locked\n".to_owned(),
            run: concat!("uv run --with 'retake-cli~=", minor!(), ".0' retake test"),
        },
        Language::Python => {
            let python = "      - uses: actions/setup-python@v5\n        with: { python-version: \"3.12\" }\n";
            let service = match () {
                () if has("requirements.txt") => "      - run: pip install -r requirements.txt\n",
                () if has("pyproject.toml") => "      - run: pip install .\n",
                () => NEEDS,
            };
            Steps {
                service: globs(&["**.py", "requirements.txt", "pyproject.toml"]),
                setup: format!("{python}{service}      - run: pip install 'retake-cli~={}.0'\n", minor!()),
                run: "retake test",
            }
        }
        Language::Other => Steps {
            service: globs(&["**"]),
            setup: format!("{NEEDS}      - run: pipx install 'retake-cli~={}.0'\n", minor!()),
            run: "retake test",
        },
        Language::TypeScript => {
            let node = "      - uses: actions/setup-node@v4\n        with: { node-version: 22 }\n";
            let (install, run) = match () {
                () if has("pnpm-lock.yaml") => {
                    ("corepack enable && pnpm install --frozen-lockfile", "pnpm exec retake test")
                }
                () if has("yarn.lock") => ("corepack enable && yarn install --immutable", "yarn retake test"),
                () => ("npm ci", "npx retake test"),
            };
            Steps { service: globs(&["src/**", "package.json"]), setup: format!("{node}      - run: {install}\n"), run }
        }
    }
}
