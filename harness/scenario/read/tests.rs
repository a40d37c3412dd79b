//! The reference of `suite.toml` and `scenario.toml`: JSON Schemas for editors, and pages, made of the types of `raw` with their
//! comments, and of what the checks refuse. Nobody writes a list of fields twice.

mod checks;
mod page;
mod probe;
mod schema;
mod values;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{scenario_fields, suite_fields};
use crate::files::generated::assert_current;
use crate::scenario::hints::listed;
use crate::scenario::template::RESERVED;
use checks::{scenario, suite};
use probe::{SOUND, discovered};
use schema::Told;

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
are templates: see [the names that they may use](crate::guide::reference_scenario#templates). Editors complete and check the file where its
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

fn printed(schema: &Value) -> String {
    format!("{schema:#}\n")
}

/// Each example stands in a file that is read.
#[test]
fn the_examples_of_a_suite_and_a_scenario_are_read() {
    let (_, of_suite) = suite();
    let lines = |told: &BTreeMap<(String, String), Told>, without: &[&str]| -> String {
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
