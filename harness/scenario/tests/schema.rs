//! Validates files with the committed JSON Schemas. They accept correct files, and refuse each mistake that a schema can see.

use std::path::{Path, PathBuf};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;

use super::{IN_SCENARIOS, IN_SUITES, mistakes};

/// Mistakes that a schema cannot see.
const UNSEEN: [(&str, &[&str]); 7] = [
    (
        "what other files contain",
        &[
            "json_file that is not there",
            "json_file that is not JSON",
            "json_file that is a folder",
            "json_file with an undefined name",
            "a file that is not there",
            "run in a folder that is not there",
            "a folder that is not there",
            "a file rendered from nothing",
            "a mistake in a shared step, told once and with its place",
            "a name that a rendered file lacks",
            "send without a socket",
            "shared steps named twice",
            "shared steps that are not there",
            "system: not there",
        ],
    ),
    (
        "what other tables and steps of the file contain",
        &[
            "a build without a folder",
            "a shared step that uses what a scenario lacks",
            "a system that extends an unknown one",
            "systems that extend each other",
            "a command that becomes a URL",
            "a rule that hides the next",
            "an alias of an alias",
            "needs: not there",
            "needs: each other",
            "needs: a shared one",
            "after without a listener",
            "reconnect to nothing",
            "a capture of both",
            "capture: a name that is a var",
            "vars: a circle",
            "vars: a circle of one",
        ],
    ),
    (
        "which names a template may use, and whether it is one",
        &[
            "a template with an unknown filter",
            "an event with a template for a value",
            "an undefined name",
            "a name that systems do not have",
            "a negative price",
            "systems: one that is not needed",
            "run with an undefined name",
            "connect without a framing",
            "form with an undefined name",
            "a capture of another step in together",
            "vars: an undefined name",
            "vars: a captured name",
            "template: open braces",
            "template: no expression",
            "template: an unknown tag",
            "template: an undefined name",
            "template: undefined on a later line",
            "template: a capture of a later step",
            "template: a capture of the step itself",
            "template: an unknown attribute of model",
            "template: an unknown attribute of fixture",
            "template: a secret without a name",
            "template: an unknown filter",
            "template: an unknown test",
        ],
    ),
    (
        "whether a text is a regular expression of Rust's",
        &[
            "a pattern with an open group",
            "a header pattern that is wrong",
            "normalize: matches everywhere",
            "no shared step in a list",
            "normalize: a group that is not there",
            "normalize: a letter after a group",
            "normalize: look-around",
            "normalize: too large a pattern",
        ],
    ),
    (
        "what names, paths and pointers of an API may be",
        &[
            "an API that is spoken",
            "two APIs with one name",
            "a name with a space",
            "a path that is none",
            "a pointer that is none",
            "several places in a request",
        ],
    ),
    ("values for which JSON has no type", &["a date in a body", "infinity in a body"]),
    ("which names differ only in case, and which words are almost others", &["a header twice", "nearly a finder"]),
];

struct Schema {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Schema {
    fn of(name: &str) -> Schema {
        let path = project().join(format!("harness/cli/schema/{name}.schema.json"));
        let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        let (mut schemas, mut compiler) = (Schemas::new(), Compiler::new());
        compiler.add_resource("schema.json", schema).unwrap();
        let index = compiler.compile("schema.json", &mut schemas).unwrap_or_else(|e| panic!("{name}: {e:#}"));
        Schema { schemas, index }
    }

    /// Validates a TOML text.
    fn check(&self, text: &str) -> Result<(), String> {
        let toml: toml::Table = toml::from_str(text).map_err(|e| e.to_string())?;
        let json = serde_json::to_value(toml).unwrap();
        self.schemas.validate(&json, self.index).map_err(|wrong| wrong.to_string())
    }
}

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_schemas_accept_all_scenarios_of_this_project() {
    let (suite, scenario) = (Schema::of("suite"), Schema::of("scenario"));
    // The published package contains no scenarios.
    if !project().join("scenarios").is_dir() {
        return;
    }
    let mut read = 0;
    for folder in ["scenarios", "tests/systems/scenarios"] {
        let entries = std::fs::read_dir(project().join(folder)).unwrap();
        let files = entries.map(|entry| entry.unwrap().path()).flat_map(|path| {
            let file = path.join("scenario.toml");
            [(path.ends_with("suite.toml"), path), (false, file)]
        });
        for (is_suite, file) in files.filter(|(is_suite, file)| *is_suite || file.is_file()) {
            if !is_suite && !file.ends_with("scenario.toml") {
                continue;
            }
            let text = std::fs::read_to_string(&file).unwrap();
            let schema = if is_suite { &suite } else { &scenario };
            assert_eq!(schema.check(&text), Ok(()), "{}", file.display());
            read += 1;
        }
    }
    assert!(read > 15, "{read}");
}

#[test]
fn the_schema_of_suites_accepts_each_way_to_be_ready() {
    for ready in ["http = \"/health\"", "line = \"listening\"", "port = true"] {
        let text = format!("[systems.agent]\ncommand = [\"a\"]\nready = {{ {ready} }}\n");
        assert_eq!(Schema::of("suite").check(&text), Ok(()), "{ready}");
    }
}

#[test]
fn the_schemas_refuse_each_mistake_that_a_schema_can_see() {
    let (suite, scenario) = (Schema::of("suite"), Schema::of("scenario"));
    let of_suites = IN_SUITES.into_iter().flat_map(mistakes).map(|mistake| (&suite, mistake));
    let of_scenarios = IN_SCENARIOS.into_iter().flat_map(mistakes).map(|mistake| (&scenario, mistake));
    let accepted = of_suites.chain(of_scenarios).filter(|(schema, mistake)| schema.check(&mistake.text).is_ok());
    let mut accepted: Vec<String> = accepted.map(|(_, mistake)| mistake.name).collect();
    accepted.sort_unstable();
    let mut unseen: Vec<&str> = UNSEEN.iter().flat_map(|(_, names)| *names).copied().collect();
    unseen.sort_unstable();
    assert_eq!(accepted, unseen);
}

#[test]
fn the_schemas_accept_what_the_guide_shows() {
    let (suite, scenario) = (Schema::of("suite"), Schema::of("scenario"));
    let guide = std::fs::read_dir(project().join("harness/guide")).unwrap().map(|entry| entry.unwrap().path());
    let pages = guide.filter(|file| file.extension().is_some_and(|extension| extension == "md"));
    let mut read = 0;
    for page in pages.chain([project().join("README.md")]) {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text.split("\n```toml\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()) {
            // Some pages show a part of a scenario, which is whole with a step.
            let with_a_step = format!("{block}\n\n[[step]]\nget = \"/\"\n");
            let wrong = match [suite.check(block), scenario.check(block), scenario.check(&with_a_step)] {
                [Err(of_suite), Err(of_scenario), Err(_)] => Some((of_suite, of_scenario)),
                _ => None,
            };
            assert_eq!(wrong, None, "{}:\n{block}", page.display());
            read += 1;
        }
    }
    assert!(read > 15, "{read}");
}
