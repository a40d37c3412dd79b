//! The JSON Schemas of both files: the types that read them, and what these say by checks alone.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// A field as its comment tells it.
#[derive(Clone, Debug)]
pub(super) struct Told {
    pub(super) meaning: String,
    /// A value in TOML, or words.
    pub(super) default: Option<String>,
    /// A value in TOML.
    pub(super) example: String,
}

/// The schema of a file, and what is told of each field, by its type and its name.
pub(super) type Schema = (Value, BTreeMap<(String, String), Told>);

/// The schema of a type, with rules.
pub(super) fn of<T: JsonSchema>(title: &str, rules: &[Rule]) -> Schema {
    let root = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
    // Without what is not a word of a user's.
    let text = root.as_value().to_string().replace("#/definitions/Raw", "#/definitions/");
    let mut root: Value = serde_json::from_str(&text).unwrap();
    root["title"] = json!(title);
    without_null(&mut root);
    let mut told = BTreeMap::new();
    take_told("", &mut root, &mut told);
    let definitions = root["definitions"].as_object_mut().unwrap();
    let all: Vec<(String, Value)> = std::mem::take(definitions).into_iter().collect();
    for (name, mut definition) in all {
        let name = name.trim_start_matches("Raw").to_owned();
        definition.as_object_mut().unwrap().remove("title");
        take_told(&name, &mut definition, &mut told);
        definitions.insert(name, definition);
    }
    for rule in rules {
        let table = if rule.table.is_empty() { &mut root } else { &mut root["definitions"][rule.table] };
        rule.add_to(table);
    }
    (root, told)
}

/// What a table's checks say that its type does not.
#[derive(Clone)]
pub(super) struct Rule {
    /// The name of its type; the file itself is empty.
    pub(super) table: &'static str,
    pub(super) what: What,
}

#[derive(Clone)]
pub(super) enum What {
    /// It has not this field.
    None(&'static str),
    /// It has exactly one of these fields.
    OneOf(Vec<&'static str>),
    /// It has at least one of these fields.
    AnyOf(Vec<&'static str>),
    /// Where it fits the first, it has to fit the second.
    Where(Value, Value),
    /// With the first field it has none of the others.
    Without(&'static str, Vec<String>),
    /// With the first field it has the other one too.
    With(&'static str, &'static str),
    /// The value of a field has these properties too.
    Value(&'static str, Value),
}

impl Rule {
    fn add_to(&self, table: &mut Value) {
        let all_of = |table: &mut Value, rule: Value| {
            let rules = table.as_object_mut().unwrap().entry("allOf").or_insert_with(|| json!([]));
            rules.as_array_mut().unwrap().push(rule);
        };
        match &self.what {
            What::OneOf(fields) => {
                table["oneOf"] = fields.iter().map(|field| json!({ "required": [field] })).collect();
            }
            What::None(field) => table["properties"][field] = json!(false),
            What::AnyOf(fields) => {
                table["anyOf"] = fields.iter().map(|field| json!({ "required": [field] })).collect();
            }
            What::Where(fits, then) => all_of(table, json!({ "if": fits, "then": then })),
            What::Without(field, others) => {
                let none: Map<String, Value> = others.iter().map(|other| (other.clone(), json!(false))).collect();
                all_of(table, json!({ "if": { "required": [field] }, "then": { "properties": none } }));
            }
            What::With(field, other) => {
                table.as_object_mut().unwrap().entry("dependencies").or_insert_with(|| json!({}))[field] =
                    json!([other]);
            }
            What::Value(field, more) => {
                let value = &mut table["properties"][field];
                assert!(value.is_object(), "{} has no `{field}`", self.table);
                // Beside a `$ref` nothing counts.
                for (key, of_key) in more.as_object().unwrap() {
                    value[key] = of_key.clone();
                }
            }
        }
    }
}

/// Takes what comments tell of the fields of a table: the meaning stays, default and example become the schema's own.
fn take_told(table: &str, schema: &mut Value, told: &mut BTreeMap<(String, String), Told>) {
    let table = if table.is_empty() { "" } else { table };
    for (field, property) in schema["properties"].as_object_mut().into_iter().flatten() {
        let comment = property["description"].as_str().unwrap_or_default();
        let of_field = tell(comment).unwrap_or_else(|| {
            panic!("{table} `{field}`: its comment in `raw` lacks a meaning, or `Example: …`: {comment:?}")
        });
        property["description"] = json!(of_field.meaning);
        property["examples"] = json!([value(&of_field.example).unwrap_or_else(|e| panic!("{field}: {e}"))]);
        if let Some(default) = of_field.default.as_deref().and_then(|default| value(default).ok()) {
            property["default"] = default;
        }
        told.insert((table.to_owned(), field.clone()), of_field);
    }
}

/// TOML has no null: what may be null may only be absent.
fn without_null(schema: &mut Value) {
    let is_null = |value: &Value| *value == "null" || value["type"] == "null" || value.is_null();
    match schema {
        Value::Object(fields) => {
            for key in ["type", "enum", "anyOf"] {
                if let Some(Value::Array(choices)) = fields.get_mut(key) {
                    choices.retain(|choice| !is_null(choice));
                }
            }
            if let Some([only]) = fields.get("type").and_then(Value::as_array).map(Vec::as_slice) {
                let only = only.clone();
                fields.insert("type".to_owned(), only);
            }
            if fields.get("anyOf").and_then(Value::as_array).is_some_and(|choices| choices.len() == 1) {
                let only = fields.remove("anyOf").unwrap_or_default();
                fields.insert("allOf".to_owned(), only);
            }
            fields.values_mut().for_each(without_null);
        }
        Value::Array(values) => values.iter_mut().for_each(without_null),
        _ => {}
    }
}

/// Takes a comment apart: "Meaning. Default: `x`. Example: `y`."
fn tell(comment: &str) -> Option<Told> {
    let line = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    let (rest, example) = line.rsplit_once(" Example: `")?;
    let (meaning, default) = match rest.split_once(" Default: ") {
        Some((meaning, default)) => (meaning, Some(default.strip_suffix('.')?.trim_matches('`').to_owned())),
        None => (rest, None),
    };
    Some(Told { meaning: meaning.to_owned(), default, example: example.strip_suffix("`.")?.to_owned() })
}

/// A value of TOML, as JSON.
fn value(toml: &str) -> Result<Value, String> {
    let table: toml::Table = toml::from_str(&format!("x = {toml}")).map_err(|e| e.to_string())?;
    serde_json::to_value(&table["x"]).map_err(|e| e.to_string())
}
