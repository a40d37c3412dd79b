//! Settings that may make a golden notice a change that it misses now. Names are first taken out of the options that loosen
//! the golden, one at a time; then come settings that show more.

use retake_core::events::{Detail, ShapeOptions, USUAL_HEADERS};

/// One change to the settings of `[golden]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Setting {
    /// The option, and the name that is taken out of it.
    Without(&'static str, String),
    /// The option to set, as it is written in TOML.
    With(String),
}

/// Returns the settings to try for a change at this place in an event's payload, smaller ones first, each with the options that
/// result from it.
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
    if USUAL_HEADERS.contains(&pointer) {
        with(format!("headers = [{pointer:?}]"), &|options| options.headers.push(pointer.to_owned()));
        return all;
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

/// Returns the options with one name removed, for each name in an option that loosens the golden.
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
