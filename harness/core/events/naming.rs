//! Finds names in the options of goldens that match no event. Without this check, a typing mistake would silently have no
//! effect.

use std::collections::BTreeSet;

use super::captured::{Captured, Event, Payload};
use super::notation::Normalize;
use super::options::{ShapeOptions, TextAs};

/// A name in an option that matches no event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamesNothing {
    /// The option: `collapse`, `unordered`, `loose` or `text`.
    pub option: &'static str,
    /// The name of the event, or the value of the option.
    pub name: String,
    /// The names of the events in the run, sorted.
    pub there: Vec<String>,
}

/// Returns the first name in `collapse`, `unordered` or `loose` that is not the raw or normalized name of any captured event.
/// Otherwise returns `text = "lines"` if no event has text.
pub fn names_nothing(captures: &[Captured], options: &ShapeOptions, normalize: &Normalize) -> Option<NamesNothing> {
    let named = |option, names: &[String]| names.iter().map(|name| (option, name.clone())).collect::<Vec<_>>();
    let mut wanted = [named("collapse", &options.collapse), named("unordered", &options.unordered)].concat();
    wanted.extend(options.loose.iter().map(|loose| ("loose", loose.label.clone())));
    let mut there = BTreeSet::new();
    for event in captures.iter().flat_map(|capture| capture.all_events(options)) {
        if matches!(event.payload, Payload::Comment(_)) && !options.comments {
            continue;
        }
        // Usually the first few events have all names.
        if wanted.is_empty() && options.text == TextAs::Kind {
            return None;
        }
        let json = event.json();
        let raw = options.label_of(event, json.as_ref());
        if !there.contains(&*raw) {
            let normal = if event.is_real() { normalize(&raw) } else { raw.clone().into_owned() };
            wanted.retain(|(_, name)| *name != normal && *name != raw);
            there.insert(raw.into_owned());
        }
    }
    let (option, name) = wanted.into_iter().next().or_else(|| quotes_nothing(captures, options))?;
    Some(NamesNothing { option, name, there: there.into_iter().collect() })
}

/// Returns the pointers in `show` that exist in no event. This is not always a mistake: a service may omit the value on purpose.
pub fn shown_nowhere<'a>(captures: &[Captured], options: &'a ShapeOptions) -> Vec<&'a str> {
    let mut pointers: Vec<&str> = options.show.iter().map(String::as_str).collect();
    for event in captures.iter().flat_map(|capture| capture.all_events(options)) {
        if pointers.is_empty() {
            break;
        }
        if let Some(json) = event.json() {
            pointers.retain(|pointer| json.pointer(pointer).is_none());
        }
    }
    pointers
}

/// Returns the option `text = "lines"` if it is set and no event has text.
fn quotes_nothing(captures: &[Captured], options: &ShapeOptions) -> Option<(&'static str, String)> {
    let is_text = |of: &Event| matches!(of.payload, Payload::Data(_) | Payload::Tail(_)) && of.json().is_none();
    let mut events = captures.iter().flat_map(|capture| capture.all_events(options));
    (options.text == TextAs::Lines && !events.any(is_text)).then(|| ("text", "lines".to_owned()))
}

#[cfg(test)]
mod tests;
