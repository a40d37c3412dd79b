//! What differs between two events of one name: keys, values, texts, the lengths of lists.

use std::collections::BTreeSet;

use super::sequence::{Aligned, Event, NAMELESS};
use super::{Change, Subject, VALUE, What, is_body};
use crate::events::golden::{Shown, Text, Top};
use crate::events::held::{Lane, Manner};
use retake_base::cause::CauseKind;
use retake_base::text::apart;

/// Returns the changes of events whose trees are the same. The same place of later events of the name is not told again.
pub(super) fn changes(aligned: &Aligned<'_>) -> Vec<Change> {
    let mut found: Vec<Change> = Vec::new();
    let mut others: Vec<(&str, String)> = Vec::new();
    for (was, is) in aligned.pairs() {
        let mut subject = Subject::of(aligned.of, was.label);
        if was.label == NAMELESS && was.keys != is.keys && matches!(was.keys, Top::Keys(_)) {
            // Nameless events are told apart by their keys.
            subject = Subject::Event(format!("{NAMELESS} {}", was.keys));
        }
        let Some(mut change) = difference(subject, was, is) else { continue };
        if change.place.is_empty() && !is_body(was.label) && !others.iter().any(|(label, _)| *label == was.label) {
            others.push((was.label, is.top.to_string()));
        }
        if is_body(was.label) {
            change.same.clone_from(&change.place);
        }
        if !found.iter().any(|known| known.is_at(&change)) {
            found.push(change);
        }
    }
    // If several kinds of events became the same, that is one change, and their values are gone with it.
    if let [(_, first), _, ..] = &others[..]
        && others.iter().all(|(_, top)| top == first)
    {
        let names: Vec<String> = others.iter().map(|(label, _)| format!("`{label}`")).collect();
        found.retain(|change| !change.place.is_empty() && change.kind() != CauseKind::EventValue);
        let change = Change::of_response(What::SameNow).between(names.join(", "), first);
        found.insert(0, Change { same: format!("now {first}"), ..change });
    }
    // Lists are as long as the events before them made them.
    if found.iter().any(|change| change.what != What::Length) {
        found.retain(|change| change.what != What::Length);
    }
    found
}

/// Replaces a change of a tree by what the events themselves say of a key: that some of them have lost or got it.
pub(super) fn by_events(mut of_trees: Vec<Change>, aligned: &Aligned<'_>) -> Vec<Change> {
    for (was, is) in aligned.pairs().filter(|(was, is)| was.keys != is.keys) {
        let found = difference(Subject::of(aligned.of, was.label), was, is);
        let Some(found) = found.filter(|found| !found.place.is_empty()) else { continue };
        let is_swap = found.what == What::Keys && !found.before.is_empty() && !found.now.is_empty();
        let of_null = |change: &Change| matches!(change.what, What::NullGone | What::NullNew);
        let there = of_trees.iter_mut().find(|change| change.is_at(&found) && !of_null(change));
        if let Some(change) = there.filter(|_| !is_swap) {
            (change.what, change.before, change.now, change.more) = (found.what, found.before, found.now, 0);
        }
    }
    of_trees
}

/// The place of a list's length.
const LENGTH: &str = "#length";

fn difference(subject: Subject, was: &Event<'_>, is: &Event<'_>) -> Option<Change> {
    let change = |what, place: String| Change::new(what, subject.clone(), place);
    if was.keys != is.keys {
        let (Top::Keys(old), Top::Keys(new)) = (&was.keys, &is.keys) else {
            return Some(change(What::Top, String::new()).between(was.keys.to_string(), is.keys.to_string()));
        };
        let names = |keys: &[(String, _)]| keys.iter().map(|(key, _)| key.clone()).collect::<BTreeSet<_>>();
        let (old, new) = (names(old), names(new));
        let (gone, come): (Vec<_>, Vec<_>) = (old.difference(&new).collect(), new.difference(&old).collect());
        let place = gone.first().or(come.first()).map_or_else(String::new, |key| format!("/{key}"));
        return Some(match (&gone[..], &come[..]) {
            _ if was.label == NAMELESS => change(What::NamelessTop, place).between("", is.keys.to_string()),
            ([] | [_], [] | [_]) => {
                let key = |keys: &[&String]| keys.first().map(|key| (*key).clone()).unwrap_or_default();
                change(What::Keys, place).between(key(&gone), key(&come))
            }
            _ => change(What::Top, place).between(was.keys.to_string(), is.keys.to_string()),
        });
    }
    if was.values != is.values && !is.is_any {
        let others = |shown: &[Shown]| -> Vec<Shown> {
            shown.iter().filter(|shown| !matches!(shown, Shown::Text(..))).cloned().collect()
        };
        let is_text = *was.top == Top::Collapsed || others(was.values) == others(is.values);
        return Some(if is_text {
            text(subject, was.values, is.values)
        } else {
            value(&subject, was.values, is.values)
        });
    }
    // One line for several events has the lengths of all of them.
    (was.top != is.top && was.is_of_several == is.is_of_several)
        .then(|| change(What::Length, LENGTH.to_owned()).between(was.top.to_string(), is.top.to_string()))
}

/// Finds the first value that differs.
fn value(subject: &Subject, was: &[Shown], is: &[Shown]) -> Change {
    let values = |shown: &[Shown]| -> Vec<(String, String)> {
        let value = |shown: &Shown| match shown {
            Shown::Value(pointer, value) => Some((pointer.trim_start_matches('/').to_owned(), value.clone())),
            _ => None,
        };
        shown.iter().filter_map(value).collect()
    };
    let (old, new) = (values(was), values(is));
    let at = |values: &[(String, String)], place: &str| {
        values.iter().find(|(at, _)| at == place).map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let differing = old.iter().chain(&new).find(|(place, _)| at(&old, place) != at(&new, place));
    if let Some((place, _)) = differing {
        return Change::new(What::Value, subject.clone(), place).between(at(&old, place), at(&new, place));
    }
    // Lines of text have no places.
    let first = was.iter().zip(is).position(|(a, b)| a != b).unwrap_or(was.len().min(is.len()));
    let line = |lines: &[Shown]| lines.get(first).map_or_else(|| "nothing".to_owned(), ToString::to_string);
    Change { more: first, ..Change::new(What::TextLine, subject.clone(), "lines").between(line(was), line(is)) }
}

/// Finds the first text of collapsed events that differs.
fn text(subject: Subject, was: &[Shown], is: &[Shown]) -> Change {
    // Each place with its text. What says that no text is held has no place.
    let texts = |shown: &[Shown]| -> Vec<(String, Text)> {
        let each = |shown: &Shown| match shown {
            Shown::Text(places, text) if places.is_empty() => vec![(String::new(), text.clone())],
            Shown::Text(places, text) => places.iter().map(|held| (held.path.to_string(), text.clone())).collect(),
            _ => Vec::new(),
        };
        shown.iter().flat_map(each).collect()
    };
    let (old, new) = (texts(was), texts(is));
    let gone = old.iter().find(|text| !new.contains(text));
    let come: Vec<&(String, Text)> = new.iter().filter(|text| !old.contains(text)).collect();
    let same_place = gone.and_then(|(place, _)| come.iter().find(|(now, _)| now == place));
    let places = was.iter().filter_map(|shown| if let Shown::Text(places, _) = shown { Some(places) } else { None });
    let mut lanes = places.flatten().flat_map(|held| &held.lanes);
    let by = lanes.find_map(|lane| if let Lane::Value(path) = lane { Some(path.to_string()) } else { None });
    let change = |what, place: &str| Change { by, ..Change::new(what, subject, place) };
    match (gone, same_place.or(come.first())) {
        (Some((place, before)), Some((now, text))) if place == now && before.bare() == text.bare() => {
            change(What::Manner(before.manner(), text.manner()), place)
        }
        (Some((place, text @ Text::Turns(..))), _) => {
            let now = same_place.map(|(_, text)| text.clone());
            let shown = now.as_ref().map_or_else(String::new, Text::to_string);
            Change { words: Some((text.clone(), now)), ..change(What::Words, place).between(text.to_string(), shown) }
        }
        (Some((place, before)), Some((now, text))) if place == now => {
            let (before, text) = before.apart(text);
            change(What::Text, place).between(before, text)
        }
        (Some((place, before)), _) => change(What::Text, place).between(before.apart(&Text::none()).0, ""),
        (None, Some((place, turn @ Text::Turns(..)))) => {
            let words = Some((turn.clone(), Some(turn.clone())));
            Change { words, ..change(What::Text, place).between("", turn.to_string()) }
        }
        (None, Some((place, text))) => change(What::Text, place).between("", text.apart(&Text::none()).0),
        (None, None) => change(What::TextOrder, ""),
    }
}

impl Text {
    fn none() -> Text {
        Text::More(0, String::new())
    }

    /// Returns it without how it comes.
    fn bare(&self) -> Text {
        match self.clone() {
            Text::Start(start, count, hash, _) => Text::Start(start, count, hash, Manner::default()),
            Text::Turns(told, Manner { in_pieces, grows, .. }) => {
                Text::Turns(told, Manner { in_pieces: in_pieces || grows, ..Manner::default() })
            }
            more @ Text::More(..) => more,
        }
    }

    /// Returns two texts with their lengths and hashes, which differ even if the beginnings that a golden keeps are the same.
    fn apart(&self, other: &Text) -> (String, String) {
        let parts = |text: &Text| match text {
            Text::Start(start, count, hash, manner) => (start.clone(), format!(" ({count}, {hash}{manner})")),
            Text::More(0, _) => (String::new(), String::new()),
            Text::More(..) | Text::Turns(..) => (text.to_string(), String::new()),
        };
        let ((one, of_one), (two, of_two)) = (parts(self), parts(other));
        let (one, two) = apart(&one, &two, VALUE);
        (one + &of_one, two + &of_two)
    }
}
