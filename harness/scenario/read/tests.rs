//! Generates the reference of `suite.toml` and `scenario.toml`: JSON Schemas for editors, and pages of the guide. Both are made
//! from the types of `raw`, their doc comments, and what the checks refuse, so that no list of fields is written twice.

#[path = "../../../tests/support/generated.rs"]
mod generated;

mod checks;
mod fields;
mod page;
mod probe;
mod schema;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::template::RESERVED;
use checks::{scenario, suite};
use fields::{scenario_fields, suite_fields};
use generated::assert_current;
use probe::{SOUND, discovered};
use retake_base::text::listed;
use schema::FieldDoc;

#[test]
fn the_reference_is_current() {
    let (suite, of_suite) = suite();
    let (scenario, of_scenario) = scenario();
    assert_current("harness/cli/schema/suite.schema.json", &printed(&suite));
    assert_current("harness/cli/schema/scenario.schema.json", &printed(&scenario));
    assert_current("harness/scenario/reference_suite.md", &page::of(SUITE, &suite, &of_suite, &suite_fields(), ""));
    let tail = TEMPLATES.replace("RESERVED", &listed(&RESERVED));
    let page = page::of(SCENARIO, &scenario, &of_scenario, &scenario_fields(), &tail);
    assert_current("harness/scenario/reference_scenario.md", &page);
}

#[test]
fn a_field_with_its_default_value_reads_like_an_absent_field() {
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

`scenarios/suite.toml` contains what all scenarios share. Every field is optional, and so is the file itself. The strings of
systems and tools are templates: see [the names that they may use][reference_scenario#templates]. Editors complete
and check the file if its first line is `#:schema .schema/suite.json`; `retake init` writes that schema.

[reference_scenario#templates]: reference_scenario.md#templates
";

const SCENARIO: &str = "# The fields of `scenario.toml`

`scenarios/NAME/scenario.toml` says how to drive the system, and what to check. Strings may contain [templates](#templates).
Editors complete and check the file if its first line is `#:schema ../.schema/scenario.json`; `retake new` writes that schema.

Each step has exactly one of `get`, `post`, `put`, `patch`, `delete`, `listen`, `after`, `run`, `browser` and `together`. Each act on a
page (`do`) has exactly one of `see`, `unseen`, `once`, `above`, `click`, `fill`, `press`, `goto`, `reload`, `aria` and
`screenshot`. Paths of files are relative to the scenario's folder. Files that several scenarios share are in
`scenarios/_shared/`; write their paths as `../_shared/FILE`.
";

const TEMPLATES: &str = "
## Templates

`{{ }}` contains an expression of [minijinja](https://docs.rs/minijinja). A string that is exactly one `{{ expression }}` keeps
the type of its value; any other string with `{{ }}` in it stays a string. Using an undefined name is an error, which is reported
before anything runs. Values are not rendered again. In `{% %}`, a template has `if`, `for` and `raw`. It may use the names of `vars`, the names that earlier steps capture,
and these reserved names: RESERVED.

| name | meaning |
|---|---|
| `run` | an id that no other run has, for example for the names of accounts |
| `port` | the port of the system |
| `workdir` | the system's own folder, which is empty at first and removed at the end |
| `root` | the project's folder |
| `model.openai`, `model.anthropic`, `model.gemini`, `model.ollama`, `model.bedrock` | base URLs, each in the form that the provider's SDK expects; `model.url` has no path |
| `model.key` | the key that model calls have to send |
| `secret.NAME` | an environment variable that is never written to a file: its value while recording, and `<NAME>` in replay |
| `tools.NAME` | how to reach the double of a tool server |
| `turn('CALLER')` | the answer in a caller's turn of the fixture: `.text`, `.json`; `turn('CALLER', -1)` is the last of several turns |
| `fixture.prompt`, `fixture.context` | notes of the fixture |

In the configuration of a system with `needs`, `systems.NAME` is the address of a system that it needs.

## JSON pointers

A JSON pointer (RFC 6901) is a path such as `/messages/0/content`. The empty pointer is the whole value. In keys, `/` is written
`~1` and `~` is written `~0`. In addition, `-1` is the last element of a list.
";

fn printed(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// Puts each example into a file, and reads that file.
#[test]
fn the_examples_of_a_suite_and_a_scenario_are_read() {
    let (_, of_suite) = suite();
    let lines = |told: &BTreeMap<(String, String), FieldDoc>, without: &[&str]| -> String {
        let own = told.iter().filter(|((table, field), _)| table.is_empty() && !without.contains(&field.as_str()));
        own.map(|((_, field), told)| format!("{field} = {}", told.example)).collect::<Vec<_>>().join("\n")
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
