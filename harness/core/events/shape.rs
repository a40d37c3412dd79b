//! The text of a golden: for each captured response its request, its status, the sequence of its events, and one tree
//! for each event label.
//!
//! If each event were written out with its types, the lines would be too long to read. So the sequence has only names and
//! top-level keys, and the payloads are merged into trees, where a change at any depth changes its own line.

use std::cell::RefCell;
use std::collections::BTreeSet;

use super::captured::Captured;
use super::captured::Event;
use super::chosen::{Chosen, Places};
use super::foreign::Foreign;
use super::held::Named;
use super::ids::Ids;
use super::options::{Loose, ShapeOptions};
use super::parallel::Calls;
use super::pins::{Pinned, Pins};
use super::recorded::Recorded;
use super::search::holdings;
use super::sequence::{LabelShape, Sequence, Writing};
use super::tree::Trees;
use super::words::WordKeys;
use super::written::IN_PIECES;
use super::{headers, notation, outline};
use crate::json::Json;

/// The text of a golden, and its pins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Golden {
    /// The text, which ends with exactly one newline.
    pub text: String,
    pinned: Pinned,
}

impl Golden {
    /// Creates the golden of what a scenario captured, in the order of its steps.
    ///
    /// `normalize` replaces texts that vary between runs with names. It is called separately for each request, label, key,
    /// comment, text and shown value.
    pub fn of(captures: &[Captured], options: &ShapeOptions, normalize: &dyn Fn(&str) -> String) -> Golden {
        Golden::with(captures, options, &Known::default(), normalize)
    }

    /// Like [`Golden::of`], with what is known of the run besides its events.
    pub fn with(
        captures: &[Captured],
        options: &ShapeOptions,
        known: &Known,
        normalize: &dyn Fn(&str) -> String,
    ) -> Golden {
        let captures = &*known.calls.in_order(captures, options, normalize);
        let holdings = holdings(captures, options, known, normalize);
        let (ids, words) = (Ids::of(captures, options, normalize), WordKeys::new(&options.words));
        let chosen = Chosen::of(captures, options, normalize, &ids, known.committed.as_ref(), known.foreign.as_ref());
        let pinned = RefCell::default();
        let writing = Writing {
            options,
            normalize,
            ids: &ids,
            words: &words,
            chosen: &chosen,
            holdings: &holdings,
            recorded: &known.recorded,
            pinned: &pinned,
        };
        let mut trees = Trees::default();
        let texts: Vec<String> = captures.iter().map(|capture| text(capture, &writing, &mut trees)).collect();
        // Blank lines separate the captures, since `---` would look like the header of a snapshot file.
        let text = texts.join("\n\n") + if texts.is_empty() { "\n" } else { "" };
        Golden { text, pinned: pinned.into_inner() }
    }

    /// Returns the places at which this golden pins something different from another golden of the same scenario.
    pub fn differing_pins(&self, other: &Golden) -> Vec<Loose> {
        let places: BTreeSet<&Loose> = self.pinned.keys().chain(other.pinned.keys()).collect();
        let differs = |place: &&Loose| self.pinned.get(*place) != other.pinned.get(*place);
        places.into_iter().filter(differs).cloned().collect()
    }
}

/// Returns the golden text of what a scenario captured: see [`Golden::of`].
pub fn golden(captures: &[Captured], options: &ShapeOptions, normalize: &dyn Fn(&str) -> String) -> String {
    Golden::of(captures, options, normalize).text
}

/// Returns the label and the sorted top-level keys of each event, or `None` as keys if its payload is not an object. Comments
/// and unterminated tails are left out.
pub fn event_keys(events: &[Event]) -> Vec<(String, Option<Vec<String>>)> {
    let keys = |event: &Event| {
        let json = event.json();
        let keys = json.as_ref().and_then(Json::as_object).map(|object| object.keys().map(str::to_owned).collect());
        (event.label_with(json.as_ref()).to_owned(), keys)
    };
    events.iter().filter(|event| event.is_real()).map(keys).collect()
}

/// Returns the part of a golden for one capture.
fn text(capture: &Captured, writing: &Writing<'_>, trees: &mut Trees) -> String {
    let normalize = writing.normalize;
    let request = normalize(capture.request.trim());
    let request = notation::unseen_escaped(request.trim());
    if let Some(tree) = &capture.tree {
        let lines = tree.lines().map(|line| format!("{}\n", notation::unseen_escaped(&normalize(line))));
        return format!("{request}\n\n{}", lines.collect::<String>());
    }
    let sequence = Sequence::of(capture, writing);
    let media_type = capture.content_type.split(';').next().unwrap_or_default();
    let in_pieces = if capture.delivery.held_in_pieces { IN_PIECES } else { "" };
    let media_type = notation::unseen_escaped(media_type.trim());
    let status = format!("{} {media_type}{}{in_pieces}", capture.status, sequence.ids());
    let mut out = format!("{request}\n{}\n", status.trim_end());
    for line in headers::lines(&capture.delivery.headers, &writing.options.headers, normalize) {
        out.extend(["  ", &line, "\n"]);
    }
    if !sequence.is_empty() {
        out.push('\n');
        sequence.print(writing, &mut out);
    }
    if !sequence.shapes.is_empty() {
        out.push('\n');
    }
    for (label, LabelShape { name, keep, shape, hash }) in &sequence.shapes {
        let pins = Pins::new(name, writing.options, writing.pinned);
        trees.write(&outline::tree(label, shape, hash.as_deref(), *keep, (&pins, writing.chosen)), &mut out);
    }
    out
}

/// What is known of a run besides its events: what the model answered, what does not come from the service, and what the committed
/// golden pins. Without any of this, the usual keys tell what is a text, and what is a word.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// The texts in the recorded answers.
    pub recorded: Recorded,
    /// The tool calls in the recorded answers.
    pub calls: Calls,
    /// The texts that are not the service's own. Without them, no word counts as its own.
    pub foreign: Option<Foreign>,
    /// What the committed golden pins, if the run is compared with it. Otherwise it is found out anew what is pinned.
    pub committed: Option<Places>,
    /// The places of texts that the committed golden names. Texts of other events are looked for in the run.
    pub named: Named,
}

#[cfg(test)]
mod tests;
