//! Makes the JSON Schemas of both files from the types that read them, and from rules for what only the checks know.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

/// What the doc comment of a field says.
#[derive(Clone, Debug)]
pub(super) struct FieldDoc {
    pub(super) meaning: String,
    /// A TOML value, or words.
    pub(super) default: Option<String>,
    /// A TOML value.
    pub(super) example: String,
}

/// The schema of a file, and the documentation of each field, by its type and its name.
pub(super) type Schema = (Value, BTreeMap<(String, String), FieldDoc>);

/// Returns the schema of a type, with these rules added.
pub(super) fn of<T: JsonSchema>(title: &str, rules: &[Rule]) -> Schema {
    let root = SchemaSettings::draft07().into_generator().into_root_schema_for::<T>();
    // Users do not know the prefix `Raw`.
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

/// A rule that the checks enforce and that the type of a table does not express.
#[derive(Clone)]
pub(super) struct Rule {
    /// The name of the table's type, or the empty string for the file itself.
    pub(super) table: &'static str,
    pub(super) what: What,
}

#[derive(Clone)]
pub(super) enum What {
    /// The table does not have this field.
    None(&'static str),
    /// The table has exactly one of these fields.
    OneOf(Vec<&'static str>),
    /// The table matches exactly one of these schemas.
    OneOfThese(Vec<Value>),
    /// The table has at least one of these fields.
    AnyOf(Vec<&'static str>),
    /// A table that matches the first schema also matches the second one.
    Where(Value, Value),
    /// A table with the first field has none of the others.
    Without(&'static str, Vec<String>),
    /// A table with the first field also has the second one.
    With(&'static str, &'static str),
    /// The value of a field also has these properties.
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
            What::OneOfThese(schemas) => table["oneOf"] = json!(schemas),
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
                // These go next to the type. (Next to a `$ref`, a validator would ignore them.)
                for (key, of_key) in more.as_object().unwrap() {
                    value[key] = of_key.clone();
                }
            }
        }
    }
}

/// Parses the doc comments of a table's fields. The meaning stays as the description; default and example become properties of
/// the schema.
fn take_told(table: &str, schema: &mut Value, told: &mut BTreeMap<(String, String), FieldDoc>) {
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

/// Removes null from the allowed values: TOML has none, and optional fields are just absent.
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

/// Splits a doc comment into its parts: "Meaning. Default: `x`. Example: `y`."
fn tell(comment: &str) -> Option<FieldDoc> {
    let line = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    let (rest, example) = line.rsplit_once(" Example: `")?;
    let (meaning, default) = match rest.split_once(" Default: ") {
        Some((meaning, default)) => (meaning, Some(default.strip_suffix('.')?.trim_matches('`').to_owned())),
        None => (rest, None),
    };
    Some(FieldDoc { meaning: meaning.to_owned(), default, example: example.strip_suffix("`.")?.to_owned() })
}

/// Converts a TOML value to JSON.
fn value(toml: &str) -> Result<Value, String> {
    let table: toml::Table = toml::from_str(&format!("x = {toml}")).map_err(|e| e.to_string())?;
    serde_json::to_value(&table["x"]).map_err(|e| e.to_string())
}
