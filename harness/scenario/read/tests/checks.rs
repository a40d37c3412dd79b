//! The rules that the checks of both files follow, as far as a schema can express them. Which fields exclude each other is found
//! out by asking the reader (`probe`).

use serde_json::{Value, json};

use super::probe::Probe;
use super::schema::{self, Rule, Schema, What};
use crate::read::names::WORDS;
use crate::read::raw::{RawAct, RawScenario, RawSuite};
use crate::read::{step, tool};
use crate::template::RESERVED;

/// Returns the schema of `suite.toml`.
pub(super) fn suite() -> Schema {
    let plain = schema::of::<RawSuite>("suite.toml", &[]);
    let probe = Probe { plain: &plain, file: "scenarios/suite.toml" };
    let address = json!({ "pattern": "^(https?://|\\{\\{)" });
    let copied = json!({ "required": ["cwd_copy"], "properties": { "cwd_copy": { "const": true } } });
    let mut rules = vec![
        Rule { table: "System", what: What::AnyOf(vec!["command", "url", "extends"]) },
        Rule { table: "System", what: What::Without("command", vec!["url".to_owned()]) },
        needs("System", "command", "ready"),
        needs("System", "url", "model"),
        one_of("Tool", &tool::KINDS),
        one_of("Mcp", &["command", "url"]),
        one_of("Ready", &["http", "line", "port"]),
        value("Ready", "port", json!({ "const": true })),
        value("", "aliases", json!({ "additionalProperties": { "type": "string", "pattern": "\\S" } })),
        value("Ready", "http", json!({ "pattern": "^/" })),
        value("System", "port", json!({ "minimum": 1, "maximum": 65535 })),
        value("System", "url", json!({ "pattern": format!("^https?://{LOCAL}([:/]|$)") })),
        value("System", "files", json!({ "propertyNames": { "minLength": 1, "not": { "pattern": OUTSIDE } } })),
        value("Model", "addr", json!({ "pattern": format!("^{LOCAL}:0*[1-9][0-9]*$") })),
        value("Model", "key_env", json!({ "pattern": NAME })),
        Rule {
            table: "System",
            what: What::Where(copied.clone(), json!({ "properties": { "cwd": { "not": { "pattern": "\\{\\{" } } } })),
        },
        Rule {
            table: "System",
            what: What::Where(
                json!({ "allOf": [copied, { "not": { "required": ["extends"] } }] }),
                json!({ "required": ["cwd"] }),
            ),
        },
        value("Tool", "http", address.clone()),
        value("Mcp", "url", address),
        value("Caller", "name", json!({ "pattern": "\\S" })),
        value("Tool", "headers", json!({ "propertyNames": { "pattern": HEADER } })),
        value("When", "header", json!({ "propertyNames": { "pattern": HEADER } })),
        value("", "secrets", json!({ "items": { "type": "string", "pattern": NAME } })),
    ];
    rules.extend(["System", "Tool", "Mcp"].map(|table| value(table, "command", json!({ "minItems": 1 }))));
    rules.extend(
        ["System", "Tool"].map(|table| value(table, "env", json!({ "propertyNames": { "pattern": VARIABLE } }))),
    );
    rules.extend(["", "Ready", "Tool"].map(|table| value(table, "timeout", limit())));
    rules.extend(probe.refused("System", &["command", "url"], &["extends"], |kind, field| {
        let (base, needed) = if kind.starts_with("url") {
            ("model", "model = { addr = \"127.0.0.1:9\", key_env = \"K\" }")
        } else {
            ("ready", "ready = { line = \"up\" }")
        };
        let needed = if field.starts_with(base) { "" } else { needed };
        let of_folder = ["build", "cwd_copy"].iter().any(|name| field.starts_with(name));
        let cwd = if of_folder { "cwd = \"services/agent\"" } else { "" };
        format!(
            "[systems.gateway]\ncommand = [\"a\"]\nready = {{ line = \"up\" }}\n\
             [systems.a]\n{kind}\n{needed}\n{cwd}\n{field}\n"
        )
    }));
    rules.extend(probe.refused("Tool", &tool::KINDS, &[], |kind, field| format!("[tools.a]\n{kind}\n{field}\n")));
    schema::of::<RawSuite>("suite.toml", &rules)
}

/// Returns the schema of `scenario.toml`.
pub(super) fn scenario() -> Schema {
    let plain = schema::of::<RawScenario>("scenario.toml", &[]);
    let probe = Probe { plain: &plain, file: "scenarios/a/scenario.toml" };
    let vars =
        "[vars]\nprompt = \"a\"\ncsrf = \"b\"\nthread = \"c\"\n[[step]]\nget = \"/\"\nstream = { listen = true }\n";
    let mut rules = [of_scenarios(), of_steps(), of_answers(), of_acts()].concat();
    // Which captures are allowed depends on the answer, and the example fits only some answers.
    let step = |kind: &str, field: &str| format!("{vars}[[step]]\n{kind}\n{field}\n");
    rules.extend(probe.refused("Step", &step::KINDS, &["capture", "connect"], step));
    let either = [&step::KINDS[..], &["capture"]].concat();
    let sent = |body: &str, field: &str| step(&format!("post = \"/\"\n{body}"), field);
    rules.extend(probe.refused("Step", &["json", "json_file", "form"], &either, sent));
    rules.push(Rule { table: "Step", what: What::Without("json", vec!["json_file".to_owned(), "form".to_owned()]) });
    rules.push(Rule { table: "Step", what: What::Without("json_file", vec!["form".to_owned()]) });
    rules.extend(probe.refused("Act", &acts(), &DEPENDENT, |kind, field| {
        let text = match () {
            () if kind.starts_with("fill") => "text = \"a\"",
            () if kind.starts_with("upload") => "files = [\"note.txt\"]",
            () => "",
        };
        let parts: Vec<&str> = [kind, text, field].into_iter().filter(|part| !part.is_empty()).collect();
        step("browser = \"/\"", &format!("do = [{{ {} }}]", parts.join(", ")))
    }));
    schema::of::<RawScenario>("scenario.toml", &rules)
}

/// The fields that say what an act on a page does.
fn acts() -> [&'static str; 15] {
    toml::from_str::<RawAct>("").unwrap().kinds().map(|(word, _)| word)
}

const HEADER: &str = "^[!#$%&'*+.^_`|~0-9A-Za-z-]+$";
const VARIABLE: &str = "^[^=]+$";
const NAME: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
/// A host on this machine.
const LOCAL: &str = "(localhost|127\\.[0-9]+\\.[0-9]+\\.[0-9]+|\\[::1\\])";
/// A path that leads out of its folder.
const OUTSIDE: &str = "(^/|(^|/)\\.\\.(/|$))";
const OF_FILE: &str = "^[a-z0-9_][a-z0-9._-]*$";

fn limit() -> Value {
    json!({ "not": { "pattern": "^0*(ms|s|m)$" } })
}

/// Fields of an act that some acts need, or that depend on others.
const DEPENDENT: [&str; 6] = ["text", "files", "baseline", "visible", "tolerance", "mask"];

/// The names that a var or a capture may have.
fn new_names() -> Value {
    let taken = [&RESERVED[..], &WORDS[..]].concat();
    json!({ "pattern": NAME, "not": { "enum": taken } })
}

/// Schemas of which a step matches exactly one. A step with messages alone goes on with an open socket.
fn kinds_of_steps() -> Vec<Value> {
    let kinds = step::KINDS.iter().map(|kind| json!({ "required": [kind] }));
    let sends = json!([{ "required": ["send"] }, { "required": ["send_file"] }]);
    kinds.chain([json!({ "anyOf": sends, "not": { "required": ["socket"] } })]).collect()
}

fn of_scenarios() -> Vec<Rule> {
    let without_steps =
        json!({ "not": { "anyOf": [{ "required": ["kind"] }, { "required": ["case"] }, { "required": ["before"] }] } });
    let mut rules = vec![
        Rule { table: "", what: What::Where(without_steps, json!({ "required": ["step"] })) },
        value("", "case", json!({ "minProperties": 1, "propertyNames": { "pattern": OF_FILE } })),
        Rule { table: "Scenario", what: What::None("case") },
        value("Record", "timeout", limit()),
    ];
    for table in ["", "Scenario"] {
        rules.extend([
            value(table, "fixture", json!({ "pattern": OF_FILE, "not": { "pattern": "\\.json$" } })),
            value(table, "vars", json!({ "propertyNames": new_names() })),
            value(table, "secrets", json!({ "items": { "type": "string", "pattern": NAME } })),
            value(table, "step", json!({ "minItems": 1 })),
            value(table, "timeout", limit()),
        ]);
    }
    rules
}

fn of_steps() -> Vec<Rule> {
    let path = json!({ "pattern": "^(/|\\{\\{)[^\\x00-\\x1F\\x7F]*$" });
    let file = json!({ "type": "string", "minLength": 1, "anyOf": [
        { "pattern": "^\\.\\./_shared/" }, { "not": { "pattern": OUTSIDE } },
    ] });
    let scalar = json!({ "type": ["string", "number", "boolean"] });
    let fields = json!({ "anyOf": [scalar, { "type": "array", "items": scalar }] });
    let part = json!({
        "properties": { "together": false, "listen": false, "after": false, "browser": false },
        "not": { "required": ["stream"], "properties": { "stream": listens() } },
    });
    let one_line = json!({ "type": "string", "pattern": "^[^\\x00-\\x08\\x0A-\\x1F\\x7F]*$" });
    let mut rules = vec![
        Rule { table: "Step", what: What::OneOfThese(kinds_of_steps()) },
        value("Step", "run", json!({ "minItems": 1 })),
        value("Step", "browser", json!({ "pattern": "^([a-z0-9_][a-z0-9._-]*:)?(/|\\{\\{)" })),
        value(
            "Step",
            "together",
            json!({ "minItems": 1, "items": { "allOf": [{ "$ref": "#/definitions/Step" }, part] } }),
        ),
        value("Step", "name", json!({ "pattern": "\\S" })),
        value("Await", "caller", json!({ "pattern": "\\S" })),
        value("Step", "headers", json!({ "propertyNames": { "pattern": HEADER }, "additionalProperties": one_line })),
        value("Step", "env", json!({ "propertyNames": { "pattern": VARIABLE } })),
        value("Step", "json_file", file.clone()),
        value("Step", "files", json!({ "minProperties": 1, "additionalProperties": file })),
        value("Step", "form", json!({ "type": "object", "additionalProperties": fields })),
        value("Step", "traffic", json!({ "items": { "type": "string", "pattern": "^[A-Z]+ /" } })),
    ];
    rules.extend(step::KINDS[..7].iter().map(|kind| value("Step", kind, path.clone())));
    rules
}

/// How an answer is read, and what can be captured from it.
fn of_answers() -> Vec<Rule> {
    let captures = json!({
        "propertyNames": new_names(),
        "additionalProperties":
            { "type": "string", "pattern": "^(cookie:.*\\S.*|header:.*\\S.*|json:(/.*)?|sse:.+:(/.*)?)$" },
    });
    let not_from = |forms: &str| json!({ "properties": { "capture": { "additionalProperties": { "not": { "pattern": format!("^({forms}):") } } } } });
    let has = |fields: &[&str]| -> Value { fields.iter().map(|field| json!({ "required": [field] })).collect() };
    let streams = json!({ "required": ["stream"], "properties": { "stream": { "not": { "const": false } } } });
    let with_last = json!({ "type": "object", "required": ["last"] });
    let on = |when: Value, then: Value| Rule { table: "Step", what: What::Where(when, then) };
    vec![
        value("Step", "capture", captures),
        on(json!({ "required": ["listen"] }), not_from("sse")),
        on(json!({ "required": ["stream"], "properties": { "stream": listens() } }), not_from("sse")),
        on(
            json!({ "required": ["stream"], "properties": { "stream": listens() } }),
            json!({ "properties": { "run": false, "cancel": false } }),
        ),
        on(json!({ "required": ["after"] }), not_from("header|cookie|json")),
        on(json!({ "required": ["run"] }), not_from("header|cookie")),
        on(
            json!({ "required": ["run", "files"] }),
            json!({ "properties": { "cwd": false, "files": { "propertyNames": { "not": { "pattern": r"^/|(^|/)\.{1,2}(/|$)" } } } } }),
        ),
        on(json!({ "required": ["browser"] }), not_from("sse|header|json")),
        on(streams.clone(), not_from("json")),
        on(
            json!({ "not": { "anyOf": has(&["stream", "cancel", "reconnect", "run", "socket", "send", "send_file", "after"]) } }),
            not_from("sse"),
        ),
        on(
            json!({ "allOf": [streams, { "not": { "required": ["run"] } }] }),
            json!({ "properties": { "golden": { "not": { "const": false } } } }),
        ),
        on(json!({ "required": ["listen"] }), json!({ "properties": { "golden": { "not": { "const": false } } } })),
        on(json!({ "required": ["cancel"] }), json!({ "properties": { "stream": { "not": with_last } } })),
        on(json!({ "required": ["wait"] }), json!({ "properties": { "stream": { "const": false }, "cancel": false } })),
        on(
            json!({ "required": ["reconnect"], "properties": { "reconnect": { "const": true } } }),
            json!({ "properties": { "headers":
                { "propertyNames": { "not": { "pattern": "^[Ll]ast-[Ee]vent-[Ii][Dd]$" } } } } }),
        ),
        value("Cancel", "after", json!({ "minLength": 1 })),
        value("StreamEnds", "first", json!({ "minLength": 1 })),
        value("StreamEnds", "last", json!({ "minLength": 1 })),
        value("Step", "after", json!({ "minLength": 1 })),
        value("EventTable", "event", json!({ "minLength": 1 })),
        value("EventTable", "times", json!({ "minimum": 1 })),
        Rule { table: "EventTable", what: What::With("at", "is") },
        Rule { table: "EventTable", what: What::With("is", "at") },
    ]
}

/// A stream that stays open while the next steps run.
fn listens() -> Value {
    json!({ "type": "object", "required": ["listen"], "properties": { "listen": { "const": true } } })
}

fn of_acts() -> Vec<Rule> {
    let nothing = "^(role|text|label|placeholder|testid|css):\\s*$";
    let text = json!({ "pattern": "\\S", "not": { "pattern": nothing } });
    let mut rules = vec![
        one_of("Act", &acts()),
        Rule { table: "Act", what: What::With("fill", "text") },
        Rule { table: "Act", what: What::With("text", "fill") },
        Rule { table: "Act", what: What::With("baseline", "screenshot") },
        value("Act", "above", json!({ "minItems": 2 })),
        value("Act", "goto", json!({ "pattern": "^(/|\\{\\{)" })),
        value("Act", "reload", json!({ "const": true })),
        value("Act", "screenshot", json!({ "pattern": OF_FILE })),
        value("Act", "aria", json!({ "not": { "pattern": "^(text|label|placeholder|testid|css):" } })),
    ];
    rules.extend(["see", "unseen", "once", "click", "fill"].map(|act| value("Act", act, text.clone())));
    rules
}

fn one_of(table: &'static str, fields: &[&'static str]) -> Rule {
    Rule { table, what: What::OneOf(fields.to_vec()) }
}

/// A table with the one field needs the other one too, unless it extends another table.
fn needs(table: &'static str, field: &str, other: &str) -> Rule {
    let alone = json!({ "required": [field], "not": { "required": ["extends"] } });
    Rule { table, what: What::Where(alone, json!({ "required": [other] })) }
}

fn value(table: &'static str, field: &'static str, more: Value) -> Rule {
    Rule { table, what: What::Value(field, more) }
}
