//! What a fixture file shows by itself: when it was recorded, the secrets in it, and turns that are hard to tell apart.

use std::sync::LazyLock;

use regex::Regex;
use time::{Date, OffsetDateTime};

use retake_core::json::Json;
use retake_core::key::Check;
use retake_core::secrets::{Fired, Scrub};
use retake_wire::Body;
use retake_wire::fixture::{Fixture, Turn};

/// A secret in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Secret {
    /// The place in the file: `turns[2].output.content`.
    pub place: String,
    /// The name of the secret's known form, or of the environment variable that holds its value.
    pub form: String,
}

/// Two turns that are harder to tell apart than one would expect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    pub turns: [usize; 2],
    pub callers: [Option<String>; 2],
    /// If both turns have the same key, the check in which they still differ. `None` if the turns belong to two callers with the
    /// same conversation.
    pub differs: Option<Check>,
}

/// The day of the latest answer in a fixture, taken from the providers' timestamps. `None` if no answer has one.
pub fn recorded_on(fixture: &Fixture) -> Option<Date> {
    static STAMP: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#""(?:created|created_at|createTime)"\s*:\s*(?:([0-9]{10})\b|"([0-9]{4})-([0-9]{2})-([0-9]{2})T)"#)
            .ok()
    });
    let stamps = |turn: &Turn| {
        let text = match &turn.wire.as_ref()?.response.body {
            Body::Json(json) => String::from_utf8_lossy(&json.bytes()).into_owned(),
            Body::Frames(frames) => String::from_utf8_lossy(&frames.text()).into_owned(),
            Body::Text(text) => text.clone(),
            Body::Binary(_) => return None,
        };
        STAMP.as_ref()?.captures_iter(&text).filter_map(|stamp| date(&stamp)).max()
    };
    fixture.table.turns().iter().filter_map(stamps).max()
}

fn date(stamp: &regex::Captures<'_>) -> Option<Date> {
    if let Some(seconds) = stamp.get(1) {
        return OffsetDateTime::from_unix_timestamp(seconds.as_str().parse().ok()?).ok().map(OffsetDateTime::date);
    }
    let part = |at: usize| stamp.get(at)?.as_str().parse::<u16>().ok();
    let month = u8::try_from(part(3)?).ok()?.try_into().ok()?;
    Date::from_calendar_date(i32::from(part(2)?), month, u8::try_from(part(4)?).ok()?).ok()
}

/// What looks like a secret in the JSON of a fixture.
pub fn secrets_in(json: &Json, scrub: &Scrub) -> Vec<Secret> {
    let mut scrubbed = json.clone();
    scrub.json(&mut scrubbed, &mut Fired::new());
    let mut found = Vec::new();
    compare(json, &scrubbed, String::new(), scrub, &mut found);
    found
}

/// Finds the secrets that are split over several pieces of a recorded stream, which a search through the file's text misses.
pub fn secrets_in_streams(fixture: &Fixture, scrub: &Scrub) -> Vec<Secret> {
    let mut found = Vec::new();
    for (index, turn) in fixture.table.turns().iter().enumerate() {
        let Some(wire) = &turn.wire else { continue };
        let mut fired = Fired::new();
        wire.response.clone().scrub(scrub, &mut fired);
        let forms = fired.into_iter().filter(|name| Scrub::is_form(name));
        found.extend(forms.map(|form| Secret { place: format!("turns[{index}].wire"), form }));
    }
    found
}

/// Finds turns of one caller with the same conversation that differ in prompt or tools, which suggests two callers under one
/// name; and turns of two callers with the same conversation, which only the callers' names tell apart.
pub fn shared_keys(fixture: &Fixture) -> Vec<Shared> {
    let turns = fixture.table.turns();
    let mut found: Vec<Shared> = Vec::new();
    for (b, second) in turns.iter().enumerate() {
        for (a, first) in turns[..b].iter().enumerate() {
            let is_one_caller = first.caller == second.caller;
            let may_differ = is_one_caller && first.key.input_hash == second.key.input_hash;
            let mut checks = [Check::Prompt, Check::Tools].into_iter().filter(|_| may_differ);
            let differs = checks.find(|check| differ(first, second, *check));
            let is_same = !is_one_caller && first.key.conversation_hash == second.key.conversation_hash;
            let callers = [first.caller.clone(), second.caller.clone()];
            let is_known = || found.iter().any(|known| known.callers == callers && known.differs == differs);
            if (is_same || differs.is_some()) && !is_known() {
                found.push(Shared { turns: [a, b], callers, differs });
            }
        }
    }
    found
}

fn differ(a: &Turn, b: &Turn, check: Check) -> bool {
    let text = |turn: &Turn| turn.checks.and_then(|checks| checks.of(check));
    text(a).zip(text(b)).is_some_and(|(a, b)| a != b)
}

/// Collects the places at which a scrubbed value differs.
fn compare(json: &Json, scrubbed: &Json, place: String, scrub: &Scrub, found: &mut Vec<Secret>) {
    let form = |json: &Json| {
        let mut fired = Fired::new();
        scrub.json(&mut json.clone(), &mut fired);
        fired.into_iter().find(|name| Scrub::is_form(name)).unwrap_or_else(|| "a secret".to_owned())
    };
    match (json, scrubbed) {
        (Json::Object(entries), Json::Object(others)) => {
            for (key, value) in entries.iter() {
                let place = if place.is_empty() { key.to_string() } else { format!("{place}.{key}") };
                match others.get(key) {
                    // If the value is secret only because of its key, the whole object tells its form.
                    Some(other) if matches!(value, Json::Str(_)) && value != other => {
                        let alone = form(value);
                        let form = if alone == "a secret" { form(json) } else { alone };
                        found.push(Secret { place, form });
                    }
                    Some(other) => compare(value, other, place, scrub, found),
                    None => found.push(Secret { place: format!("{place} (the key)"), form: form(json) }),
                }
            }
        }
        (Json::Array(items), Json::Array(others)) if items.len() == others.len() => {
            for (index, (item, other)) in items.iter().zip(others).enumerate() {
                compare(item, other, format!("{place}[{index}]"), scrub, found);
            }
        }
        _ if json != scrubbed => found.push(Secret { place, form: form(json) }),
        _ => {}
    }
}

#[cfg(test)]
mod tests;
