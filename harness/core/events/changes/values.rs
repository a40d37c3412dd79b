//! What differs between two events of one name: keys, values, texts, the lengths of lists.

use std::collections::BTreeSet;

use super::sequence::{ANY, Aligned, Event, NAMELESS};
use super::{BODY, ChangeAt, VALUE, subject};
use crate::events::held::{Lane, read_line};
use retake_base::cause::CauseKind;
use retake_base::text::apart;

/// Returns the changes of events whose trees are the same. The same place of later events of the name is not told again.
pub(super) fn changes(aligned: &Aligned<'_>) -> Vec<ChangeAt> {
    let mut found: Vec<ChangeAt> = Vec::new();
    let mut others: Vec<(String, &str)> = Vec::new();
    for (was, is) in aligned.pairs() {
        let Some(Different { kind, place, what, by }) = difference(was, is) else { continue };
        let (_, mut subject) = subject(aligned.of, was.label, kind);
        if was.label == NAMELESS && was.keys != is.keys && was.keys.starts_with('{') {
            // Nameless events are told apart by their keys.
            subject = format!("the event `{NAMELESS} {}`", was.keys);
        }
        if place.is_empty() && was.label != BODY && !others.iter().any(|(label, _)| label == was.label) {
            others.push((was.label.to_owned(), is.rest));
        }
        let kind = if was.label == BODY { CauseKind::Body } else { kind };
        let mut change = ChangeAt { by, ..ChangeAt::new(kind, (&subject, &place), format!("{subject} {what}")) };
        if was.label == BODY {
            change.same.clone_from(&place);
        }
        if !found.iter().any(|known| known.place == change.place) {
            found.push(change);
        }
    }
    // If several kinds of events became the same, that is one change, and their values are gone with it.
    if let [(_, first), _, ..] = &others[..]
        && others.iter().all(|(_, rest)| rest == first)
    {
        let names: Vec<String> = others.iter().map(|(label, _)| format!("`{label}`")).collect();
        found.retain(|change| !change.place.1.is_empty() && change.change.cause.kind != CauseKind::EventValue);
        let what = format!("the events {} are `{first}` now", names.join(", "));
        found.insert(0, ChangeAt::new(CauseKind::EventShape, ("", ""), what));
    }
    // Lists are as long as the events before them made them.
    if found.iter().any(|change| !change.place.1.ends_with(LENGTH)) {
        found.retain(|change| !change.place.1.ends_with(LENGTH));
    }
    found
}

/// What differs between two events of one name.
struct Different {
    kind: CauseKind,
    place: String,
    /// The description, which follows the name of the event.
    what: String,
    /// See [`ChangeAt::by`].
    by: Option<String>,
}

impl Different {
    fn of(kind: CauseKind, place: &str, what: String) -> Different {
        Different { kind, place: place.to_owned(), what, by: None }
    }
}

/// Replaces a change of a tree by what the events themselves say of a key: that some of them have lost or got it.
pub(super) fn by_events(mut of_trees: Vec<ChangeAt>, aligned: &Aligned<'_>) -> Vec<ChangeAt> {
    for (was, is) in aligned.pairs().filter(|(was, is)| was.keys != is.keys) {
        let Some(Different { kind: CauseKind::EventShape, place, what, .. }) = difference(was, is) else { continue };
        let (_, subject) = subject(aligned.of, was.label, CauseKind::EventShape);
        let is_it = |change: &&mut ChangeAt| change.place.0 == subject && change.place.1 == place;
        if let Some(change) =
            of_trees.iter_mut().find(is_it).filter(|_| !place.is_empty() && !what.contains(", and `/"))
        {
            change.change.cause.what = format!("{subject} {what}");
        }
    }
    of_trees
}

/// The end of the place of a list's length.
const LENGTH: &str = "#length";

fn difference(was: &Event<'_>, is: &Event<'_>) -> Option<Different> {
    if was.keys != is.keys {
        let (kind, (before, now)) = (CauseKind::EventShape, apart(&was.keys, &is.keys, VALUE));
        let (Some(old), Some(new)) = (keys(&was.keys), keys(&is.keys)) else {
            return Some(Different::of(kind, "", format!("is `{now}`, not `{before}`")));
        };
        let (gone, come): (Vec<_>, Vec<_>) = (old.difference(&new).collect(), new.difference(&old).collect());
        let what = match (&gone[..], &come[..]) {
            _ if was.label == NAMELESS => format!("is `{}`", is.keys),
            ([was], []) => format!("has a different shape: `/{was}` is gone"),
            ([], [is]) => format!("has a different shape: `/{is}` is new"),
            ([was], [is]) => format!("has a different shape: `/{was}` is gone, and `/{is}` is new"),
            _ => format!("is `{now}`, not `{before}`"),
        };
        let place = gone.first().or(come.first()).map_or_else(String::new, |key| format!("/{key}"));
        return Some(Different::of(kind, &place, what));
    }
    if was.values != is.values && is.values != ANY {
        return Some(if was.rest == "…" { text(was.values, is.values) } else { value(was.values, is.values) });
    }
    // One line for several events has the lengths of all of them.
    if was.rest != is.rest && was.is_of_several == is.is_of_several {
        let (before, now) = apart(was.rest, is.rest, VALUE);
        return Some(Different::of(CauseKind::EventShape, LENGTH, format!("is `{now}`, not `{before}`")));
    }
    None
}

/// Returns the names of an object's keys: of `{content, id}`.
fn keys(text: &str) -> Option<BTreeSet<&str>> {
    let inside = text.strip_prefix('{')?.strip_suffix('}')?;
    Some(inside.split(", ").filter(|key| !key.is_empty()).collect())
}

/// Describes the first value that differs.
fn value(was: &[&str], is: &[&str]) -> Different {
    let parts = |line: &&str| {
        let (place, value) = line.split_once(" = ").unwrap_or(("", line));
        (place.trim_start_matches('/').to_owned(), value.to_owned())
    };
    let (was, is): (Vec<_>, Vec<_>) = (was.iter().map(parts).collect(), is.iter().map(parts).collect());
    let at =
        |values: &[(String, String)], place: &str| values.iter().find(|(at, _)| at == place).map(|(_, v)| v.clone());
    let kind = CauseKind::EventValue;
    for (place, before) in was.iter().filter(|(place, _)| !place.is_empty()) {
        match at(&is, place) {
            None => return Different::of(kind, place, format!("has no value at `/{place}`, which was {before}")),
            Some(now) if now != *before => {
                let (before, now) = apart(before, &now, VALUE);
                return Different::of(kind, place, format!("has a different `/{place}`: {now}, not {before}"));
            }
            Some(_) => {}
        }
    }
    if let Some((place, now)) = is.iter().find(|(place, _)| !place.is_empty() && at(&was, place).is_none()) {
        return Different::of(kind, place, format!("has a value at `/{place}` that the golden lacks: {now}"));
    }
    // Lines of text have no places.
    let lines = |values: &[(String, String)]| values.iter().map(|(_, text)| text.clone()).collect::<Vec<_>>();
    let (was, is) = (lines(&was), lines(&is));
    let first = was.iter().zip(&is).position(|(a, b)| a != b).unwrap_or(was.len().min(is.len()));
    let line = |lines: &[String]| lines.get(first).cloned().unwrap_or_else(|| "nothing".to_owned());
    let (before, now) = apart(&line(&was), &line(&is), VALUE);
    Different::of(kind, "lines", format!("has a different line {}: {now}, not {before}", first + 1))
}

/// Describes the first text of collapsed events that differs.
fn text(was: &[&str], is: &[&str]) -> Different {
    // Each place with its text. A line that says that no text is held has no place.
    let texts = |lines: &[&str]| -> Vec<(String, String)> {
        let of_line = |line: &&str| {
            let (places, text) = read_line(line).unwrap_or((Vec::new(), line));
            places.into_iter().map(|held| (held.path.to_string(), text.to_owned())).collect::<Vec<_>>()
        };
        lines.iter().flat_map(of_line).collect()
    };
    let was_lines = was;
    let (was, is) = (texts(was), texts(is));
    let gone = was.iter().find(|text| !is.contains(text));
    let come = is.iter().filter(|text| !was.contains(text));
    let at_same_place = gone.and_then(|(place, _)| come.clone().find(|(now, _)| now == place));
    let lane = |lines: &[&str]| {
        let held = lines.iter().filter_map(|line| read_line(line)).flat_map(|(held, _)| held);
        held.flat_map(|held| held.lanes).find_map(|lane| match lane {
            Lane::Value(path) => Some(path.to_string()),
            Lane::Position => None,
        })
    };
    let by = lane(was_lines);
    let said = |place: &str, what: String| Different { by, ..Different::of(CauseKind::EventValue, place, what) };
    match (gone, at_same_place.or(come.clone().next())) {
        (Some((place, before)), Some((now, text))) if place == now => {
            let (before, text) = parted(before, text);
            said(place, format!("has a different text at `{place}`: {text}, not {before}"))
        }
        (Some((place, before)), _) => said(place, format!("lacks the text at `{place}`: {}", parted(before, "").0)),
        (None, Some((place, text))) => {
            said(place, format!("has a text at `{place}` that the golden lacks: {}", parted(text, "").0))
        }
        (None, None) => said("", "has the same texts in a different order or number".to_owned()),
    }
}

/// Returns two texts with their lengths and hashes, which differ even if the beginnings that a golden keeps are the same.
fn parted(one: &str, other: &str) -> (String, String) {
    let parts = |text: &'_ str| {
        let (start, numbers) = text.rsplit_once(" (").unwrap_or((text, ""));
        (start.to_owned(), if numbers.is_empty() { String::new() } else { format!(" ({numbers}") })
    };
    let ((one, of_one), (other, of_other)) = (parts(one), parts(other));
    let (one, other) = apart(&one, &other, VALUE);
    (one + &of_one, other + &of_other)
}
