//! Whether the arguments of a tool call fit the JSON schema that was offered with the tool. Words of a schema that are not known
//! here allow everything.

use crate::breakage::types;
use retake_core::json::{Json, Layout};

/// Describes the first place at which arguments do not fit; `None` if they fit.
pub(super) fn misfit(schema: &Json, args: &Json) -> Option<String> {
    at(schema, schema, args, "", 0)
}

fn at(root: &Json, schema: &Json, value: &Json, path: &str, depth: usize) -> Option<String> {
    // A schema may refer to itself.
    if depth > 64 {
        return None;
    }
    let below = |schema: &Json, value: &Json, path: &str| at(root, schema, value, path, depth + 1);
    let named = if path.is_empty() {
        "the arguments as a whole".to_owned()
    } else {
        format!("`{}`", path.trim_start_matches('.'))
    };
    if let Some(target) = schema.str_of("$ref").and_then(|to| root.pointer(to.strip_prefix('#')?)) {
        return below(target, value, path);
    }
    let list = |key: &str| schema.get(key).and_then(Json::as_array).filter(|list| !list.is_empty());
    if let Some(misfit) = list("allOf").into_iter().flatten().find_map(|one| below(one, value, path)) {
        return Some(misfit);
    }
    for key in ["anyOf", "oneOf"] {
        let Some(several) = list(key) else { continue };
        if several.iter().all(|one| below(one, value, path).is_some()) {
            return Some(format!("{named} fits none of the forms that the schema allows"));
        }
    }
    let allowed = list("enum").map(<[Json]>::to_vec).or_else(|| schema.get("const").map(|one| vec![one.clone()]));
    if let Some(allowed) = allowed.filter(|allowed| !allowed.contains(value)) {
        let allowed: Vec<String> = allowed.iter().map(|one| one.print(Layout::Python)).collect();
        return Some(format!("{named} is {}, expected {}", value.print(Layout::Python), allowed.join(" or ")));
    }
    let types = types(schema);
    let nullable = schema.get("nullable").is_some_and(Json::is_truthy) && *value == Json::Null;
    let is_whole = || !matches!(value, Json::Float(number) if number.fract() != 0.0);
    let fits = |of: &String| of == value.kind() || (of == "integer" && value.kind() == "number" && is_whole());
    if !types.is_empty() && !nullable && !types.iter().any(fits) {
        return Some(format!("{named} is a {}, expected {}", value.kind(), types.join(" or ")));
    }
    let join = |key: &str| format!("{path}.{key}");
    match value {
        Json::Object(entries) => {
            let required = list("required").into_iter().flatten().filter_map(Json::as_str);
            if let Some(missing) = required.into_iter().find(|name| !entries.contains_key(*name)) {
                return Some(format!("`{}` is required and missing", join(missing).trim_start_matches('.')));
            }
            entries.iter().find_map(|(name, value)| {
                match (schema.get("properties").and_then(|all| all.get(name)), schema.get("additionalProperties")) {
                    (Some(property), _) => below(property, value, &join(name)),
                    (None, Some(Json::Bool(false))) => {
                        Some(format!("`{}` is not one of the tool's arguments", join(name).trim_start_matches('.')))
                    }
                    (None, Some(other @ Json::Object(_))) => below(other, value, &join(name)),
                    (None, _) => None,
                }
            })
        }
        Json::Array(elements) => {
            let schema = schema.get("items")?;
            elements.iter().enumerate().find_map(|(i, element)| below(schema, element, &format!("{path}[{i}]")))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
