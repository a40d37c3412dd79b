//! Describes what changed between two goldens: the status, the content type, the body, events that are missing, extra, renamed
//! or moved, and the place of a changed shape. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::held::read_line;
use super::written::{IN_PIECES, Written, WrittenEvent, WrittenKey, read};
use retake_base::cause::{Cause, CauseKind};
use retake_base::text::clipped;

/// The largest number of characters of a value in a description.
const VALUE: usize = 40;

/// One change between two goldens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The description, for the first line of a failure.
    pub cause: Cause,
    /// Whether the change only removes something, as when the system did less.
    pub is_less: bool,
}

/// Returns the changes from a golden to the text of a run, in the order of the responses. Empty if they are the same.
pub fn changes(golden: &str, run: &str) -> Vec<Change> {
    if golden.trim_end() == run.trim_end() {
        return Vec::new();
    }
    let mut found = Found(Vec::new());
    let (old, new) = (read(golden), read(run));
    for (old, new) in old.iter().zip(&new) {
        found.compare(old, new);
    }
    for missing in old.iter().skip(new.len()) {
        found.add(CauseKind::EventMissing, format!("the response to `{}` is missing", missing.request));
    }
    for extra in new.iter().skip(old.len()) {
        found.add(CauseKind::EventExtra, format!("the response to `{}` is not in the golden", extra.request));
    }
    if found.0.is_empty() {
        found.add(CauseKind::EventShape, "the run differs from the golden".to_owned());
    }
    found.0
}

/// Like [`changes`], for a run that broke off. Only what came before the break is compared, so nothing after it counts as
/// missing. `came` has the names of the events in the response that broke off.
pub fn changes_until_break(golden: &str, run: &str, came: &[&str]) -> Vec<Change> {
    let mut found = Found(Vec::new());
    let (mut old, new) = (read(golden), read(run));
    for new in &new {
        let Some(at) = old.iter().position(|old| old.request == new.request) else { continue };
        found.compare(&old.remove(at), new);
    }
    let known = |name: &str| old.iter().any(|part| part.events.iter().any(|event| event.label == name));
    if old.iter().any(|part| !part.events.is_empty()) {
        for name in came.iter().filter(|name| !known(name)) {
            found.add(CauseKind::EventExtra, format!("the event `{name}` came, which the golden lacks"));
        }
    }
    found.0
}

/// Returns the names of the events whose positions differ between two goldens, and the names of those whose numbers differ.
pub fn moved_and_counted(one: &str, other: &str) -> (Vec<String>, Vec<String>) {
    let (mut moved, mut counted) = (BTreeSet::new(), BTreeSet::new());
    for (one, other) in read(one).iter().zip(&read(other)) {
        let (before, after) = (counts(&one.events), counts(&other.events));
        let varies = |label: &str| before.get(label) != after.get(label);
        counted.extend(before.keys().filter(|label| varies(label)).map(|label| (*label).to_owned()));
        let each = |written: &Written<'_>| -> Vec<(String, String)> {
            let events = written.events.iter().filter(|event| !varies(event.label));
            events.flat_map(|event| vec![(event.label.to_owned(), event.rest.to_owned()); event.times]).collect()
        };
        let (a, b) = (each(one), each(other));
        let differing = a.iter().zip(&b).filter(|(a, b)| a != b);
        moved.extend(differing.flat_map(|(a, b)| [a.0.clone(), b.0.clone()]));
    }
    (moved.into_iter().collect(), counted.into_iter().collect())
}

/// Returns the names of the events at which two goldens differ, and of their neighbours: events that change places with a run of
/// collapsed events are the same in both.
pub fn tangled(one: &str, other: &str) -> Vec<String> {
    let mut names = BTreeSet::new();
    for (one, other) in read(one).iter().zip(&read(other)) {
        let (a, b) = (one_by_one(one), one_by_one(other));
        let before = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
        let most = a.len().min(b.len()) - before;
        let after = a.iter().rev().zip(b.iter().rev()).take(most).take_while(|(a, b)| a == b).count();
        if before + after == a.len().max(b.len()) {
            continue;
        }
        for events in [a, b] {
            let end = (events.len() - after + 1).min(events.len());
            names.extend(events[before.saturating_sub(1)..end].iter().map(|event| event.label.to_owned()));
        }
    }
    names.into_iter().collect()
}

/// Returns the events of a sequence, each as often as it repeats.
fn one_by_one<'a>(written: &Written<'a>) -> Vec<WrittenEvent<'a>> {
    let events = written.events.iter();
    events.flat_map(|event| vec![WrittenEvent { times: 1, ..event.clone() }; event.times]).collect()
}

struct Found(Vec<Change>);

impl Found {
    fn add(&mut self, kind: CauseKind, what: String) {
        self.push(Change { cause: Cause::new(kind, what), is_less: kind == CauseKind::EventMissing });
    }

    fn push(&mut self, change: Change) {
        if !self.0.iter().any(|known| known.cause == change.cause) {
            self.0.push(change);
        }
    }

    fn compare(&mut self, old: &Written<'_>, new: &Written<'_>) {
        if old.request != new.request {
            return self.add(CauseKind::EventShape, format!("the request is `{}`, not `{}`", new.request, old.request));
        }
        if old.status != new.status {
            self.add(CauseKind::Status, format!("the status is {}, not {}", new.status, old.status));
        }
        if old.content_type != new.content_type {
            // The text after the content type says whether events have ids.
            let (was_pieces, is_pieces) =
                (old.content_type.ends_with(IN_PIECES), new.content_type.ends_with(IN_PIECES));
            if was_pieces && !is_pieces {
                self.add(
                    CauseKind::EventShape,
                    "the stream comes in one piece at its end, not event by event".to_owned(),
                );
            } else if is_pieces && !was_pieces {
                self.add(
                    CauseKind::EventShape,
                    "the stream comes event by event, not in one piece at its end".to_owned(),
                );
            }
            let parts = |text: &'_ str| {
                let text = text.strip_suffix(IN_PIECES).unwrap_or(text);
                let (media, more) = text.split_once(", ").unwrap_or((text, ""));
                let named = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
                (named(media), named(more))
            };
            let ((is, is_more), (was, was_more)) = (parts(new.content_type), parts(old.content_type));
            if (&is, &is_more) == (&was, &was_more) {
                // Only the pieces differ.
            } else if is == was {
                self.add(
                    CauseKind::EventShape,
                    format!("the stream is {is_more}, not {was_more}").replace(" none", " as plain events"),
                );
            } else {
                self.add(CauseKind::ContentType, format!("the content type is {is}, not {was}"));
            }
        }
        if old.headers != new.headers {
            self.headers(old, new);
        }
        if old.tree != new.tree {
            self.tree(old, new);
        }
        let before = self.0.len();
        let renamed = self.labels(old, new);
        if renamed.is_empty() && self.0.len() == before {
            self.order(old, new);
        }
        if self.0.len() == before {
            self.shapes(old, new);
        }
        if self.0.len() == before {
            self.lines(old, new);
        }
    }

    /// Finds the first header that differs, and what it lost or got.
    fn headers(&mut self, old: &Written<'_>, new: &Written<'_>) {
        let gone = old.headers.iter().find(|line| !new.headers.contains(line));
        let come = new.headers.iter().find(|line| !old.headers.contains(line));
        let named = |line: &str| line.split(['=', ';']).next().unwrap_or_default().to_owned();
        let of = format!("the answer to `{}`", new.request);
        let what = match (gone, come) {
            (Some(was), Some(is)) if named(was) == named(is) => {
                let parts = |line: &str| line.split(';').map(|part| part.trim().to_owned()).collect::<BTreeSet<_>>();
                let (was_parts, is_parts) = (parts(was), parts(is));
                match (was_parts.difference(&is_parts).next(), is_parts.difference(&was_parts).next()) {
                    (Some(lost), None) => format!("`{}` of {of} lost `{lost}`", named(was)),
                    (None, Some(got)) => format!("`{}` of {of} has `{got}`, which the golden lacks", named(was)),
                    _ => format!("the header `{is}` of {of} was `{was}`"),
                }
            }
            (Some(was), Some(is)) => format!("the header `{is}` of {of} was `{was}`"),
            (Some(was), None) => format!("{of} has no header `{was}`"),
            (None, Some(is)) => format!("{of} has the header `{is}`, which the golden lacks"),
            (None, None) => format!("{of} has a header more or less often"),
        };
        self.add(CauseKind::Header, what);
    }

    fn tree(&mut self, old: &Written<'_>, new: &Written<'_>) {
        let page = old.request;
        let gone = old.tree.iter().find(|line| !new.tree.contains(line));
        let come = new.tree.iter().find(|line| !old.tree.contains(line));
        let shown = |line: &&str| clipped(line.trim(), VALUE).into_owned();
        let what = match (gone, come) {
            (Some(gone), Some(come)) => format!("`{page}` shows `{}`, not `{}`", shown(come), shown(gone)),
            (Some(gone), None) => format!("`{page}` shows no `{}`", shown(gone)),
            (None, Some(come)) => format!("`{page}` shows `{}`, which the golden lacks", shown(come)),
            (None, None) => format!("`{page}` shows the same in a different order"),
        };
        self.add(CauseKind::EventShape, what);
    }

    /// Finds events that were renamed, or are missing or extra. Returns the new names.
    fn labels(&mut self, old: &Written<'_>, new: &Written<'_>) -> Vec<String> {
        let by_keys = nameless_differ(old) || nameless_differ(new);
        let (before, after) = (named(&old.events, by_keys), named(&new.events, by_keys));
        let only = |here: &BTreeMap<String, usize>, there: &BTreeMap<String, usize>| -> Vec<(String, usize)> {
            let only = here.iter().filter(|(label, _)| !there.contains_key(*label));
            only.map(|(label, times)| (label.clone(), *times)).collect()
        };
        // A renamed event still has the same payload.
        let rests = |of: &Written<'_>, label: &str| -> BTreeSet<String> {
            of.events.iter().filter(|event| event.label == label).map(|event| event.rest.to_owned()).collect()
        };
        let nameless = |label: &str| label.starts_with(NAMELESS);
        let alike =
            |was: &str, is: &str| nameless(was) && nameless(is) || !rests(old, was).is_disjoint(&rests(new, is));
        let (mut gone, mut come) = (only(&before, &after), only(&after, &before));
        let mut renamed = Vec::new();
        for (seen, verb) in [(&mut gone, "no longer"), (&mut come, "now")] {
            seen.retain(|(label, _)| {
                let Some(ending) = ending(label) else { return true };
                self.add(CauseKind::EventShape, format!("the stream {verb} {ending}"));
                false
            });
        }
        gone.retain(|(was, times)| {
            let Some(at) = come.iter().position(|(is, of)| of == times && alike(was, is)) else { return true };
            let (is, _) = come.remove(at);
            if nameless(was) {
                let keys = is.trim_start_matches(NAMELESS_LABEL).trim_start();
                self.add(CauseKind::EventShape, format!("the event `{was}` is `{keys}`"));
            } else {
                self.add(CauseKind::EventRenamed, format!("the event `{was}` is now called `{is}`"));
            }
            renamed.push(is);
            false
        });
        for (label, _) in gone {
            self.add(CauseKind::EventMissing, format!("the event `{label}` did not come"));
        }
        for (label, _) in come {
            self.add(CauseKind::EventExtra, format!("the event `{label}` came, which the golden lacks"));
        }
        for (label, times) in &before {
            let Some(now) = after.get(label).filter(|now| *now != times && !collapsed(old, label)) else { continue };
            let kind = if now < times { CauseKind::EventMissing } else { CauseKind::EventExtra };
            let often = if *now == 1 { "once".to_owned() } else { format!("{now} times") };
            self.add(
                kind,
                format!("the event `{label}` came {often}, not {times} times").replace("not 1 times", "not once"),
            );
        }
        renamed
    }

    /// Finds the event that moved, if the same events come in a different order.
    fn order(&mut self, old: &Written<'_>, new: &Written<'_>) {
        let labels = |written: &Written<'_>| -> Vec<String> {
            written.events.iter().flat_map(|event| vec![event.label.to_owned(); event.times]).collect()
        };
        let (old, new) = (labels(old), labels(new));
        let Some(at) = old.iter().zip(&new).position(|(a, b)| a != b) else { return };
        // The moved event is the one whose removal makes both lists equal.
        let without = |labels: &[String], at: usize| [&labels[..at], &labels[at + 1..]].concat();
        let (moved, now) = (0..new.len())
            .find(|to| *to != at && old[at] == new[*to] && without(&old, at) == without(&new, *to))
            .map_or((&new[at], at), |to| (&old[at], to));
        let place = if now == 0 { "first".to_owned() } else { format!("after `{}`", new[now - 1]) };
        self.add(CauseKind::EventOrder, format!("the event `{moved}` came in a different place: {place}"));
    }

    /// Finds the changed places in shapes: one change for each event.
    fn shapes(&mut self, old: &Written<'_>, new: &Written<'_>) {
        for was in &old.shapes {
            let Some(is) = new.shapes.iter().find(|is| is.label == was.label) else { continue };
            let places = places(&was.keys, &is.keys);
            if let Some(((first, _), more)) = places.split_first() {
                let is_less = places.iter().all(|(_, gone)| *gone);
                let more = if more.is_empty() { String::new() } else { format!(", and {} more", more.len()) };
                self.shape(old, was.label, &format!("{first}{more}"), is_less);
            } else if was.what != is.what {
                let (is, before) = (clipped(is.what, VALUE), clipped(was.what, VALUE));
                self.shape(old, was.label, &format!("it is `{is}`, not `{before}`"), false);
            } else if was.hash != is.hash {
                let (kind, subject) = subject(old, was.label, CauseKind::EventValue);
                self.add(
                    kind,
                    format!("{subject} has the same values, but at different places, in a different order or number"),
                );
            }
        }
    }

    fn shape(&mut self, of: &Written<'_>, label: &str, place: &str, is_less: bool) {
        let (kind, subject) = subject(of, label, CauseKind::EventShape);
        self.push(Change { cause: Cause::new(kind, format!("{subject} has a different shape: {place}")), is_less });
    }

    /// Finds lines with different keys or values, if events and shapes are the same.
    fn lines(&mut self, old: &Written<'_>, new: &Written<'_>) {
        for (was, is) in old.events.iter().zip(&new.events).filter(|(was, is)| was != is) {
            let (_, subject) = subject(old, was.label, CauseKind::EventValue);
            let kind = |of_event| if was.label == "body" { CauseKind::Body } else { of_event };
            if was.rest != is.rest {
                let (was, is) = (clipped(was.rest, VALUE), clipped(is.rest, VALUE));
                self.add(kind(CauseKind::EventShape), format!("{subject} is `{is}`, not `{was}`"));
            } else if was.times != is.times {
                self.add(
                    kind(CauseKind::EventExtra),
                    format!("{subject} came {} times in a row, not {}", is.times, was.times),
                );
            } else if was.rest == "…" {
                self.add(kind(CauseKind::EventValue), text_change(&subject, &was.values, &is.values));
            } else if let Some((was, is)) = was.values.iter().zip(&is.values).find(|(was, is)| was != is) {
                let (place, value) = is.split_once(" = ").unwrap_or((is, ""));
                let before = was.split_once(" = ").map_or(*was, |(_, value)| value);
                let place = format!("/{}", place.trim_start_matches('/'));
                let (before, value) = (clipped(before, VALUE), clipped(value, VALUE));
                self.add(
                    kind(CauseKind::EventValue),
                    format!("{subject} has a different `{place}`: {value}, not {before}"),
                );
            } else {
                self.add(kind(CauseKind::EventValue), format!("{subject} has different values"));
            }
        }
    }
}

/// Returns a description of the first text of collapsed events that differs.
fn text_change(subject: &str, was: &[&str], is: &[&str]) -> String {
    // Each place with its text. A line that says that no text is held has no place.
    let texts = |lines: &[&str]| -> Vec<(String, String)> {
        let of_line = |line: &&str| {
            let (places, text) = read_line(line).unwrap_or((Vec::new(), line));
            // The beginning may be the same, but not the length and the hash.
            let (start, numbers) = text.rsplit_once(" (").unwrap_or((text, ""));
            let text = format!("{} ({numbers}", clipped(start, VALUE));
            places.into_iter().map(move |held| (held.path.to_string(), text.clone())).collect::<Vec<_>>()
        };
        lines.iter().flat_map(of_line).collect()
    };
    let (was, is) = (texts(was), texts(is));
    let gone = was.iter().find(|text| !is.contains(text));
    let come = is.iter().filter(|text| !was.contains(text));
    let at_same_place = gone.and_then(|(place, _)| come.clone().find(|(now, _)| now == place));
    match (gone, at_same_place.or(come.clone().next())) {
        (Some((place, before)), Some((now, text))) if place == now => {
            format!("{subject} has a different text at `{place}`: {text}, not {before}")
        }
        (Some((place, before)), _) => format!("{subject} lacks the text at `{place}`: {before}"),
        (None, Some((place, text))) => format!("{subject} has a text at `{place}` that the golden lacks: {text}"),
        (None, None) => format!("{subject} has the same texts in a different order or number"),
    }
}

/// Returns a description of a label, and the kind of its change: `of_event`, unless the label is a body's.
fn subject(of: &Written<'_>, label: &str, of_event: CauseKind) -> (CauseKind, String) {
    if label == "body" {
        (CauseKind::Body, format!("the body of `{}`", of.request))
    } else {
        (of_event, format!("the event `{label}`"))
    }
}

/// The label of events that have neither a name nor a type.
const NAMELESS_LABEL: &str = "message";
/// The beginning of such a label if it includes the keys, to distinguish these events.
const NAMELESS: &str = "message {";

/// Whether events without a name have different keys.
fn nameless_differ(written: &Written<'_>) -> bool {
    let of = written.events.iter().filter(|event| event.label == NAMELESS_LABEL && event.rest.starts_with('{'));
    of.map(|event| keys_of(event.rest)).collect::<BTreeSet<_>>().len() > 1
}

/// Returns the keys of an event as they are written, without the lengths of lists.
fn keys_of(rest: &str) -> String {
    let mut depth = 0;
    rest.chars()
        .filter(|c| {
            depth += usize::from(*c == '[');
            let kept = depth == 0;
            depth -= usize::from(*c == ']' && depth > 0);
            kept
        })
        .collect()
}

/// Counts the events by name. With `by_keys`, events without a name are counted by their keys.
fn named(events: &[WrittenEvent<'_>], by_keys: bool) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for event in events {
        let is_told_apart = by_keys && event.label == NAMELESS_LABEL && event.rest.starts_with('{');
        let keys = if is_told_apart { format!(" {}", keys_of(event.rest)) } else { String::new() };
        *counts.entry(format!("{}{keys}", event.label)).or_default() += event.times;
    }
    counts
}

fn counts<'a>(events: &[WrittenEvent<'a>]) -> BTreeMap<&'a str, usize> {
    let mut counts = BTreeMap::new();
    for event in events {
        *counts.entry(event.label).or_default() += event.times;
    }
    counts
}

/// Whether runs of an event are collapsed.
fn collapsed(written: &Written<'_>, label: &str) -> bool {
    written.events.iter().any(|event| event.label == label && event.rest.starts_with('…'))
}

/// Returns descriptions of the outermost places at which two trees differ, each with whether something is gone there.
fn places(old: &[WrittenKey<'_>], new: &[WrittenKey<'_>]) -> Vec<(String, bool)> {
    let find = |keys: &'_ [WrittenKey<'_>], path: &str| {
        keys.iter().find(|key| key.path == path).map(|key| key.what.to_owned())
    };
    let mut places: Vec<(String, String, bool)> = Vec::new();
    let mut add = |path: &str, words: String, gone: bool| {
        if !places.iter().any(|(above, ..)| path.starts_with(&format!("{above}/"))) {
            places.push((path.to_owned(), words, gone));
        }
    };
    for key in old {
        match find(new, &key.path) {
            None => add(&key.path, format!("`{}` is gone", key.path), true),
            Some(now) if now != key.what => {
                let (now, was) = (clipped(&now, VALUE), clipped(key.what, VALUE));
                add(&key.path, format!("`{}` is `{now}`, not `{was}`", key.path), false);
            }
            Some(_) => {}
        }
    }
    for key in new.iter().filter(|key| find(old, &key.path).is_none()) {
        add(&key.path, format!("`{}` is new", key.path), false);
    }
    rename(&mut places, old, new);
    places.into_iter().map(|(_, words, gone)| (words, gone)).collect()
}

/// Merges two places into one: a key that is gone and a new key, with the same shape in the same object, are a renamed key.
fn rename(places: &mut Vec<(String, String, bool)>, old: &[WrittenKey<'_>], new: &[WrittenKey<'_>]) {
    let [(gone, _, true), (come, _, false)] = &places[..] else { return };
    let what =
        |keys: &[WrittenKey<'_>], path: &str| keys.iter().find(|key| key.path == path).map(|key| key.what.to_owned());
    let place = |path: &str| path.rfind('/').map(|at| path[..at].to_owned());
    let is_new = what(old, come).is_none();
    if is_new && place(gone) == place(come) && what(old, gone) == what(new, come) {
        let words = format!("`{gone}` is now called `{come}`");
        *places = vec![(come.clone(), words, false)];
    }
}

/// Returns the description of how a stream ended, if the label is that of the line `(broke off)` or `(left open)`.
fn ending(label: &str) -> Option<&'static str> {
    match label {
        "(broke" => Some("breaks off"),
        "(left" => Some("stays open"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
