//! The options of a golden that leave open what varies between two runs, and nothing else.

use crate::events::{Golden, Loose, ShapeOptions};
use crate::key::Rules;
use crate::run::trial::Replayed;

/// What is to be changed in `[golden]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Loosening {
    /// All loose places, those that were loose before included.
    loose: Vec<Loose>,
    /// Whether what comes after a last event is to be left out.
    without_after_last: bool,
}

impl Loosening {
    /// The least with which the goldens of two runs are equal, where there is any.
    pub(super) fn of(runs: [&Replayed; 2], options: &ShapeOptions, rules: &Rules) -> Option<Loosening> {
        Loosening::between(options, &|options| runs.map(|run| run.golden(options, rules)))
    }

    /// The same of what is rendered in another way.
    fn between(options: &ShapeOptions, goldens: &dyn Fn(&ShapeOptions) -> [Golden; 2]) -> Option<Loosening> {
        let equal = |options: &ShapeOptions| {
            let [one, two] = goldens(options);
            one.text == two.text
        };
        let after_last = [true, false].into_iter().filter(|after_last| options.after_last || *after_last);
        for after_last in after_last {
            let mut tried = ShapeOptions { after_last: after_last && options.after_last, ..options.clone() };
            let [one, two] = goldens(&tried);
            tried.loose.extend(one.differing_pins(&two));
            if !equal(&tried) {
                continue;
            }
            // What differs only because another place does.
            let known = options.loose.len();
            for at in (known..tried.loose.len()).rev() {
                let mut fewer = tried.clone();
                fewer.loose.remove(at);
                if equal(&fewer) {
                    tried = fewer;
                }
            }
            return Some(Loosening { loose: tried.loose, without_after_last: tried.after_last != options.after_last });
        }
        None
    }

    /// The lines under `[golden]`.
    pub(super) fn toml(&self) -> String {
        let places: Vec<String> = self.loose.iter().map(|place| format!("{:?}", place.to_string())).collect();
        let loose = (!places.is_empty()).then(|| format!("loose = [{}]", places.join(", ")));
        let after_last = self.without_after_last.then(|| "after_last = false".to_owned());
        loose.into_iter().chain(after_last).collect::<Vec<_>>().join("\n    ")
    }
}

#[cfg(test)]
mod tests;
