//! Tries changes on a golden, and counts how many of them it notices.

use std::collections::BTreeMap;

use super::equality::{stable_text, texts_of_the_run};
use super::kind::Kind;
use super::sites::{Base, Site};
use super::spread::spread;
use retake_core::events::{Calls, Captured, Detail, Golden, ShapeOptions};

/// The most changes of one kind that are tried.
const MOST: usize = 32;
/// How many bytes of payloads may be rendered for one kind: fewer changes are tried on large captures.
const BYTES_A_KIND: usize = 2 << 20;
/// The number of changes of one kind that are tried on even the largest captures.
const LEAST: usize = 8;

/// How many changes were tried, and how many of them were noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    pub tried: usize,
    pub noticed: usize,
}

impl Tally {
    fn add(&mut self, noticed: bool) {
        self.tried += 1;
        self.noticed += usize::from(noticed);
    }
}

/// Tallies by kind of change.
pub type ByKind = BTreeMap<Kind, Tally>;

/// Changes of one kind that a golden did not notice, at places that a reader of the golden takes for the same place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unnoticed {
    /// What it does.
    pub kind: Kind,
    /// The name of the changed event; empty if the change does not concern a single event.
    pub event: String,
    /// The place in the event's payload, as a JSON pointer in which `*` stands for each element of a list.
    pub pointer: String,
    /// The first setting that makes the golden notice the change; `None` if no setting does.
    pub setting: Option<Setting>,
    /// How many such changes went unnoticed.
    pub count: usize,
}

/// The results of all changes to one scenario's captures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scored {
    pub kinds: ByKind,
    pub unnoticed: Vec<Unnoticed>,
    /// Tallies by the name of the changed event and the kind of change.
    pub events: BTreeMap<(String, Kind), Tally>,
}

/// A golden, and whether there is none, since an option names an event that is not there.
pub(crate) type Made = (bool, Golden);

/// How captures become a golden.
pub struct Rendering<'a> {
    /// Returns the golden, and whether an option names an event that is not there.
    pub made: &'a dyn Fn(&[Captured], &ShapeOptions) -> Made,
    /// Replaces what differs from run to run in a text.
    pub normalize: &'a dyn Fn(&str) -> String,
    /// Whether a text under a key is a word of the service's own.
    pub is_own: &'a dyn Fn(&str, &str) -> bool,
    /// Whether a text repeats words of the model.
    pub is_said: &'a dyn Fn(&str) -> bool,
    /// The recorded tool calls.
    pub calls: &'a Calls,
}

impl Rendering<'_> {
    /// The captures without what differs from run to run. The order of events of parallel tool calls is no change.
    fn stable_text(&self, captures: &[Captured], options: &ShapeOptions) -> String {
        stable_text(&self.calls.in_order(captures, options, self.normalize), self.normalize)
    }
}

/// Tries changes to the captures on a golden with these options. A change that touches only values that differ in every run is
/// not counted.
pub fn score(captures: &[Captured], options: &ShapeOptions, rendering: &Rendering<'_>) -> Scored {
    let base = Base::of(captures);
    let mut tried = Tried {
        base: &base,
        rendering,
        goldens: Vec::new(),
        stable_text: rendering.stable_text(&base.captures, options),
    };
    let mut places: BTreeMap<Kind, Vec<(String, Site)>> = BTreeMap::new();
    let is_collapsed = |label: &str| {
        let normal = (rendering.normalize)(label);
        options.collapse.iter().any(|name| *name == label || *name == normal)
    };
    let texts = base.texts(&is_collapsed);
    let sites = base.sites(rendering.is_own, rendering.is_said).into_iter().chain(texts);
    for site in sites.filter(|site| site.kind.counts_at(options.detail)) {
        places.entry(site.kind).or_default().push((site.class(), site));
    }
    let most = (BYTES_A_KIND / tried.stable_text.len().max(1)).clamp(LEAST, MOST);
    let mut scored = Scored::default();
    for (kind, places) in places {
        for site in spread(places, most) {
            let Some(noticed) = tried.notices(&site, options) else { continue };
            scored.kinds.entry(kind).or_default().add(noticed);
            scored.events.entry((site.event.clone(), kind)).or_default().add(noticed);
            if !noticed {
                scored.add(site, |site| {
                    let mut settings = candidates(options, &site.pointer).into_iter();
                    settings.find(|(_, options)| tried.sees(site, options)).map(|(setting, _)| setting)
                });
            }
        }
    }
    scored.unnoticed.sort();
    scored
}

/// The score: the mean share of noticed changes, from 0 to 1, over the kinds that were tried. `None` if none was.
pub fn mean(kinds: &ByKind) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "some thousand changes at most")]
    let share = |tally: &Tally| tally.noticed as f64 / tally.tried as f64;
    let shares: Vec<f64> = kinds.values().filter(|tally| tally.tried > 0).map(share).collect();
    #[expect(clippy::cast_precision_loss, reason = "21 kinds")]
    let count = shares.len() as f64;
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / count)
}

impl Scored {
    /// Adds a change that went unnoticed. The settings are tried only on the first such change of each place.
    fn add(&mut self, site: Site, mut setting: impl FnMut(&Site) -> Option<Setting>) {
        let same =
            |one: &&mut Unnoticed| (one.kind, &one.event, &one.pointer) == (site.kind, &site.event, &site.pointer);
        if let Some(one) = self.unnoticed.iter_mut().find(same) {
            one.count += 1;
            return;
        }
        let setting = setting(&site);
        let Site { kind, event, pointer, .. } = site;
        self.unnoticed.push(Unnoticed { kind, event, pointer, setting, count: 1 });
    }
}

/// The unchanged captures, and their goldens under each set of options that was tried.
struct Tried<'a> {
    base: &'a Base,
    rendering: &'a Rendering<'a>,
    goldens: Vec<Goldens>,
    stable_text: String,
}

/// The goldens of the unchanged captures under one set of options.
struct Goldens {
    options: ShapeOptions,
    /// The golden of all captures together.
    whole: Made,
    /// The golden of each capture by itself; `None` until it is needed.
    alone: Vec<Option<Made>>,
}

impl Tried<'_> {
    /// Whether the golden notices a change, or `None` if the change does not count.
    fn notices(&mut self, site: &Site, options: &ShapeOptions) -> Option<bool> {
        let changed = self.base.changed(site)?;
        if self.differs(site.capture, &changed, options) {
            return Some(true);
        }
        let stable_text = |captures: &[Captured]| self.rendering.stable_text(captures, options);
        let base = &self.base.captures[site.capture];
        let is_change = stable_text(std::slice::from_ref(&changed)) != stable_text(std::slice::from_ref(base))
            || self.concerns_others(site.capture, &changed)
                && stable_text(&self.with(site.capture, changed)) != self.stable_text;
        is_change.then_some(false)
    }

    /// Whether a change to one capture can affect the others, because they may share ids with it. One that is beside the captured ones is
    /// found among them alone, and one whose request was made before is compared with the answer to that one if it is alone.
    fn concerns_others(&self, at: usize, changed: &Captured) -> bool {
        let texts = |capture: &Captured| texts_of_the_run(capture, self.rendering.normalize);
        let shares = || texts(changed) != texts(&self.base.captures[at]);
        let is_again = self.base.captures[..at].iter().any(|before| before.request == changed.request);
        is_again || self.base.captures.len() > 1 && (changed.delivery.is_beside || shares())
    }

    fn sees(&mut self, site: &Site, options: &ShapeOptions) -> bool {
        self.base.changed(site).is_some_and(|changed| self.differs(site.capture, &changed, options))
    }

    /// Whether a changed capture leads to a different golden. The capture is rendered by itself first, which is cheaper: a
    /// difference there is a difference in the whole as well. Ids that several captures share show only in the whole.
    fn differs(&mut self, at: usize, changed: &Captured, options: &ShapeOptions) -> bool {
        let Rendering { made, .. } = *self.rendering;
        let known = self.goldens.iter().position(|goldens| goldens.options == *options).unwrap_or_else(|| {
            let captures = &self.base.captures;
            let (whole, alone) = (made(captures, options), vec![None; captures.len()]);
            self.goldens.push(Goldens { options: options.clone(), whole, alone });
            self.goldens.len() - 1
        });
        let base = &self.base.captures[at];
        let alone = self.goldens[known].alone[at].get_or_insert_with(|| made(std::slice::from_ref(base), options));
        if made(std::slice::from_ref(changed), options) != *alone {
            return true;
        }
        self.concerns_others(at, changed) && made(&self.with(at, changed.clone()), options) != self.goldens[known].whole
    }

    fn with(&self, at: usize, changed: Captured) -> Vec<Captured> {
        let mut captures = self.base.captures.clone();
        captures[at] = changed;
        captures
    }
}

// Settings that may make a golden notice a change that it misses now. Names are first taken out of the options that loosen
// the golden, one at a time; then come settings that show more.
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
    if options.without_lengths {
        with("lengths = true".to_owned(), &|options| options.without_lengths = false);
    }
    if options.until_last {
        with("after_last = true".to_owned(), &|options| options.until_last = false);
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

#[cfg(test)]
mod tests;
