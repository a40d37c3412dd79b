//! The shape of a provider's responses, without their texts, and what differs between two shapes: those that were recorded, and
//! those that the provider sends today.
//!
//! The shape of a body is the set of (event type, path, type of the value), with the elements of a list merged, since their number
//! differs from answer to answer. Values in which the keys are data, such as the arguments of a tool, are closed: what differs
//! below them is listed, but is no change. Of a stream, the shape is also the order of its event types, and its framing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::parts::sse;
use super::{Body, Response};
use retake_core::json::Json;

/// The keys whose values have keys that are data: arguments of tools (Anthropic calls them `input`), headers, the user's own
/// metadata, JSON schemas that the request sent, and maps of tokens.
const DATA: [&str; 9] =
    ["arguments", "args", "input", "headers", "metadata", "parameters", "schema", "logit_bias", "token_logprobs"];

/// The events that providers send to keep a connection open, at any time or not at all.
const KEEP_ALIVE: [&str; 2] = ["ping", "keepalive"];

/// The end of a stream of Chat Completions.
const DONE: &str = "[DONE]";

/// The shape of some responses over one API.
#[derive(Clone, Debug, Default)]
pub struct WireShape {
    /// The types of the values at each place.
    fields: BTreeMap<Place, Kinds>,
    /// The same below closed values.
    data: BTreeMap<Place, Kinds>,
    /// Which event type came first before which other one, in any stream.
    order: BTreeSet<(String, String)>,
    /// Which event type directly follows which other one.
    neighbours: BTreeSet<(String, String)>,
    /// For each aspect of the framing the forms that were seen.
    framing: BTreeMap<String, BTreeSet<String>>,
}

type Kinds = BTreeSet<&'static str>;

/// A place in a response: the event type, unless the response is no stream, and the path in the JSON body.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    event: Option<String>,
    path: String,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.event.as_ref().map_or(Ok(()), |event| write!(f, "[{event}]"))?;
        f.write_str(&self.path)
    }
}

/// One difference between the recorded responses and today's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireChange {
    pub kind: WireChangeKind,
    /// Whether clients that were written for the recorded responses may break. Otherwise it is a note.
    pub breaks: bool,
    /// Where it is: `[message_delta]/delta/stop_details`, or an aspect of the framing.
    pub place: String,
    /// What was recorded: for a field, the types of its values.
    pub recorded: Vec<String>,
    pub today: Vec<String>,
}

/// The kinds of differences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WireChangeKind {
    /// A field or an event type no longer comes.
    Removed,
    /// A field has values of other types.
    Type,
    /// The response's form, or the framing of its stream.
    Framing,
    /// The order of event types.
    Order,
    /// A field or an event type is new.
    Added,
    /// Something differs where the keys are data.
    Data,
}

impl WireChangeKind {
    pub fn word(self) -> &'static str {
        match self {
            WireChangeKind::Removed => "removed",
            WireChangeKind::Type => "type",
            WireChangeKind::Framing => "framing",
            WireChangeKind::Order => "order",
            WireChangeKind::Added => "added",
            WireChangeKind::Data => "data",
        }
    }
}

impl fmt::Display for WireChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let WireChange { kind, place, .. } = self;
        let (recorded, today) = (self.recorded.join(" or "), self.today.join(" or "));
        match kind {
            WireChangeKind::Removed => write!(f, "{place} is no longer sent (recorded: {recorded})"),
            WireChangeKind::Added => write!(f, "{place} is new ({today})"),
            WireChangeKind::Data => {
                let or_nothing = |kinds: String| if kinds.is_empty() { "nothing".to_owned() } else { kinds };
                write!(f, "{place}: recorded {}, today {}", or_nothing(recorded), or_nothing(today))
            }
            _ => write!(f, "{place}: recorded {recorded}, today {today}"),
        }
    }
}

impl WireShape {
    pub fn add(&mut self, response: &Response) {
        match &response.body {
            Body::Frames(frames) => {
                let mut types = Vec::new();
                for frame in frames.iter() {
                    self.add_frame(frame, &mut types);
                }
                let lines = frames.iter().all(|frame| frame.trim_start().starts_with('{'));
                self.saw("form", if lines { "a stream of JSON lines" } else { "a stream of events" });
                if !lines {
                    let done = types.iter().any(|of| of == DONE);
                    self.saw(DONE, if done { "sent" } else { "not sent" });
                    let returns = frames.text().windows(2).any(|pair| pair == b"\r\n");
                    self.saw("line ends", if returns { "CR LF" } else { "LF" });
                }
                self.add_order(&types);
            }
            body => match body.value() {
                Some(json) => {
                    self.saw("form", "JSON");
                    self.add_json(None, &json);
                }
                None => self.saw("form", if matches!(body, Body::Binary(_)) { "bytes" } else { "text" }),
            },
        }
    }

    fn saw(&mut self, aspect: &str, form: &str) {
        self.framing.entry(aspect.to_owned()).or_default().insert(form.to_owned());
    }

    /// Adds a frame of a stream, and its event type to the others.
    fn add_frame(&mut self, frame: &str, types: &mut Vec<String>) {
        let lines: Vec<&str> = frame.trim_start_matches('\u{feff}').split(['\n', '\r']).collect();
        let field = |name: &str| lines.iter().find_map(|line| line.strip_prefix(name));
        if field(":").is_some() {
            self.saw("comments", "sent");
        }
        let name = field("event:").map(str::trim);
        let mut data = Vec::new();
        if frame.trim_start().starts_with('{') {
            data.push(frame.trim().to_owned());
        } else {
            let _ = sse::each_data(frame, |text| {
                data.push(text.trim().to_owned());
                Ok::<_, ()>(())
            });
        }
        for text in data.into_iter().filter(|text| !text.is_empty()) {
            let json = Json::parse(text.as_bytes());
            let kind = match &json {
                Ok(json) => json.str_of("type").unwrap_or_default().to_owned(),
                Err(_) if text == DONE => DONE.to_owned(),
                Err(_) => name.unwrap_or_default().to_owned(),
            };
            match &json {
                Ok(json) => self.add_json(Some(&kind), json),
                Err(_) if text == DONE => {}
                Err(_) => self.field(Some(&kind), "", "text"),
            }
            if !frame.trim_start().starts_with('{') && text != DONE {
                let named = name.map_or_else(|| "missing".to_owned(), |name| format!("`{name}`"));
                self.saw(&format!("[{kind}] `event:` line"), &named);
            }
            types.push(kind);
        }
    }

    fn add_order(&mut self, types: &[String]) {
        let types: Vec<&String> = types.iter().filter(|of| !KEEP_ALIVE.contains(&of.as_str())).collect();
        let mut firsts: Vec<&String> = Vec::new();
        for (at, of) in types.iter().enumerate() {
            if at > 0 && types[at - 1] != *of {
                self.neighbours.insert((types[at - 1].clone(), (*of).clone()));
            }
            if !firsts.contains(of) {
                self.order.extend(firsts.iter().map(|before| ((*before).clone(), (*of).clone())));
                firsts.push(of);
            }
        }
    }

    fn field(&mut self, event: Option<&str>, path: &str, kind: &'static str) {
        let place = Place { event: event.map(str::to_owned), path: path.to_owned() };
        self.fields.entry(place).or_default().insert(kind);
    }

    fn add_json(&mut self, event: Option<&str>, json: &Json) {
        let mut walk = vec![(String::new(), json, false)];
        while let Some((path, value, closed)) = walk.pop() {
            let place = Place { event: event.map(str::to_owned), path: path.clone() };
            let fields = if closed { &mut self.data } else { &mut self.fields };
            fields.entry(place).or_default().insert(value.kind());
            match value {
                Json::Object(entries) => walk.extend(entries.iter().map(|(key, below)| {
                    // RFC 6901, as in all pointers.
                    let key = key.replace('~', "~0").replace('/', "~1");
                    let of_data = closed || path.rsplit('/').find(|of| *of != "*").is_some_and(|k| DATA.contains(&k));
                    (format!("{path}/{key}"), below, of_data)
                })),
                Json::Array(elements) => {
                    walk.extend(elements.iter().map(|below| (format!("{path}/*"), below, closed)));
                }
                _ => {}
            }
        }
    }

    /// What differs between these recorded responses and today's, those that break clients first.
    pub fn changes(&self, today: &WireShape) -> Vec<WireChange> {
        let mut changes = self.field_changes(today);
        changes.extend(self.framing_changes(today));
        changes.extend(self.order_changes(today));
        let data: BTreeSet<&Place> = self.data.keys().chain(today.data.keys()).collect();
        changes.extend(data.into_iter().filter_map(|place| {
            let (recorded, now) = (self.data.get(place), today.data.get(place));
            let differ = leaves(recorded) != leaves(now);
            differ.then(|| change(WireChangeKind::Data, false, place, leaves(recorded), leaves(now)))
        }));
        changes.sort_by_key(|change| (!change.breaks, change.kind));
        changes
    }

    fn field_changes(&self, today: &WireShape) -> Vec<WireChange> {
        let places: BTreeSet<&Place> = self.fields.keys().chain(today.fields.keys()).collect();
        let mut changes = Vec::new();
        for place in places {
            let (recorded, now) = (self.fields.get(place), today.fields.get(place));
            let all = |kinds: Option<&Kinds>| kinds.cloned().unwrap_or_default();
            let (was, is, before, after) = (leaves(recorded), leaves(now), all(recorded), all(now));
            let another_container = !before.is_empty() && after.difference(&before).any(|kind| is_container(kind));
            let spared = place.event.as_deref().is_some_and(|it| KEEP_ALIVE.contains(&it)) || today.empties(place);
            let found = match (before.is_empty(), after.is_empty()) {
                (false, true) if !was.is_empty() => Some((WireChangeKind::Removed, !spared)),
                (false, true) if self.is_empty_at(place) && today.has_parent_of(place) => {
                    changes.push(change(WireChangeKind::Removed, true, place, before, after));
                    continue;
                }
                (true, false) if !is.is_empty() => Some((WireChangeKind::Added, false)),
                (false, false) if was != is || another_container => {
                    // A null beside values of known types often depends on how a stream is cut.
                    let others = after.difference(&before).filter(|kind| **kind != "null" || after.len() == 1);
                    Some((WireChangeKind::Type, others.count() > 0 && before.iter().any(|kind| *kind != "null")))
                }
                _ => None,
            };
            if let Some((kind, breaks)) = found {
                let (recorded, today) = if kind == WireChangeKind::Type { (before, after) } else { (was, is) };
                changes.push(change(kind, breaks, place, recorded, today));
            }
        }
        changes
    }

    /// Whether a list or object had nothing in it, so that no field below it tells that it is gone.
    fn is_empty_at(&self, place: &Place) -> bool {
        let below = format!("{}/", place.path);
        !self
            .fields
            .keys()
            .chain(self.data.keys())
            .any(|other| other.event == place.event && other.path.starts_with(&below))
    }

    /// Whether a list that a place is in has nothing in it: what its elements hold is not told.
    fn empties(&self, place: &Place) -> bool {
        let at = |path: &str| self.fields.get(&Place { event: place.event.clone(), path: path.to_owned() });
        let mut lists = place.path.match_indices("/*").map(|(end, _)| (&place.path[..end], &place.path[..end + 2]));
        lists.any(|(list, of)| at(list).is_some_and(|kinds| kinds.contains("array")) && at(of).is_none())
    }

    fn has_parent_of(&self, place: &Place) -> bool {
        let parent = place.path.rsplit_once('/').map(|(parent, _)| parent.to_owned());
        parent.is_some_and(|path| self.fields.contains_key(&Place { event: place.event.clone(), path }))
    }

    fn framing_changes(&self, today: &WireShape) -> Vec<WireChange> {
        let known = |aspect: &&String| today.framing.contains_key(*aspect) && self.framing.contains_key(*aspect);
        let aspects: BTreeSet<&String> = self.framing.keys().chain(today.framing.keys()).collect();
        let differs = aspects.into_iter().filter(|aspect| known(aspect) || *aspect == "comments");
        let sides = differs.map(|aspect| (aspect, self.framing.get(aspect), today.framing.get(aspect)));
        let found = sides.filter(|(_, recorded, now)| recorded != now);
        let changes = found.map(|(aspect, recorded, now)| {
            let forms = |forms: Option<&BTreeSet<String>>, none: &str| {
                forms.map_or_else(|| vec![none.to_owned()], |forms| forms.iter().cloned().collect())
            };
            let (recorded, today) = (forms(recorded, "not sent"), forms(now, "not sent"));
            let is_new =
                recorded == ["missing"] || (aspect == DONE && recorded == ["not sent"]) || aspect == "comments";
            let breaks = !is_new && today.iter().any(|form| !recorded.contains(form));
            WireChange { kind: WireChangeKind::Framing, breaks, place: aspect.clone(), recorded, today }
        });
        changes.collect()
    }

    /// Two event types whose order is turned around break clients; neighbours that were never seen are a note.
    fn order_changes(&self, today: &WireShape) -> Vec<WireChange> {
        let turned = |(a, b): &(String, String)| (b.clone(), a.clone());
        let only = |shape: &WireShape, pair: &(String, String)| {
            shape.order.contains(pair) && !shape.order.contains(&turned(pair))
        };
        let inverted: Vec<&(String, String)> =
            today.order.iter().filter(|pair| only(today, pair) && only(self, &turned(pair))).collect();
        let known = |of: &String| self.order.iter().chain(&self.neighbours).any(|(a, b)| a == of || b == of);
        let new = today.neighbours.difference(&self.neighbours).filter(|pair| known(&pair.0) && known(&pair.1));
        let new = new.filter(|pair| !inverted.contains(pair));
        let said = |breaks: bool, recorded: String, today: String| WireChange {
            kind: WireChangeKind::Order,
            breaks,
            place: "order of events".to_owned(),
            recorded: vec![recorded],
            today: vec![today],
        };
        let breaking =
            inverted.iter().map(|(a, b)| said(true, format!("`{b}` before `{a}`"), format!("`{a}` before `{b}`")));
        let noted = new.map(|(a, b)| said(false, "never so".to_owned(), format!("`{b}` directly after `{a}`")));
        breaking.chain(noted).collect()
    }
}

fn is_container(kind: &str) -> bool {
    matches!(kind, "object" | "array")
}

fn leaves(kinds: Option<&Kinds>) -> Kinds {
    kinds.into_iter().flatten().copied().filter(|kind| !is_container(kind)).collect()
}

fn change(kind: WireChangeKind, breaks: bool, place: &Place, recorded: Kinds, today: Kinds) -> WireChange {
    let words = |kinds: Kinds| kinds.into_iter().map(str::to_owned).collect();
    WireChange { kind, breaks, place: place.to_string(), recorded: words(recorded), today: words(today) }
}

#[cfg(test)]
mod tests;
