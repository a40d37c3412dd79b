//! The reference of `suite.toml` and `scenario.toml`: JSON Schemas for editors, and pages, made of the types of `raw` with their
//! comments, and of what the checks refuse. Nobody writes a list of fields twice.

mod page;
mod schema;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::{Value, json};

use super::raw::{RawScenario, RawSuite};
use super::{page as pages, scenario_fields, step, suite_fields, tool};
use crate::files::generated::assert_current;
use crate::scenario::discover;
use crate::scenario::hints::listed;
use crate::scenario::template::RESERVED;
use schema::{Rule, Told, What};

#[test]
fn the_reference_is_current() {
    let (suite, of_suite) = suite();
    let (scenario, of_scenario) = scenario();
    assert_current("harness/guide/schema/suite.schema.json", &printed(&suite));
    assert_current("harness/guide/schema/scenario.schema.json", &printed(&scenario));
    assert_current("harness/guide/reference_suite.md", &page::of(SUITE, &suite, &of_suite, &suite_fields(), ""));
    let tail = TEMPLATES.replace("RESERVED", &listed(&RESERVED));
    let page = page::of(SCENARIO, &scenario, &of_scenario, &scenario_fields(), &tail);
    assert_current("harness/guide/reference_scenario.md", &page);
}

#[test]
fn a_field_with_its_default_is_as_one_that_is_left_out() {
    let (suite, of_suite) = suite();
    let mut defaults = 0;
    for (field, told) in
        of_suite.iter().filter(|((table, _), _)| table.is_empty()).map(|((_, field), told)| (field, told))
    {
        let Some(default) = suite["properties"][field].get("default").and(told.default.as_deref()) else { continue };
        let text = format!("{field} = {default}\n");
        let read = |text: &str| format!("{:?}", discovered(&[("scenarios/suite.toml", text), SOUND]).unwrap().suite);
        assert_eq!(read(&text), read(""), "{text}");
        defaults += 1;
    }
    assert!(defaults > 10, "{defaults}");
}

const SUITE: &str = "# The fields of `suite.toml`

`scenarios/suite.toml` holds what all scenarios share; each field may be left out, and so may the file. Texts of systems and tools
are templates: see [the names that they may use](reference_scenario.md#templates). Editors complete and check the file where its
first line is `#:schema .schema/suite.json`; `retake init` writes that schema.
";

const SCENARIO: &str = "# The fields of `scenario.toml`

`scenarios/NAME/scenario.toml` says how to drive the system, and what to look at. Texts may hold [templates](#templates). Editors
complete and check the file where its first line is `#:schema ../.schema/scenario.json`; `retake new` writes that schema.

A step has exactly one of `get`, `post`, `put`, `patch`, `delete`, `listen`, `run`, `browser` and `together`, and an act on a page
exactly one of the words that stand first in its table. Paths of files are relative to the scenario's folder; what several scenarios
share lies in `scenarios/_shared/` and is named `../_shared/FILE`.
";

const TEMPLATES: &str = "
## Templates

`{{ }}` is [minijinja](https://docs.rs/minijinja). A text that is exactly one `{{ expression }}` keeps the type of its value, anything
else is text. What is not defined is an error, told before anything runs; values are not rendered again. Names are those of `vars`
and of captures of earlier steps, and these, which nobody else may take: RESERVED.

| name | is |
|---|---|
| `run` | an id that no other run has: for accounts and the like |
| `port` | the port of the system |
| `workdir` | the system's own folder, empty at first and gone at the end |
| `root` | the project's folder |
| `model.openai`, `model.anthropic`, `model.gemini`, `model.ollama` | base URLs, each as the provider's SDK expects it; `model.url` without a path |
| `model.key` | the key that model calls have to bring |
| `secret.NAME` | an environment variable that no file may hold: its value while recording, `<NAME>` in replay |
| `tools.NAME` | how the double of a tool server is reached |
| `turn('CALLER')` | what the fixture's turn of a caller says: `.text`, `.json`; `turn('CALLER', -1)` is the last of several |
| `fixture.prompt`, `fixture.context` | notes of the fixture |

In the configuration of a system that has `needs`, `systems.NAME` is the address of such a one.

## JSON pointers

`/messages/0/content` (RFC 6901): the empty one is the whole value, `~1` is a `/` in a key and `~0` a `~`. Here `-1` is also the last
element of a list.
";

const STEP: &str = "[[step]]\nget = \"/\"\n";
const SOUND: (&str, &str) = ("scenarios/sound/scenario.toml", STEP);

type Schema = (Value, BTreeMap<(String, String), Told>);

fn suite() -> Schema {
    let (plain, told) = schema::of::<RawSuite>("suite.toml", &[]);
    let system = |kind: &str, lines: &str| {
        format!("[systems.other]\ncommand = [\"a\"]\nready = {{ line = \"up\" }}\n[systems.a]\n{kind}\n{lines}\n")
    };
    let tool = |kind: &str, lines: &str| format!("[tools.a]\n{kind}\n{lines}\n");
    let probe = Probe { schema: &plain, told: &told, file: "scenarios/suite.toml" };
    let mut rules = vec![
        Rule { table: "System", what: What::AnyOf(vec!["command", "url", "extends"]) },
        Rule { table: "System", what: What::Without("command", vec!["url".to_owned()]) },
        needs("System", "command", "ready"),
        needs("System", "url", "model"),
        one_of("Tool", &tool::KINDS),
        one_of("Mcp", &["command", "url"]),
        one_of("Ready", &["http", "line"]),
        value("Ready", "http", json!({ "pattern": "^/" })),
        value("System", "port", json!({ "minimum": 1, "maximum": 65535 })),
        value("System", "url", json!({ "pattern": "^https?://" })),
        value("Tool", "http", json!({ "pattern": "^(https?://|\\{\\{)" })),
        value("Mcp", "url", json!({ "pattern": "^(https?://|\\{\\{)" })),
        value("Caller", "name", json!({ "pattern": "\\S" })),
    ];
    rules.extend(["System", "Tool", "Mcp"].map(|table| value(table, "command", json!({ "minItems": 1 }))));
    rules.extend(probe.refused("System", &["command", "url"], &["extends"], |kind, field| {
        let base = if kind.starts_with("url") {
            "model = { addr = \"127.0.0.1:9\", key_env = \"K\" }"
        } else {
            "ready = { line = \"up\" }"
        };
        let cwd =
            if field.starts_with("build") || field.starts_with("cwd_copy") { "cwd = \"services/agent\"" } else { "" };
        let needs = field.replace("\"gateway\"", "\"other\"");
        let named = |line: &str| line.split(" = ").next().map(str::to_owned);
        let base = if named(base) == named(field) { "" } else { base };
        system(kind, &format!("{base}\n{cwd}\n{needs}"))
    }));
    rules.extend(probe.refused("Tool", &tool::KINDS, &[], |kind, field| tool(kind, field)));
    schema::of::<RawSuite>("suite.toml", &rules)
}

fn scenario() -> Schema {
    let (plain, told) = schema::of::<RawScenario>("scenario.toml", &[]);
    let vars = "[vars]\nprompt = \"a\"\ncsrf = \"b\"\nthread = \"c\"\n[[step]]\nget = \"/\"\nstream = true\n";
    let probe = Probe { schema: &plain, told: &told, file: "scenarios/a/scenario.toml" };
    let path = json!({ "pattern": "^(/|\\{\\{)" });
    let word = "^(?!(run|port|workdir|root|model|secret|tools|turn|fixture|true|false|none|True|False|None|not|and|or|in|is|if|else)$)[A-Za-z_][A-Za-z0-9_]*$";
    let mut rules = vec![
        one_of("Step", &step::KINDS),
        one_of("Act", &pages::ACTS),
        Rule { table: "Act", what: What::With("fill", "text") },
        Rule { table: "Act", what: What::With("text", "fill") },
        Rule { table: "Act", what: What::With("baseline", "screenshot") },
        value("Step", "run", json!({ "minItems": 1 })),
        value("Step", "together", json!({ "minItems": 1 })),
        value("Step", "browser", json!({ "pattern": "^([a-z0-9_][a-z0-9._-]*:)?(/|\\{\\{)" })),
        value("Step", "name", json!({ "pattern": "\\S" })),
        value(
            "Step",
            "capture",
            json!({
                "propertyNames": { "pattern": word },
                "additionalProperties": { "type": "string", "pattern": "^(cookie:.*\\S.*|header:.*\\S.*|json:(/.*)?|sse:.+)$" },
            }),
        ),
        value("Step", "traffic", json!({ "items": { "type": "string", "pattern": "^[A-Z]+ /" } })),
        value("Act", "above", json!({ "minItems": 2 })),
        value("Act", "goto", path.clone()),
        value("Act", "reload", json!({ "const": true })),
        value("Act", "screenshot", json!({ "pattern": "^[a-z0-9_][a-z0-9._-]*$" })),
        value("Cancel", "after", json!({ "minLength": 1 })),
        value("StreamEnds", "first", json!({ "minLength": 1 })),
        value("StreamEnds", "last", json!({ "minLength": 1 })),
    ];
    for table in ["", "Scenario"] {
        rules.push(value(table, "fixture", json!({ "pattern": "^(?!.*\\.json$)[a-z0-9_][a-z0-9._-]*$" })));
        rules.push(value(table, "vars", json!({ "propertyNames": { "pattern": word } })));
    }
    rules.extend(step::KINDS[..6].iter().map(|kind| value("Step", kind, path.clone())));
    // What can be captured depends on the answer, as the example's form does.
    rules.extend(
        probe.refused("Step", &step::KINDS, &["capture"], |kind, field| format!("{vars}[[step]]\n{kind}\n{field}\n")),
    );
    rules.extend(probe.refused("Step", &["json", "json_file", "form"], &step::KINDS, |kind, field| {
        format!("{vars}[[step]]\npost = \"/\"\n{kind}\n{field}\n")
    }));
    rules.extend(probe.refused("Act", &pages::ACTS, &["text", "baseline"], |kind, field| {
        let fill = if kind.starts_with("fill") { ", text = \"a\"" } else { "" };
        format!("{vars}[[step]]\nbrowser = \"/\"\ndo = [{{ {kind}{fill}, {field} }}]\n")
    }));
    schema::of::<RawScenario>("scenario.toml", &rules)
}

fn one_of(table: &'static str, fields: &[&'static str]) -> Rule {
    Rule { table, what: What::OneOf(fields.to_vec()) }
}

/// A system with the one field needs the other, where it has none from another system.
fn needs(table: &'static str, field: &str, other: &str) -> Rule {
    let alone = json!({ "required": [field], "not": { "required": ["extends"] } });
    Rule { table, what: What::Where(alone, json!({ "required": [other] })) }
}

fn value(table: &'static str, field: &'static str, more: Value) -> Rule {
    Rule { table, what: What::Value(field, more) }
}

/// Asks the reader which fields go together, by the examples of both.
struct Probe<'a> {
    schema: &'a Value,
    told: &'a BTreeMap<(String, String), Told>,
    file: &'static str,
}

impl Probe<'_> {
    /// For each kind of a table the fields that the reader refuses beside it, but for those that may go either way.
    fn refused(
        &self,
        table: &'static str,
        kinds: &[&'static str],
        either: &[&str],
        text: impl Fn(&str, &str) -> String,
    ) -> Vec<Rule> {
        let line = |field: &str| {
            let told = &self.told[&(table.to_owned(), field.to_owned())];
            format!("{field} = {}", told.example)
        };
        let properties = self.schema["definitions"][table]["properties"].as_object().unwrap();
        let rules = kinds.iter().map(|kind| {
            let others =
                properties.keys().filter(|field| !kinds.contains(&field.as_str()) && !either.contains(&field.as_str()));
            // A server by its address takes other fields than a command.
            let address = (*kind == "mcp").then(|| "mcp = { url = \"http://127.0.0.1:9\" }".to_owned());
            let forms: Vec<String> = std::iter::once(line(kind)).chain(address).collect();
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

/// A project with these files, and those that examples name.
fn discovered(files: &[(&str, &str)]) -> crate::error::Result<crate::scenario::Discovered> {
    let root = tempfile::tempdir().unwrap();
    let beside =
        ["services/agent/x", "agents/cli/x", "templates/config.yaml", "scenarios/a/body.json", "scenarios/a/note.txt"];
    for (path, text) in beside.iter().map(|path| (*path, "{}")).chain(files.iter().copied()) {
        let path = root.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    discover(root.path())
}

fn printed(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// Each example stands in a file that is read.
#[test]
fn the_examples_of_a_suite_and_a_scenario_are_read() {
    let (_, of_suite) = suite();
    let lines = |told: &BTreeMap<(String, String), Told>, without: &[&str]| -> String {
        let own = told.iter().filter(|((table, field), _)| table.is_empty() && !without.contains(&field.as_str()));
        own.map(|((_, field), told)| format!("{field} = {}\n", told.example)).collect()
    };
    let text = lines(&of_suite, &[]);
    discovered(&[("scenarios/suite.toml", &text), SOUND]).unwrap();
    let (_, of_scenario) = scenario();
    // Recorded calls of tools have no steps.
    let text = lines(&of_scenario, &["kind", "recording", "conversation", "unobserved"]);
    let read = discovered(&[("scenarios/a/scenario.toml", &text)]).unwrap();
    assert!(read.scenarios[0].is_ok(), "{:?}", read.scenarios[0]);
    let words: BTreeSet<&str> =
        of_suite.values().chain(of_scenario.values()).map(|told| told.meaning.as_str()).collect();
    assert!(words.iter().all(|meaning| meaning.ends_with('.')), "a meaning is a sentence");
}
