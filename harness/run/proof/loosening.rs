//! Finds the `[golden]` options that allow what varies between runs, and nothing else.

use crate::run::trial::Replayed;
use retake_core::events::{Golden, Loose, ShapeOptions, Shaped, moved_and_counted, tangled};
use retake_core::key::Rules;
use std::collections::BTreeSet;

/// A change of the `[golden]` options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loosening {
    /// The number of runs whose goldens it makes equal.
    pub(super) runs: usize,
    /// The lines to add under `[golden]`: the new value of each option that changes, earlier entries included.
    pub(crate) toml: String,
}

impl Loosening {
    /// The smallest change that makes the goldens of these runs equal; `None` if no change does.
    pub(crate) fn of(runs: &[&Replayed], options: &ShapeOptions, rules: &Rules) -> Option<Loosening> {
        Loosening::between(options, &|options| {
            let mut goldens: Vec<Shaped> = runs.iter().map(|run| run.golden(options, rules)).collect();
            let Some(first) = goldens.first().map(|first| first.golden.clone()) else { return goldens };
            for (run, shaped) in runs.iter().zip(&mut goldens).skip(1) {
                shaped.golden = run.moved_to(runs[0], options, rules, &first, std::mem::take(&mut shaped.golden));
            }
            goldens
        })
    }

    /// The same, with a function that renders the goldens by the given options.
    fn between(options: &ShapeOptions, goldens: &dyn Fn(&ShapeOptions) -> Vec<Shaped>) -> Option<Loosening> {
        let goldens = &|options: &ShapeOptions| {
            let mut goldens = goldens(options);
            Golden::agree_on_what_varies(
                &mut goldens.iter_mut().map(|shaped| &mut shaped.golden).collect::<Vec<_>>(),
                options.detail,
            );
            goldens
        };
        let equal = |options: &ShapeOptions| goldens(options).windows(2).all(|pair| pair[0].golden == pair[1].golden);
        let names = |find: &dyn Fn(&Golden, &Golden) -> Vec<String>| -> Vec<String> {
            let goldens = goldens(options);
            let found = goldens.iter().skip(1).flat_map(|other| find(&goldens[0].golden, &other.golden));
            let found: BTreeSet<String> = found.collect();
            found.into_iter().filter(|name| !options.unordered.contains(name)).collect()
        };
        let moved = names(&|one, other| moved_and_counted(one, other).0);
        let counted = names(&|one, other| moved_and_counted(one, other).1);
        let tangled = names(&tangled);
        let forms = |until_last: bool| {
            let none = Vec::new();
            let all = [(&none, &none), (&moved, &none), (&tangled, &none), (&none, &counted), (&moved, &counted)];
            all.map(|(moved, counted)| ShapeOptions {
                until_last: until_last || options.until_last,
                unordered: [&options.unordered[..], moved].concat(),
                collapse: [&options.collapse[..], counted].concat(),
                ..options.clone()
            })
        };
        let until_last = [false, true].into_iter().filter(|until_last| !(options.until_last && *until_last));
        for mut tried in until_last.flat_map(forms) {
            let goldens = goldens(&tried);
            let pins: BTreeSet<Loose> = goldens.iter().flat_map(|other| goldens[0].differing_pins(other)).collect();
            tried.loose.extend(pins);
            if !equal(&tried) {
                continue;
            }
            // Remove places that differ only as a consequence of another one, and events that only stand next to others.
            keep_needed(&mut tried, options.loose.len(), |tried| &mut tried.loose, &equal);
            keep_needed(&mut tried, options.unordered.len(), |tried| &mut tried.unordered, &equal);
            let loose: Vec<String> = tried.loose.iter().map(ToString::to_string).collect();
            let changed =
                |option: &str, all: &[String], known: usize| (all.len() > known).then(|| format!("{option} = {all:?}"));
            let lists = [
                changed("unordered", &tried.unordered, options.unordered.len()),
                changed("collapse", &tried.collapse, options.collapse.len()),
                changed("loose", &loose, options.loose.len()),
            ];
            let after_last = (tried.until_last != options.until_last).then(|| "after_last = false".to_owned());
            let lines: Vec<String> = lists.into_iter().flatten().chain(after_last).collect();
            return Some(Loosening { runs: goldens.len(), toml: lines.join("\n    ") });
        }
        None
    }
}

/// Removes from a list of options each entry after the `known` ones without which goldens are equal, too.
fn keep_needed<T>(
    tried: &mut ShapeOptions,
    known: usize,
    list: fn(&mut ShapeOptions) -> &mut Vec<T>,
    equal: &dyn Fn(&ShapeOptions) -> bool,
) {
    for at in (known..list(tried).len()).rev() {
        let mut fewer = tried.clone();
        list(&mut fewer).remove(at);
        if equal(&fewer) {
            *tried = fewer;
        }
    }
}

#[cfg(test)]
mod tests;
