//! Names in options of goldens that name no event: a typing mistake there would loosen nothing, without a word.

use std::collections::BTreeSet;

use super::captured::Captured;
use super::event::{Event, Payload};
use super::options::{ShapeOptions, TextAs};

/// A name in an option that names no event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamesNothing {
    /// The option: `collapse`, `unordered`, `loose` or `text`.
    pub option: &'static str,
    /// The name, or the word.
    pub name: String,
    /// The names of the events that there are, sorted.
    pub there: Vec<String>,
}

/// The first name in `collapse`, `unordered` or `loose` that none of the captured events has, as it came or normalized; else
/// `lines` of `text`, where no event brings text.
#[must_use]
pub fn names_nothing(
    captures: &[Captured],
    options: &ShapeOptions,
    normalize: &dyn Fn(&str) -> String,
) -> Option<NamesNothing> {
    let named = |option, names: &[String]| names.iter().map(|name| (option, name.clone())).collect::<Vec<_>>();
    let mut wanted = [named("collapse", &options.collapse), named("unordered", &options.unordered)].concat();
    wanted.extend(options.loose.iter().map(|loose| ("loose", loose.label.clone())));
    let mut there = BTreeSet::new();
    for event in captures.iter().flat_map(|capture| capture.all_events(options)) {
        if matches!(event.payload, Payload::Comment(_)) && !options.comments {
            continue;
        }
        // Mostly the first few events hold them all.
        if wanted.is_empty() && options.text == TextAs::Kind {
            return None;
        }
        let raw = event.label();
        if !there.contains(&*raw) {
            let normal = if event.is_real() { normalize(&raw) } else { raw.clone().into_owned() };
            wanted.retain(|(_, name)| *name != normal && *name != raw);
            there.insert(raw.into_owned());
        }
    }
    let (option, name) = wanted.into_iter().next().or_else(|| quotes_nothing(captures, options))?;
    Some(NamesNothing { option, name, there: there.into_iter().collect() })
}

/// The pointers in `show` that are in no event. They are no mistake where a service sends something else on purpose.
pub(crate) fn shown_nowhere<'a>(captures: &[Captured], options: &'a ShapeOptions) -> Vec<&'a str> {
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

/// `text = "lines"`, where no event brings text.
fn quotes_nothing(captures: &[Captured], options: &ShapeOptions) -> Option<(&'static str, String)> {
    let is_text =
        |event: &Event| matches!(event.payload, Payload::Data(_) | Payload::Tail(_)) && event.json().is_none();
    let mut events = captures.iter().flat_map(|capture| capture.all_events(options));
    (options.text == TextAs::Lines && !events.any(is_text)).then(|| ("text", "lines".to_owned()))
}

#[cfg(test)]
mod tests;
