//! Names in options of goldens that name no event: a typing mistake there would loosen nothing, without a word.

use std::collections::BTreeSet;

use super::captured::Captured;
use super::event::Payload;
use super::options::ShapeOptions;

/// A name in an option that names no event of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamesNothing {
    /// The option: `collapse`, `unordered` or `loose`.
    pub option: &'static str,
    /// The name.
    pub name: String,
    /// The names of the events that there are, sorted.
    pub there: Vec<String>,
}

/// The first name in `collapse`, `unordered` or `loose` that none of the captured events has, as it came or normalized.
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
        if wanted.is_empty() {
            return None;
        }
        let raw = event.label();
        if !there.contains(&*raw) {
            let normal = if event.is_real() { normalize(&raw) } else { raw.clone().into_owned() };
            wanted.retain(|(_, name)| *name != normal && *name != raw);
            there.insert(raw.into_owned());
        }
    }
    let (option, name) = wanted.into_iter().next()?;
    Some(NamesNothing { option, name, there: there.into_iter().collect() })
}

#[cfg(test)]
mod tests;
