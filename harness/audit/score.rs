//! Changes that were tried on a golden, and how many it noticed.

use std::collections::BTreeMap;

use super::equality::{texts_of_the_run, told};
use super::kind::Kind;
use super::settings::{Setting, candidates};
use super::sites::{Base, Site};
use super::spread::spread;
use crate::events::{Captured, ShapeOptions};

/// How many changes of one kind are tried at most.
const MOST: usize = 32;
/// How many bytes of payloads may be rendered for one kind: of captures of a megabyte fewer changes are tried.
const BYTES_A_KIND: usize = 2 << 20;
/// How few changes of a kind are tried for that.
const LEAST: usize = 8;

/// How many changes were tried, and noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    pub(crate) tried: usize,
    pub(crate) noticed: usize,
}

impl Tally {
    fn add(&mut self, noticed: bool) {
        self.tried += 1;
        self.noticed += usize::from(noticed);
    }
}

/// Tallies by kind of change.
pub(crate) type ByKind = BTreeMap<Kind, Tally>;

/// Changes that a golden did not notice, at places that a reader takes for one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Unnoticed {
    pub(crate) kind: Kind,
    /// The name of the event; empty where the change is not about one.
    pub(crate) event: String,
    /// The place in its payload, as a JSON pointer with `*` for the elements of lists.
    pub(crate) pointer: String,
    /// The setting that was tried and notices it; `None` where none of those that there are does.
    pub(crate) setting: Option<Setting>,
    /// How many such changes were tried.
    pub(crate) count: usize,
}

/// What became of the changes of one scenario's captures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scored {
    pub(crate) kinds: ByKind,
    pub(crate) unnoticed: Vec<Unnoticed>,
    /// The changes by the name of the event that they are about, and kind.
    pub(crate) events: BTreeMap<(String, Kind), Tally>,
}

/// How captures become what is compared with the golden.
pub(crate) struct Rendering<'a> {
    /// The golden's text, or why there is none.
    pub(crate) text: &'a dyn Fn(&[Captured], &ShapeOptions) -> String,
    /// What a text is without what differs from run to run.
    pub(crate) normalize: &'a dyn Fn(&str) -> String,
}

/// Tries changes of captures on a golden with these options. What is equal to the capture but for values of the run is left
/// out.
pub(crate) fn score(captures: &[Captured], options: &ShapeOptions, rendering: &Rendering<'_>) -> Scored {
    let base = Base::of(captures);
    let mut tried =
        Tried { base: &base, rendering, texts: Vec::new(), told: told(&base.captures, rendering.normalize) };
    let mut places: BTreeMap<Kind, Vec<(String, Site)>> = BTreeMap::new();
    for site in base.sites().into_iter().filter(|site| site.kind.counts_at(options.detail)) {
        places.entry(site.kind).or_default().push((site.class(), site));
    }
    let most = (BYTES_A_KIND / tried.told.len().max(1)).clamp(LEAST, MOST);
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

/// The score of tallies: the mean over the kinds of which something was tried, from 0 to 1.
pub(crate) fn mean(kinds: &ByKind) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "some thousand changes at most")]
    let share = |tally: &Tally| tally.noticed as f64 / tally.tried as f64;
    let shares: Vec<f64> = kinds.values().filter(|tally| tally.tried > 0).map(share).collect();
    #[expect(clippy::cast_precision_loss, reason = "17 kinds")]
    let count = shares.len() as f64;
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / count)
}

impl Scored {
    /// Adds a change that went unnoticed. Which setting notices it is tried on the first one of each place.
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

/// The captures, and what each set of options makes of them.
struct Tried<'a> {
    base: &'a Base,
    rendering: &'a Rendering<'a>,
    texts: Vec<Texts>,
    told: String,
}

/// What options make of the unchanged captures.
struct Texts {
    options: ShapeOptions,
    /// Of all of them.
    whole: String,
    /// Of each by itself.
    alone: Vec<Option<String>>,
}

impl Tried<'_> {
    /// Whether the golden notices a change; `None` where it is none.
    fn notices(&mut self, site: &Site, options: &ShapeOptions) -> Option<bool> {
        let changed = self.base.changed(site)?;
        if self.differs(site.capture, &changed, options) {
            return Some(true);
        }
        let told = |captures: &[Captured]| told(captures, self.rendering.normalize);
        let base = &self.base.captures[site.capture];
        let is_change = told(std::slice::from_ref(&changed)) != told(std::slice::from_ref(base))
            || self.concerns_others(site.capture, &changed) && told(&self.with(site.capture, changed)) != self.told;
        is_change.then_some(false)
    }

    /// Whether a change of a capture can be a change of the others: which of them have equal ids.
    fn concerns_others(&self, at: usize, changed: &Captured) -> bool {
        let texts = |capture: &Captured| texts_of_the_run(capture, self.rendering.normalize);
        self.base.captures.len() > 1 && texts(changed) != texts(&self.base.captures[at])
    }

    fn sees(&mut self, site: &Site, options: &ShapeOptions) -> bool {
        self.base.changed(site).is_some_and(|changed| self.differs(site.capture, &changed, options))
    }

    /// Whether a changed capture makes another golden. By itself is tried first, which is less to render: what differs there
    /// differs among the others too, but ids that several captures share show among them only.
    fn differs(&mut self, at: usize, changed: &Captured, options: &ShapeOptions) -> bool {
        let Rendering { text, .. } = *self.rendering;
        let known = self.texts.iter().position(|texts| texts.options == *options).unwrap_or_else(|| {
            let captures = &self.base.captures;
            let (whole, alone) = (text(captures, options), vec![None; captures.len()]);
            self.texts.push(Texts { options: options.clone(), whole, alone });
            self.texts.len() - 1
        });
        let base = &self.base.captures[at];
        let alone = self.texts[known].alone[at].get_or_insert_with(|| text(std::slice::from_ref(base), options));
        if text(std::slice::from_ref(changed), options) != *alone {
            return true;
        }
        self.concerns_others(at, changed) && text(&self.with(at, changed.clone()), options) != self.texts[known].whole
    }

    fn with(&self, at: usize, changed: Captured) -> Vec<Captured> {
        let mut captures = self.base.captures.clone();
        captures[at] = changed;
        captures
    }
}

#[cfg(test)]
mod tests;
