//! Where a capture can be changed, and how each change is made.

use std::collections::BTreeMap;

use super::kind::Kind;
use super::payload::{self, Spot, other_text};
use retake_core::events::{Captured, Event, Payload, Status, is_held_header, is_id};
use retake_core::json::{Json, Layout};

/// A place in the captures of a run, and the change that is made there.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) kind: Kind,
    pub(super) capture: usize,
    /// The name of the changed event; empty if the change does not concern a single event.
    pub(super) event: String,
    /// The name of a header, or the place in the event's payload, as a JSON pointer in which `*` stands for each element of a list.
    pub(super) pointer: String,
    edit: Edit,
}

#[derive(Clone, Debug)]
enum Edit {
    Drop(usize),
    Repeat(usize),
    /// Swaps the events at these two indexes.
    Swap(usize, usize),
    Rename(usize),
    Payload(usize, Spot),
    /// Changes the text of a payload that is not JSON.
    Text(usize),
    /// Changes the letters of these texts: each is an event, and the path in its payload.
    Letters(Vec<TextAt>),
    SwapIds(TextAt, TextAt),
    /// Drops this event and all that follow.
    CutBefore(usize),
    /// Cuts the body off in the middle.
    CutInside(usize),
    Status,
    ContentType,
    /// Drops an attribute, given by its index, of the header at an index.
    Attribute(usize, usize),
}

/// A text in a payload: the index of its event, and its path.
type TextAt = (usize, String);

/// The unchanged captures. Their payloads are printed in one way, so that a changed capture differs in nothing but the change.
pub(super) struct Base {
    pub(super) captures: Vec<Captured>,
    /// For each capture, the parsed payloads of its events, including the events that came after its last one.
    payloads: Vec<Vec<Option<Json>>>,
}

impl Base {
    pub(super) fn of(captures: &[Captured]) -> Base {
        let mut captures = captures.to_vec();
        let payloads = |capture: &mut Captured| {
            capture.events.iter_mut().chain(&mut capture.after.events).map(reprinted).collect()
        };
        let payloads = captures.iter_mut().map(payloads).collect();
        Base { captures, payloads }
    }

    /// Returns all places at which something can be changed, capture by capture.
    pub(super) fn sites(&self, is_own: &dyn Fn(&str, &str) -> bool, is_said: &dyn Fn(&str) -> bool) -> Vec<Site> {
        (0..self.captures.len()).flat_map(|capture| self.sites_of(capture, is_own, is_said)).collect()
    }

    fn sites_of(&self, index: usize, is_own: &dyn Fn(&str, &str) -> bool, is_said: &dyn Fn(&str) -> bool) -> Vec<Site> {
        let capture = &self.captures[index];
        if capture.tree.is_some() {
            // The golden of a page holds its text word for word, so every change would be noticed.
            return Vec::new();
        }
        let mut sites = Vec::new();
        let events: Vec<&Event> = capture.events.iter().chain(&capture.after.events).collect();
        let real: Vec<usize> = (0..events.len()).filter(|at| events[*at].is_real()).collect();
        let labels: Vec<String> = events.iter().map(|event| event.label().into_owned()).collect();
        let site = |kind, event: Option<usize>, pointer: String, edit| {
            let event = event.map(|event| labels[event].clone()).unwrap_or_default();
            Site { kind, capture: index, event, pointer, edit }
        };
        let whole = |kind, event, edit| site(kind, event, String::new(), edit);
        sites.push(whole(Kind::Status, None, Edit::Status));
        sites.push(whole(Kind::ContentType, None, Edit::ContentType));
        for (at, (name, value)) in capture.delivery.headers.iter().enumerate() {
            // The first part of a cookie is its name.
            let named = usize::from(name == "set-cookie");
            let attributes = if is_held_header(name) { attributes(name, value).len() } else { 0 };
            let dropped = |nth| site(Kind::DropHeaderPart, None, name.clone(), Edit::Attribute(at, nth));
            sites.extend((named..attributes).map(dropped));
        }
        if is_body(capture) {
            sites.extend(real.iter().map(|at| whole(Kind::CutTail, Some(*at), Edit::CutInside(*at))));
        } else {
            for at in &real {
                sites.push(whole(Kind::DropEvent, Some(*at), Edit::Drop(*at)));
                sites.push(whole(Kind::RepeatEvent, Some(*at), Edit::Repeat(*at)));
                sites.push(whole(Kind::RenameEvent, Some(*at), Edit::Rename(*at)));
            }
            let pairs = real.iter().zip(real.iter().skip(1));
            sites.extend(pairs.map(|(a, b)| whole(Kind::SwapEvents, Some(*a), Edit::Swap(*a, *b))));
            sites.extend(real.iter().skip(1).map(|at| whole(Kind::CutTail, Some(*at), Edit::CutBefore(*at))));
        }
        let mut ids: Vec<(TextAt, String, &str)> = Vec::new();
        for at in real {
            let Some(json) = &self.payloads[index][at] else {
                if matches!(&events[at].payload, Payload::Data(_)) {
                    sites.push(whole(Kind::ChangeValue, Some(at), Edit::Text(at)));
                }
                continue;
            };
            for spot in payload::spots(json, is_own) {
                let text = json.pointer(&spot.at).filter(|_| spot.kind == Kind::ChangeValue).and_then(Json::as_str);
                if let Some(id) = text.filter(|text| is_id(text)) {
                    ids.push(((at, spot.at.clone()), spot.shown.clone(), id));
                }
                let kind = if text.is_some_and(is_said) { Kind::ChangeText } else { spot.kind };
                sites.push(site(kind, Some(at), spot.shown.clone(), Edit::Payload(at, spot)));
            }
        }
        for (at, (a, shown, id)) in ids.iter().enumerate() {
            if let Some((b, ..)) = ids[at + 1..].iter().find(|(.., other)| other != id) {
                sites.push(site(Kind::SwapIds, Some(a.0), shown.clone(), Edit::SwapIds(a.clone(), b.clone())));
            }
        }
        sites
    }

    /// Returns the places of the texts that collapsed events may deliver in pieces: strings that differ from event to event, or
    /// contain white space, and are not ids.
    pub(super) fn texts(&self, is_collapsed: &dyn Fn(&str) -> bool) -> Vec<Site> {
        let mut sites = Vec::new();
        for (capture, captured) in self.captures.iter().enumerate() {
            let events = captured.events.iter().chain(&captured.after.events).enumerate();
            let mut places: BTreeMap<(String, String), Vec<TextAt>> = BTreeMap::new();
            for (at, event) in events.filter(|(_, event)| event.is_real()) {
                let label = event.label();
                if !is_collapsed(&label) {
                    continue;
                }
                let spots = |json| payload::spots(json, &|_, _| false);
                // A payload that is not JSON is a text.
                let text = || vec![Spot { kind: Kind::ChangeValue, at: String::new(), shown: String::new() }];
                let spots = self.payloads[capture][at].as_ref().map_or_else(text, spots);
                for spot in spots.into_iter().filter(|spot| spot.kind == Kind::ChangeValue) {
                    if self.text_at(capture, at, &spot.at).is_some() {
                        places.entry((label.clone().into_owned(), spot.shown)).or_default().push((at, spot.at));
                    }
                }
            }
            for ((event, pointer), strings) in places {
                let texts: Vec<&str> =
                    strings.iter().filter_map(|(at, path)| self.text_at(capture, *at, path)).collect();
                let is_text = |text: &&str| **text != *texts[0] || text.contains(char::is_whitespace);
                if texts.iter().any(is_text) && !texts.iter().all(|text| is_id(text)) {
                    sites.push(Site { kind: Kind::ChangeText, capture, event, pointer, edit: Edit::Letters(strings) });
                }
            }
        }
        sites
    }

    fn text_at(&self, capture: usize, event: usize, at: &str) -> Option<&str> {
        if let Some(json) = &self.payloads[capture][event] {
            return json.pointer(at)?.as_str();
        }
        let Captured { events, after, .. } = &self.captures[capture];
        let Payload::Data(text) = &events.iter().chain(&after.events).nth(event)?.payload else { return None };
        Some(text)
    }

    /// Returns the capture with the change made, or `None` if the change is not possible there.
    pub(super) fn changed(&self, site: &Site) -> Option<Captured> {
        let mut changed = self.captures[site.capture].clone();
        let mut first = changed.events.len();
        let mut events = std::mem::take(&mut changed.events);
        events.append(&mut changed.after.events);
        let json = |event: usize| self.payloads[site.capture][event].as_ref();
        match &site.edit {
            Edit::Drop(at) => {
                events.remove(*at);
                first -= usize::from(*at < first);
            }
            Edit::Repeat(at) => {
                events.insert(*at, events[*at].clone());
                first += usize::from(*at < first);
            }
            Edit::Swap(a, b) => events.swap(*a, *b),
            Edit::Rename(at) => events[*at].name = Some(format!("{}_renamed", site.event).into()),
            Edit::Payload(at, spot) => set(&mut events[*at], &payload::changed(json(*at)?, spot)?),
            Edit::Text(at) => {
                let Payload::Data(text) = &events[*at].payload else { return None };
                events[*at].payload = Payload::Data(other_text(text).into());
            }
            Edit::Letters(places) => {
                for (at, path) in places {
                    let text = other_letters(self.text_at(site.capture, *at, path)?);
                    let Some(json) = json(*at) else {
                        events[*at].payload = Payload::Data(text.into());
                        continue;
                    };
                    // Several places can be in one event.
                    let mut json = events[*at].json().unwrap_or_else(|| json.clone());
                    *payload::value_at(&mut json, path)? = Json::Str(text);
                    set(&mut events[*at], &json);
                }
            }
            Edit::SwapIds(a, b) => {
                let ((at, path), (other_at, other_path)) = (a, b);
                let mut one = json(*at)?.clone();
                *payload::value_at(&mut one, path)? = Json::from(self.text_at(site.capture, *other_at, other_path)?);
                let mut other = if at == other_at { one.clone() } else { json(*other_at)?.clone() };
                *payload::value_at(&mut other, other_path)? = Json::from(self.text_at(site.capture, *at, path)?);
                set(&mut events[*at], &one);
                set(&mut events[*other_at], &other);
            }
            Edit::CutBefore(at) => events.truncate(*at),
            Edit::CutInside(at) => {
                let Payload::Data(text) = &events[*at].payload else { return None };
                let half = text.char_indices().nth(text.chars().count() / 2)?.0;
                events[*at].payload = if half == 0 { Payload::Empty } else { Payload::Data(text[..half].into()) };
            }
            Edit::Attribute(at, nth) => {
                let (name, value) = changed.delivery.headers.get_mut(*at)?;
                let mut parts = attributes(name, value);
                parts.remove(*nth);
                *value = parts.join(if name == "set-cookie" { "; " } else { ", " });
                if parts.is_empty() {
                    changed.delivery.headers.remove(*at);
                }
            }
            Edit::Status => {
                changed.status = match changed.status {
                    Status::Http(500) => Status::Http(200),
                    Status::Http(_) => Status::Http(500),
                    Status::Exit(code) => Status::Exit(i32::from(code == 0)),
                }
            }
            Edit::ContentType => {
                let is_text = changed.content_type.starts_with("text/plain");
                changed.content_type = String::from(if is_text { "application/json" } else { "text/plain" });
            }
        }
        changed.after.events = events.split_off(first.min(events.len()));
        changed.events = events;
        Some(changed)
    }
}

impl Site {
    /// The class of the place: a reader of the golden would take places of one class for the same place.
    pub(super) fn class(&self) -> String {
        format!("{}\n{}\n{}", self.capture, self.event, self.pointer)
    }
}

/// Returns the parts of a header's value.
fn attributes(name: &str, value: &str) -> Vec<String> {
    let between = if name == "set-cookie" { ';' } else { ',' };
    value.split(between).map(|part| part.trim().to_owned()).collect()
}

/// Whether a capture is an ordinary response rather than a stream.
fn is_body(capture: &Captured) -> bool {
    matches!(&capture.events[..], [event] if event.is_body())
}

/// Returns a text with its lower-case letters in upper case, or the other way round if it has none.
fn other_letters(text: &str) -> String {
    if text.contains(char::is_lowercase) { text.to_uppercase() } else { text.to_lowercase() }
}

fn reprinted(event: &mut Event) -> Option<Json> {
    let json = event.json()?;
    set(event, &json);
    Some(json)
}

fn set(event: &mut Event, json: &Json) {
    event.payload = Payload::Data(json.print(Layout::Compact).into());
}
