//! A body as the service wants it, by what it said when it refused one. Validators say which place they mean (`path` in Zod, `loc` in
//! Pydantic), and what they expect there.

use serde_json::{Map, Value, json};

use super::body::by_name;

/// The body with everything put right that a refusal names. `None` if it names nothing of the body.
pub(super) fn corrected(body: &Value, refusal: &[u8]) -> Option<Value> {
    let refusal: Value = serde_json::from_slice(refusal).ok()?;
    let mut better = body.clone();
    let mut issues = Vec::new();
    listed(&refusal, &mut issues);
    for issue in issues {
        let _ = put_right(&mut better, issue);
    }
    (better != *body).then_some(better)
}

/// The issues in a refusal, wherever they stand, the outermost place first.
fn listed<'a>(value: &'a Value, issues: &mut Vec<&'a Map<String, Value>>) {
    match value {
        Value::Array(all) => all.iter().for_each(|value| listed(value, issues)),
        Value::Object(fields) if place(fields).is_some() => issues.push(fields),
        Value::Object(fields) => fields.values().for_each(|value| listed(value, issues)),
        Value::String(_) | Value::Number(_) | Value::Bool(_) | Value::Null => {}
    }
}

fn place(issue: &Map<String, Value>) -> Option<&[Value]> {
    let place = issue.get("path").or_else(|| issue.get("loc"))?.as_array()?;
    Some(place.split_first().filter(|(first, _)| **first == "body").map_or(&place[..], |(_, rest)| rest))
}

fn put_right(body: &mut Value, issue: &Map<String, Value>) -> Option<()> {
    let text = |name: &str| issue.get(name).and_then(Value::as_str).unwrap_or_default();
    let at = place(issue)?;
    let pointer = |parts: &[Value]| -> String {
        let part = |part: &Value| part.as_str().map_or_else(|| format!("/{part}"), |name| format!("/{name}"));
        parts.iter().map(part).collect()
    };
    if let Some(keys) = issue.get("keys").and_then(Value::as_array) {
        let object = body.pointer_mut(&pointer(at))?.as_object_mut()?;
        keys.iter().filter_map(Value::as_str).for_each(|key| drop(object.remove(key)));
        return Some(());
    }
    let (last, outer) = at.split_last()?;
    let name = last.as_str().unwrap_or_default();
    if text("type") == "extra_forbidden" {
        body.pointer_mut(&pointer(outer))?.as_object_mut()?.remove(name)?;
        return Some(());
    }
    let listed = ["values", "options"].into_iter().find_map(|field| issue.get(field)?.as_array()?.first().cloned());
    // Pydantic quotes what it takes: "'a', 'b' or 'c'".
    let quoted = issue.get("ctx").and_then(|ctx| ctx.get("expected")?.as_str()?.split('\'').nth(1).map(Value::from));
    let expected = format!("{} {}", text("expected"), text("type"));
    let has = |words: &[&str]| words.iter().any(|word| expected.contains(word));
    let value = listed.or(quoted).unwrap_or_else(|| match () {
        () if has(&["int", "number", "float"]) => json!(3),
        () if has(&["bool"]) => json!(false),
        () if has(&["array", "list", "tuple", "set"]) => json!([]),
        () if has(&["object", "record", "dict", "model"]) => json!({}),
        () => by_name(name),
    });
    match body.pointer_mut(&pointer(outer))? {
        Value::Object(fields) => drop(fields.insert(last.as_str()?.to_owned(), value)),
        Value::Array(all) => *all.get_mut(usize::try_from(last.as_u64()?).ok()?)? = value,
        _ => return None,
    }
    Some(())
}

#[cfg(test)]
mod tests;
