//! Finds the `[golden]` options that allow what varies between two runs, and nothing else.

use crate::run::trial::Replayed;
use retake_core::events::{Golden, Loose, ShapeOptions, moved_and_counted};
use retake_core::key::Rules;

/// A change of the `[golden]` options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loosening {
    /// The new value of `loose`, earlier places included; empty if it does not change.
    loose: Vec<Loose>,
    /// The new value of `unordered`, earlier events included; empty if it does not change.
    unordered: Vec<String>,
    /// The new value of `collapse`, earlier events included; empty if it does not change.
    collapse: Vec<String>,
    /// Whether to set `after_last = false`.
    without_after_last: bool,
}

impl Loosening {
    /// The smallest change that makes the goldens of two runs equal; `None` if no change does.
    pub(super) fn of(runs: [&Replayed; 2], options: &ShapeOptions, rules: &Rules) -> Option<Loosening> {
        Loosening::between(options, &|options| runs.map(|run| run.golden(options, rules)))
    }

    /// The same, with a function that renders the two goldens by the given options.
    fn between(options: &ShapeOptions, goldens: &dyn Fn(&ShapeOptions) -> [Golden; 2]) -> Option<Loosening> {
        let equal = |options: &ShapeOptions| {
            let [one, two] = goldens(options);
            one.text == two.text
        };
        let [one, two] = goldens(options);
        let (moved, counted) = moved_and_counted(&one.text, &two.text);
        let forms = |after_last: bool| {
            let none = Vec::new();
            let all = [(&none, &none), (&moved, &none), (&none, &counted), (&moved, &counted)];
            all.map(|(moved, counted)| ShapeOptions {
                after_last: after_last && options.after_last,
                unordered: [&options.unordered[..], moved].concat(),
                collapse: [&options.collapse[..], counted].concat(),
                ..options.clone()
            })
        };
        let after_last = [true, false].into_iter().filter(|after_last| options.after_last || *after_last);
        for mut tried in after_last.flat_map(forms) {
            let [one, two] = goldens(&tried);
            tried.loose.extend(one.differing_pins(&two));
            if !equal(&tried) {
                continue;
            }
            // Remove places that differ only as a consequence of another one.
            let known = options.loose.len();
            for at in (known..tried.loose.len()).rev() {
                let mut fewer = tried.clone();
                fewer.loose.remove(at);
                if equal(&fewer) {
                    tried = fewer;
                }
            }
            let new = |all: Vec<String>, known: &[String]| if all.len() == known.len() { Vec::new() } else { all };
            let loose = if tried.loose.len() == known { Vec::new() } else { tried.loose };
            return Some(Loosening {
                loose,
                unordered: new(tried.unordered, &options.unordered),
                collapse: new(tried.collapse, &options.collapse),
                without_after_last: tried.after_last != options.after_last,
            });
        }
        None
    }

    /// The lines to add under `[golden]`.
    pub(super) fn toml(&self) -> String {
        let places: Vec<String> = self.loose.iter().map(|place| format!("{:?}", place.to_string())).collect();
        let loose = (!places.is_empty()).then(|| format!("loose = [{}]", places.join(", ")));
        let named = |option: &str, names: &[String]| (!names.is_empty()).then(|| format!("{option} = {names:?}"));
        let order = [named("unordered", &self.unordered), named("collapse", &self.collapse)];
        let after_last = self.without_after_last.then(|| "after_last = false".to_owned());
        order.into_iter().flatten().chain(loose).chain(after_last).collect::<Vec<_>>().join("\n    ")
    }
}

#[cfg(test)]
mod tests;
