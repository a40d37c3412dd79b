//! Places in a JSON payload, and the changes that can be made there.

use super::kind::Kind;
use retake_core::events::time_form;
use retake_core::json::Json;

const DATE: usize = 10;

/// One step of a path: from a value to a value inside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Key(String),
    Index(usize),
}

/// A place in a payload, and a kind of change that is possible there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) kind: Kind,
    pub(super) path: Vec<Step>,
}

/// Returns all places of a payload that can be changed, from the outside in. `is_own` tells whether a text under a key is a word
/// of the service's own.
pub(super) fn spots(json: &Json, is_own: &dyn Fn(&str, &str) -> bool) -> Vec<Spot> {
    let mut spots = Vec::new();
    collect(json, is_own, &mut Vec::new(), &mut spots);
    spots
}

fn collect(json: &Json, is_own: &dyn Fn(&str, &str) -> bool, path: &mut Vec<Step>, spots: &mut Vec<Spot>) {
    let mut add = |kind: Kind, path: &[Step]| spots.push(Spot { kind, path: path.to_vec() });
    match json {
        Json::Object(entries) => {
            add(Kind::AddKey, path);
            for (key, value) in entries.iter() {
                path.push(Step::Key(key.to_string()));
                for kind in [Kind::DropKey, Kind::RenameKey, Kind::RetypeKey] {
                    spots.push(Spot { kind, path: path.clone() });
                }
                collect(value, is_own, path, spots);
                path.pop();
            }
        }
        Json::Array(items) => {
            if !items.is_empty() {
                add(Kind::ShortenList, path);
                add(Kind::LengthenList, path);
            }
            if items.len() > 1 {
                add(Kind::ReverseList, path);
                add(Kind::RepeatList, path);
            }
            for (index, item) in items.iter().enumerate() {
                path.push(Step::Index(index));
                collect(item, is_own, path, spots);
                path.pop();
            }
        }
        // Any other value in place of null would also be of another type.
        Json::Null => {}
        Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) | Json::Str(_) => {
            add(Kind::ChangeValue, path);
            let key =
                path.iter().rev().find_map(|step| if let Step::Key(key) = step { Some(key.as_str()) } else { None });
            if json.as_str().is_some_and(|text| is_own(key.unwrap_or_default(), text)) {
                add(Kind::ChangeWord, path);
            }
            if time_form(json).is_some() {
                add(Kind::ChangeTime, path);
            }
        }
    }
}

/// Returns the payload with one change, or `None` if it has no such place.
pub(super) fn changed(json: &Json, spot: &Spot) -> Option<Json> {
    let mut json = json.clone();
    let Spot { kind, path } = spot;
    if let (Kind::DropKey | Kind::RenameKey, Some((Step::Key(key), parents))) = (kind, path.split_last()) {
        let entries = value_at(&mut json, parents)?.as_object_mut()?;
        let value = entries.remove(&**key)?;
        if *kind == Kind::RenameKey {
            entries.insert(format!("{key}_renamed").into(), value);
        }
        return Some(json);
    }
    let value = value_at(&mut json, path)?;
    match (kind, value) {
        (Kind::AddKey, Json::Object(entries)) => _ = entries.insert("added".into(), Json::Bool(true)),
        (Kind::RetypeKey, value) => *value = of_another_type(value),
        (Kind::ChangeValue | Kind::ChangeWord, value) => *value = other_value(value),
        (Kind::ChangeTime, value) => *value = of_another_form(value)?,
        (Kind::ShortenList, Json::Array(items)) => _ = items.pop(),
        (Kind::LengthenList, Json::Array(items)) => items.extend(items.last().cloned()),
        (Kind::ReverseList, Json::Array(items)) => items.reverse(),
        (Kind::RepeatList, Json::Array(items)) => items.extend(items.clone()),
        _ => return None,
    }
    Some(json)
}

/// Returns the value at a path, so that it can be changed.
pub(super) fn value_at<'a>(json: &'a mut Json, path: &[Step]) -> Option<&'a mut Json> {
    path.iter().try_fold(json, |value, step| match (value, step) {
        (Json::Object(entries), Step::Key(key)) => entries.get_mut(&**key),
        (Json::Array(items), Step::Index(index)) => items.get_mut(*index),
        _ => None,
    })
}

/// Returns a path as a JSON pointer in which `*` stands for each element of a list: to a reader of a golden, all elements of a
/// list are one place.
pub(super) fn pointer(path: &[Step]) -> String {
    path.iter().fold(String::new(), |pointer, step| match step {
        Step::Key(key) => pointer + "/" + &key.replace('~', "~0").replace('/', "~1"),
        Step::Index(_) => pointer + "/*",
    })
}

fn of_another_type(value: &Json) -> Json {
    match value {
        Json::Str(_) => Json::Int(7),
        Json::Int(_) | Json::BigInt(_) | Json::Float(_) => Json::from("7"),
        Json::Bool(_) => Json::from("true"),
        Json::Null | Json::Array(_) | Json::Object(_) => Json::from("text"),
    }
}

/// Returns a point in time without its zone, or with one if it has none; or in another unit if it is a number.
fn of_another_form(time: &Json) -> Option<Json> {
    Some(match time {
        Json::Str(text) if text.len() > DATE => {
            let clock = text[DATE..].find(['Z', '+', '-']).map(|at| DATE + at);
            Json::Str(clock.map_or_else(|| format!("{text}Z"), |at| text[..at].to_owned()))
        }
        Json::Str(text) => Json::Str(format!("{text}T00:00:00")),
        Json::Int(number) => {
            let longer = number.checked_mul(1000).filter(|number| time_form(&Json::Int(*number)).is_some());
            Json::Int(longer.unwrap_or(number / 1000))
        }
        Json::Float(number) => Json::Float(if *number < 1e11 { number * 1000.0 } else { number / 1000.0 }),
        _ => return None,
    })
}

fn other_value(value: &Json) -> Json {
    match value {
        Json::Bool(value) => Json::Bool(!value),
        Json::Int(number) => Json::Int(number.checked_add(1).unwrap_or(0)),
        Json::BigInt(_) => Json::Int(0),
        Json::Float(number) => Json::Float(if *number < 0.5 { 0.5 } else { 0.25 }),
        Json::Str(text) => Json::Str(other_text(text)),
        other => other.clone(),
    }
}

/// Returns the text with its last digit changed, or its last letter if it has no digit. A UUID stays a UUID, and a time stays
/// a time.
pub(super) fn other_text(text: &str) -> String {
    let last = |fits: fn(&char) -> bool| text.char_indices().rev().find(|(_, c)| fits(c));
    let Some((at, last)) = last(char::is_ascii_digit).or_else(|| last(char::is_ascii_alphabetic)) else {
        return format!("{text}x");
    };
    let other = match last {
        '0' => '1',
        'a' => 'b',
        'A' => 'B',
        other => char::from_u32(u32::from(other) - 1).unwrap_or('x'),
    };
    format!("{}{other}{}", &text[..at], &text[at + 1..])
}
