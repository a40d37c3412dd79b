use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::init::Language;
use super::schemas;
use retake::__private::report::terminal;
use retake_base::error::{Error, Result};
use retake_scenario::{is_name, no_name, suite_of};

/// Create a scenario folder from a template
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  retake new write_read_file\n\n\
    Then edit scenarios/write_read_file/scenario.toml and record it:\n  \
    retake record write_read_file")]
pub(super) struct New {
    /// The scenario's name: a-z, 0-9, `.`, `_` and `-`
    name: String,
}

impl New {
    pub(super) fn run(&self) -> Result<ExitCode> {
        let name = &self.name;
        let root = super::project::root()?;
        let file = file(&root, name)?;
        let scenario = scenario(name).replacen("# fixture", &format!("{}# fixture", system(&root)), 1);
        retake_base::files::write_whole(&file, scenario.as_bytes())?;
        schemas::write(&root)?;
        let retake = Language::of(&root).retake();
        terminal::out(format!("{}\nedit it, then: {retake} record {name}", file.display()));
        Ok(ExitCode::SUCCESS)
    }
}

/// The file of a scenario that is to be written.
/// Fails if it exists, or the name is none.
pub(super) fn file(root: &Path, name: &str) -> Result<PathBuf> {
    if !is_name(name) {
        return Err(no_name(name, "scenario"));
    }
    if name == "none" {
        return Err(Error::new("\"none\" cannot be the name of a scenario")
            .help("fixture = \"none\" means that no model is called"));
    }
    let file = root.join("scenarios").join(name).join("scenario.toml");
    if file.exists() {
        return Err(Error::new("the file already exists").in_file(&file).help("choose another name"));
    }
    Ok(file)
}

/// The line that names the system, needed if the suite has several systems and no default.
fn system(root: &Path) -> String {
    // Errors in the suite are reported when a scenario runs.
    let suite = suite_of(root).unwrap_or_default();
    let mut names = suite.systems.keys();
    match (names.next(), names.next()) {
        (Some(first), Some(_)) if suite.system.is_none() => {
            let known: Vec<&str> = suite.systems.keys().map(String::as_str).collect();
            format!("system = \"{first}\"          # of {}\n", known.join(", "))
        }
        _ => String::new(),
    }
}

/// The scenario that `new` and `init` write.
pub(super) fn scenario(name: &str) -> String {
    schemas::OF_SCENARIO.to_owned() + &SCENARIO.replace("NAME", name)
}

const SCENARIO: &str = r#"description = "Says hello"
# fixture = "NAME"          # fixtures/NAME.json; "none" if no model is called

[vars]
prompt = "Say hello"

# The requests of a client, in order. The first one that fails ends the scenario.
[[step]]
post   = "/chat"
json   = { message = "{{ prompt }}" }
stream = true               # an event stream: its shape goes into goldens/NAME.snap

[golden]
detail = "types"            # keys | types | values
"#;
