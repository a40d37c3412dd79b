//! Prints values for a golden.

use super::ids::Ids;
use super::notation::{self, Normalize};
use super::times;
use crate::json::{Json, Layout};

/// Returns a value as one line of JSON. Each string, number and key in it is normalized separately, so a pattern for a path
/// does not match the quote after it. A point in time becomes its form, also if it is a number: agent services put such timestamps
/// on their events, and no pattern can recognize them. A UUID that also appears elsewhere has a number: `<UUID:1>`.
pub(super) fn value(value: &Json, ids: &Ids, normalize: &Normalize) -> String {
    notation::unseen_escaped(&normalized(value, ids, normalize)).into_owned()
}

fn normalized(value: &Json, ids: &Ids, normalize: &Normalize) -> String {
    match value {
        Json::Null | Json::Bool(_) => value.print(Layout::Python),
        Json::Int(_) | Json::BigInt(_) | Json::Float(_) => match times::of_number(value) {
            Some(form) => form.to_owned(),
            None => normalize(&value.print(Layout::Python)),
        },
        Json::Str(text) => match (normalize(text), times::of_text(text)) {
            (normal, Some(form)) if matches!(&*normal, "<TS>" | "<DATE>") => form,
            (normal, _) => Json::Str(ids.number_uuids(text, normal)).print(Layout::Python),
        },
        Json::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| normalized(item, ids, normalize)).collect();
            format!("[{}]", items.join(", "))
        }
        Json::Object(entries) => {
            let entry = |key: &str, item| {
                format!("{}: {}", Json::Str(normalize(key)).print(Layout::Python), normalized(item, ids, normalize))
            };
            let mut entries: Vec<_> = entries.iter().map(|(key, item)| entry(key, item)).collect();
            entries.sort_unstable();
            format!("{{{}}}", entries.join(", "))
        }
    }
}
