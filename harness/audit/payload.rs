//! Places in a JSON payload, and the changes that can be made there.

use super::kind::Kind;
use retake_core::events::time_form;
use retake_core::json::Json;

const DATE: usize = 10;

/// A place in a payload, and a kind of change that is possible there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) kind: Kind,
    /// The place as a JSON pointer.
    pub(super) at: String,
    /// The same as it is shown, with `*` for each element of a list.
    pub(super) shown: String,
}

/// Returns all places of a payload that can be changed, from the outside in. `is_own` tells whether a text under a key is a word
/// of the service's own.
pub(super) fn spots(json: &Json, is_own: &dyn Fn(&str, &str) -> bool) -> Vec<Spot> {
    let mut spots = Vec::new();
    collect(json, "", ("", ""), is_own, &mut spots);
    spots
}

fn collect(
    json: &Json,
    key: &str,
    (at, shown): (&str, &str),
    is_own: &dyn Fn(&str, &str) -> bool,
    spots: &mut Vec<Spot>,
) {
    let spot = |kind: Kind, at: &str, shown: &str| Spot { kind, at: at.to_owned(), shown: shown.to_owned() };
    let here = |kind: Kind| spot(kind, at, shown);
    match json {
        Json::Object(entries) => {
            spots.push(here(Kind::AddKey));
            for (key, value) in entries.iter() {
                let token = key.replace('~', "~0").replace('/', "~1");
                let (at, shown) = (format!("{at}/{token}"), format!("{shown}/{token}"));
                spots.extend([Kind::DropKey, Kind::RenameKey, Kind::RetypeKey].map(|kind| spot(kind, &at, &shown)));
                collect(value, key, (&at, &shown), is_own, spots);
            }
        }
        Json::Array(items) => {
            if !items.is_empty() {
                spots.extend([Kind::ShortenList, Kind::LengthenList].map(here));
            }
            if items.len() > 1 {
                spots.extend([Kind::ReverseList, Kind::RepeatList].map(here));
            }
            for (index, item) in items.iter().enumerate() {
                collect(item, key, (&format!("{at}/{index}"), &format!("{shown}/*")), is_own, spots);
            }
        }
        // Any other value in place of null would also be of another type.
        Json::Null => {}
        Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) | Json::Str(_) => {
            spots.push(here(Kind::ChangeValue));
            if json.as_str().is_some_and(|text| is_own(key, text)) {
                spots.push(here(Kind::ChangeWord));
            }
            if time_form(json).is_some() {
                spots.push(here(Kind::ChangeTime));
            }
        }
    }
}

/// Returns the payload with one change, or `None` if it has no such place.
pub(super) fn changed(json: &Json, spot: &Spot) -> Option<Json> {
    let mut json = json.clone();
    let Spot { kind, at, .. } = spot;
    if let (Kind::DropKey | Kind::RenameKey, Some((object, token))) = (kind, at.rsplit_once('/')) {
        let (entries, key) = (value_at(&mut json, object)?.as_object_mut()?, key_of(token));
        let value = entries.remove(&*key)?;
        if *kind == Kind::RenameKey {
            entries.insert(format!("{key}_renamed").into(), value);
        }
        return Some(json);
    }
    let value = value_at(&mut json, at)?;
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

/// Returns the value at a JSON pointer, so that it can be changed.
pub(super) fn value_at<'a>(json: &'a mut Json, at: &str) -> Option<&'a mut Json> {
    at.split('/').skip(1).try_fold(json, |value, token| match value {
        Json::Object(entries) => entries.get_mut(&*key_of(token)),
        Json::Array(items) => items.get_mut(token.parse::<usize>().ok()?),
        _ => None,
    })
}

fn key_of(token: &str) -> String {
    token.replace("~1", "/").replace("~0", "~")
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
