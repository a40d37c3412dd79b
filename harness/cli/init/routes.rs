//! The routes of a service that may call its model, told by its OpenAPI document, each with a body that fits its schema.

use serde_json::{Map, Value, json};

/// What a person says in the first scenario.
pub(super) const PROMPT: &str = "Say hello";
/// How deep a schema is followed. One that holds itself has no end.
const DEEPEST: usize = 8;
/// How many routes are worth trying.
const MOST: usize = 24;
/// The types of bodies, JSON first.
const KINDS: [&str; 3] = ["application/json", "multipart/form-data", "application/x-www-form-urlencoded"];
/// Parts of paths that tell a chat from other work.
const TELLING: [&str; 12] =
    ["stream", "sse", "chat", "message", "run", "invoke", "complet", "generate", "ask", "agent", "respon", "convers"];

/// A route that takes a POST request.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Route {
    /// Its path. A parameter of unknown value is still in it: `/agents/{id}/stream`.
    pub(super) path: String,
    /// A body that fits its schema; `None` if nothing says what it takes.
    pub(super) body: Option<Value>,
    /// Whether it takes a form, not JSON.
    pub(super) form: bool,
}

/// How much the words of a path tell that it may call a model.
pub(super) fn telling(path: &str) -> usize {
    TELLING.iter().filter(|word| path.to_ascii_lowercase().contains(*word)).count()
}

/// Whether a path says that what it does cannot be undone. It is not tried.
pub(super) fn is_harmful(path: &str) -> bool {
    let path = path.to_ascii_lowercase();
    HARMFUL.iter().any(|word| path.contains(word))
}

const HARMFUL: [&str; 13] = [
    "delete", "remove", "reset", "purge", "clear", "drop", "shutdown", "logout", "stop", "kill", "cancel", "upload",
    "register",
];

/// Returns the routes that may call a model, the likeliest first: those that answer with an event stream, whose body holds a text that a
/// person could have said, or whose path tells it. Of a route without a schema, nothing says what it takes.
pub(super) fn routes(api: &Value) -> Vec<Route> {
    let paths = api.get("paths").and_then(Value::as_object).into_iter().flatten();
    let mut found: Vec<(usize, Route)> = paths
        .filter_map(|(path, of_path)| {
            let post = of_path.get("post")?;
            let streams = of(post, "responses")
                .any(|(_, answer)| of(followed(api, answer), "content").any(|(kind, _)| kind.contains("event-stream")));
            let content = followed(api, post.get("requestBody").unwrap_or(&Value::Null)).get("content");
            let typed = |kind: &&&str| content.and_then(|content| content.get(**kind)).is_some();
            let kind = KINDS.iter().find(typed);
            let content = kind.and_then(|kind| content?.get(*kind));
            let schema = content.and_then(|content| content.get("schema"));
            let body = content
                .and_then(|content| shown_example(content, api))
                .unwrap_or_else(|| fitting(api, schema.unwrap_or(&Value::Null), "", 0));
            // Without a type, nothing says what it takes.
            let is_known = content.is_some();
            let (telling, says) = (telling(path), is_known && holds_text(&body));
            if is_harmful(path) || (is_known && !says && !streams) {
                return None;
            }
            let parameters = [of_path, post].into_iter().filter_map(|of| of.get("parameters")?.as_array()).flatten();
            let filled = with_parameters(api, path, parameters.map(|parameter| followed(api, parameter)));
            let rank = 4 * usize::from(streams) + 2 * usize::from(says) + telling;
            let form = kind.is_some_and(|kind| *kind != KINDS[0]);
            Some((rank, Route { path: filled, body: is_known.then(|| plain(body)), form }))
        })
        .collect();
    found.sort_by_key(|(rank, route)| (std::cmp::Reverse(*rank), route.path.matches('{').count(), route.path.len()));
    found.into_iter().map(|(_, route)| route).take(MOST).collect()
}

/// The routes of a document that take a POST request, those first whose paths tell a chat.
pub(super) fn posts(api: &Value) -> Vec<String> {
    let mut posts: Vec<String> = Vec::new();
    posts.extend(of(api, "paths").filter(|(_, path)| path.get("post").is_some()).map(|(path, _)| path.clone()));
    posts.sort_by_key(|path| (is_harmful(path), std::cmp::Reverse(telling(path))));
    posts
}

fn of<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
    value.get(field).and_then(Value::as_object).into_iter().flatten()
}

/// Follows a reference to another part of the document.
fn followed<'a>(api: &'a Value, value: &'a Value) -> &'a Value {
    let target = |value: &Value| api.pointer(value.get("$ref")?.as_str()?.strip_prefix('#')?);
    let first = target(value).unwrap_or(value);
    target(first).unwrap_or(first)
}

/// Puts examples in place of the parameters of a path, and adds the parameters that have to be in the query.
fn with_parameters<'a>(api: &Value, path: &str, parameters: impl Iterator<Item = &'a Value>) -> String {
    let (mut path, mut query) = (path.to_owned(), String::new());
    for parameter in parameters {
        let Some(name) = parameter.get("name").and_then(Value::as_str) else { continue };
        let schema = parameter.get("schema").unwrap_or(&Value::Null);
        let known = shown_example(parameter, api).or_else(|| known(followed(api, schema)));
        let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        match parameter.get("in").and_then(Value::as_str) {
            Some("path") => {
                if let Some(value) = known {
                    path = path.replace(&format!("{{{name}}}"), &text(value));
                }
            }
            Some("query") if parameter.get("required") == Some(&Value::Bool(true)) => {
                let value = text(known.unwrap_or_else(|| fitting(api, schema, name, 0)));
                let pair: String =
                    url::form_urlencoded::Serializer::new(String::new()).append_pair(name, &value).finish();
                query = format!("{query}{}{pair}", if query.is_empty() { '?' } else { '&' });
            }
            _ => {}
        }
    }
    path + &query
}

/// The example that stands beside a schema.
fn shown_example(beside: &Value, api: &Value) -> Option<Value> {
    let first = || Some(followed(api, of(beside, "examples").next()?.1).get("value")?.clone());
    beside.get("example").cloned().or_else(first).map(plain)
}

/// The value that a schema itself names.
fn known(schema: &Value) -> Option<Value> {
    let one = |field: &str| match (field, schema.get(field)?) {
        ("examples" | "enum", all) => all.as_array()?.first(),
        (_, value) => Some(value),
    };
    let told = ["example", "examples", "const", "default", "enum"].into_iter().find_map(one);
    told.filter(|value| !value.is_null()).cloned().map(plain)
}

/// Returns a value that fits a schema: its own examples first, else what it requires, else by its type. `name` is that of the
/// property.
fn fitting(api: &Value, schema: &Value, name: &str, depth: usize) -> Value {
    let schema = followed(api, schema);
    if let Some(value) = known(schema).filter(|value| !matches!(value, Value::Array(all) if all.is_empty())) {
        return value;
    }
    if depth > DEEPEST {
        return Value::Null;
    }
    let parts = |field: &str| schema.get(field).and_then(Value::as_array).into_iter().flatten();
    let is_null = |schema: &&Value| schema.get("type") == Some(&json!("null"));
    if let Some(one) = parts("anyOf").chain(parts("oneOf")).find(|schema| !is_null(schema)) {
        return fitting(api, one, name, depth + 1);
    }
    let merged = parts("allOf").filter_map(|part| fitting(api, part, name, depth + 1).as_object().cloned());
    let merged: Map<String, Value> = merged.flatten().collect();
    let kind = match schema.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).find(|kind| *kind != "null").unwrap_or(""),
        _ if schema.get("properties").is_some() || !merged.is_empty() => "object",
        _ => "",
    };
    let number = |field: &str| schema.get(field).filter(|value| value.is_number()).cloned();
    match kind {
        "object" => Value::Object(merged.into_iter().chain(fields(api, schema, depth)).collect()),
        "array" => {
            let item = fitting(api, schema.get("items").unwrap_or(&Value::Null), name, depth + 1);
            // Of what a schema calls an object and says no more, the field's name says what clients send.
            let untold = item == json!({});
            super::body::usual().remove(name).filter(|usual| untold && usual.is_array()).unwrap_or(json!([item]))
        }
        "integer" | "number" => number("minimum").or_else(|| number("maximum")).unwrap_or(json!(1)),
        "boolean" => json!(false),
        "null" => Value::Null,
        // A document names the role of a message as any text.
        _ if name == "role" => json!("user"),
        _ => json!(match schema.get("format").and_then(Value::as_str) {
            Some("uuid") => "00000000-0000-4000-8000-000000000001",
            Some("date-time") => "2030-01-01T00:00:00Z",
            Some("date") => "2030-01-01",
            Some("email") => "ada@example.com",
            Some("uri" | "url") => "http://127.0.0.1/",
            _ if name.ends_with("id") || name.ends_with("Id") => "hello",
            _ => PROMPT,
        }),
    }
}

/// The properties that an object requires; if it requires none, the first that holds a text. A switch for streaming is on.
fn fields(api: &Value, schema: &Value, depth: usize) -> Map<String, Value> {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let mut fields = Map::new();
    let mut others = Vec::new();
    for (name, property) in of(schema, "properties") {
        let is_switch = name == "stream" && followed(api, property).get("type") == Some(&json!("boolean"));
        let value = if is_switch { json!(true) } else { fitting(api, property, name, depth + 1) };
        if is_switch || required.contains(&name.as_str()) {
            fields.insert(name.clone(), value);
        } else if holds_text(&value) {
            others.push((name.clone(), value));
        }
    }
    // A type that says of all its properties that they may be left out means one of them.
    if required.is_empty() && depth <= 1 {
        fields.extend(others.into_iter().next());
    }
    fields
}

/// Whether a value holds the text that a person says.
fn holds_text(value: &Value) -> bool {
    match value {
        Value::String(text) => text == PROMPT || text.contains(' '),
        Value::Array(all) => all.iter().any(holds_text),
        Value::Object(fields) => fields.values().any(holds_text),
        _ => false,
    }
}

/// Leaves out what TOML cannot hold, and what a template would take for its own.
fn plain(value: Value) -> Value {
    match value {
        Value::String(text) if ["{{", "{%", "{#"].iter().any(|mark| text.contains(mark)) => json!(PROMPT),
        Value::Array(all) => all.into_iter().filter(|value| !value.is_null()).map(plain).collect(),
        Value::Object(all) => {
            Value::Object(all.into_iter().filter(|(_, value)| !value.is_null()).map(|(k, v)| (k, plain(v))).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests;
