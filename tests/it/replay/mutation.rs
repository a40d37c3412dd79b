//! Changes to an event stream, as a change of the service could cause them.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A change. `at` is a JSON pointer to a key, in which `*` means every element of a list.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) enum Mutation {
    RenameEvent {
        event: String,
        to: String,
    },
    /// Drops the first event with this name.
    DropEvent {
        event: String,
    },
    /// Adds an event after the first one with the name `after`.
    AddEvent {
        after: String,
        name: String,
        data: Value,
    },
    /// Swaps the first event with this name and the event after it.
    SwapWithNext {
        event: String,
    },
    RenameKey {
        event: String,
        at: String,
        to: String,
    },
    DropKey {
        event: String,
        at: String,
    },
    /// Adds a key, or replaces its value, possibly by one of another type.
    SetKey {
        event: String,
        at: String,
        value: Value,
    },
    /// Turns the letters of a text into capital letters.
    UpperCase {
        event: String,
        at: String,
    },
    /// Cuts the text at this key into an event for each of its characters.
    Cut {
        event: String,
        at: String,
    },
    /// Makes several changes, one after the other.
    All(Vec<Mutation>),
}

struct Event {
    name: String,
    data: Value,
}

impl Mutation {
    pub(crate) fn to_env(&self) -> String {
        serde_json::to_string(self).unwrap()
    }

    pub(crate) fn from_env(text: &str) -> Mutation {
        serde_json::from_str(text).unwrap()
    }

    /// Returns a stream of server-sent events with this change. Panics if the stream has nothing to change.
    pub(crate) fn apply(&self, stream: &str) -> String {
        if let Mutation::All(all) = self {
            return all.iter().fold(stream.to_owned(), |stream, mutation| mutation.apply(&stream));
        }
        let mut events: Vec<Event> = stream.split_terminator("\n\n").map(parse).collect();
        let first = |events: &[Event], name: &str| events.iter().position(|event| event.name == name).unwrap();
        match self {
            Mutation::RenameEvent { event, to } => {
                let at = first(&events, event);
                let named = events[at..].iter_mut().filter(|found| found.name == *event);
                named.for_each(|event| event.name.clone_from(to));
            }
            Mutation::DropEvent { event } => {
                let at = first(&events, event);
                events.remove(at);
            }
            Mutation::AddEvent { after, name, data } => {
                let at = first(&events, after) + 1;
                events.insert(at, Event { name: name.clone(), data: data.clone() });
            }
            Mutation::SwapWithNext { event } => {
                let at = first(&events, event);
                events.swap(at, at + 1);
            }
            Mutation::RenameKey { event, at, to } => {
                change(&mut events, event, at, &|object, key| {
                    let value = object.remove(key);
                    value.map(|value| object.insert(to.clone(), value)).is_some()
                });
            }
            Mutation::DropKey { event, at } => {
                change(&mut events, event, at, &|object, key| object.remove(key).is_some());
            }
            Mutation::SetKey { event, at, value } => {
                change(&mut events, event, at, &|object, key| {
                    object.insert(key.to_owned(), value.clone());
                    true
                });
            }
            Mutation::UpperCase { event, at } => {
                change(&mut events, event, at, &|object, key| {
                    let upper = object.get(key).and_then(Value::as_str).map(str::to_uppercase);
                    upper.map(|upper| object.insert(key.to_owned(), Value::from(upper))).is_some()
                });
            }
            Mutation::Cut { event, at } => {
                let cut = |found: Event| {
                    let text = found.data.pointer(at).and_then(Value::as_str).filter(|_| found.name == *event);
                    let Some(text) = text.map(str::to_owned) else { return vec![found] };
                    let of = |piece: char| {
                        let mut data = found.data.clone();
                        *data.pointer_mut(at).unwrap() = Value::from(piece.to_string());
                        Event { name: found.name.clone(), data }
                    };
                    text.chars().map(of).collect()
                };
                events = events.into_iter().flat_map(cut).collect();
            }
            Mutation::All(_) => {}
        }
        print(events.iter().map(|Event { name, data }| (&**name, data)))
    }
}

/// Returns a stream of server-sent events, with ids like those of the gateway.
pub(crate) fn print<'a>(events: impl IntoIterator<Item = (&'a str, &'a Value)>) -> String {
    let event = |(nth, (name, data)): (usize, (&str, &Value))| format!("id: {nth}\nevent: {name}\ndata: {data}\n\n");
    events.into_iter().enumerate().map(event).collect()
}

fn parse(frame: &str) -> Event {
    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name)).unwrap();
    Event { name: field("event: ").to_owned(), data: serde_json::from_str(field("data: ")).unwrap() }
}

type Edit<'a> = &'a dyn Fn(&mut Map<String, Value>, &str) -> bool;

fn change(events: &mut [Event], name: &str, at: &str, edit: Edit<'_>) {
    let path: Vec<&str> = at.split('/').skip(1).collect();
    let (key, parents) = path.split_last().unwrap();
    let named = events.iter_mut().filter(|event| event.name == name);
    let changed = named.map(|event| descend(&mut event.data, parents, key, edit)).filter(|changed| *changed).count();
    assert!(changed > 0, "no event `{name}` has {at}");
}

/// Applies an edit to every key that the path matches. Returns whether anything was changed.
fn descend(value: &mut Value, parents: &[&str], key: &str, edit: Edit<'_>) -> bool {
    match (value, parents) {
        (Value::Object(object), []) => edit(object, key),
        (Value::Object(object), [parent, rest @ ..]) => {
            object.get_mut(*parent).is_some_and(|value| descend(value, rest, key, edit))
        }
        (Value::Array(elements), ["*", rest @ ..]) => {
            let changed = elements.iter_mut().map(|element| descend(element, rest, key, edit));
            changed.filter(|changed| *changed).count() > 0
        }
        _ => false,
    }
}
