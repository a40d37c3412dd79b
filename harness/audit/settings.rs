//! The settings of a golden that may notice a change which it does not: what an option leaves open is closed again, one at
//! a time, then more is shown.

use crate::events::{Detail, ShapeOptions};

/// A setting of `[golden]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Setting {
    /// A name is taken out of an option.
    Without(&'static str, String),
    /// An option is set, as it is written.
    With(String),
}

/// The settings to try for a change at a place in an event's payload, the smaller ones first, each with the options that it leads to.
pub(super) fn candidates(options: &ShapeOptions, pointer: &str) -> Vec<(Setting, ShapeOptions)> {
    let mut all = without_each(options);
    let mut with = |setting: String, change: &dyn Fn(&mut ShapeOptions)| {
        let mut options = options.clone();
        change(&mut options);
        all.push((Setting::With(setting), options));
    };
    if !options.lengths {
        with("lengths = true".to_owned(), &|options| options.lengths = true);
    }
    if !options.after_last {
        with("after_last = true".to_owned(), &|options| options.after_last = true);
    }
    if options.detail == Detail::Keys {
        with("detail = \"types\"".to_owned(), &|options| options.detail = Detail::Types);
    }
    if let Some(key) = pointer.rsplit('/').next().filter(|key| !key.is_empty() && *key != "*") {
        let key = key.replace("~1", "/").replace("~0", "~");
        with(format!("words = [{key:?}]"), &|options| options.words.push(key.clone()));
    }
    if !pointer.is_empty() && !pointer.contains('*') {
        with(format!("show = [{pointer:?}]"), &|options| options.show.push(pointer.to_owned()));
    }
    if options.detail != Detail::Values {
        with("detail = \"values\"".to_owned(), &|options| options.detail = Detail::Values);
    }
    all
}

/// The options with one name less, for each name by which they leave something open.
fn without_each(options: &ShapeOptions) -> Vec<(Setting, ShapeOptions)> {
    type Names = fn(&mut ShapeOptions) -> &mut Vec<String>;
    let lists: [(&'static str, Names); 3] = [
        ("ignore", |options| &mut options.ignore),
        ("collapse", |options| &mut options.collapse),
        ("unordered", |options| &mut options.unordered),
    ];
    let mut all = Vec::new();
    for (option, names) in lists {
        for at in 0..names(&mut options.clone()).len() {
            let mut options = options.clone();
            let name = names(&mut options).remove(at);
            all.push((Setting::Without(option, name), options));
        }
    }
    for at in 0..options.loose.len() {
        let mut options = options.clone();
        let place = options.loose.remove(at).to_string();
        all.push((Setting::Without("loose", place), options));
    }
    all
}
