//! The texts that collapsed events deliver in pieces, joined for each message: a service may cut a text anywhere, but the text
//! itself is part of its contract.

use std::collections::{BTreeMap, HashMap};

use super::golden::{self, Shown};
use super::held::{Held, Holding, Manner, TextKey};
use super::joined::{Joined, joined};
use super::lost::Lost;
use super::notation::{self, Normalize, hash};
use super::recorded::Recorded;
use super::told::Told;
use super::turns::Turns;
use crate::json::Json;
use retake_base::text::clipped;

/// The largest number of characters of a text that are shown.
const SHOWN: usize = 60;
/// The largest number of texts at one place that are shown for one run of collapsed events.
const TEXTS: usize = 12;

/// The texts of one label.
pub(super) struct Messages<'a> {
    places: Vec<Place<'a>>,
    recorded: &'a Recorded,
    /// Whether the events are collapsed: then each of their texts is shown, and otherwise those of the model.
    collapsed: bool,
}

/// The texts at one place.
struct Place<'a> {
    held: &'a Held,
    /// How its texts come, as the golden says.
    manner: Manner,
    /// The pieces of each text, with the line of its first piece, in the order of these lines.
    texts: Vec<(usize, Vec<String>)>,
    by_key: HashMap<TextKey, usize>,
}

impl<'a> Messages<'a> {
    /// No texts yet. `holding` says where they are.
    pub(super) fn new(holding: Option<&'a Holding>, recorded: &'a Recorded, collapsed: bool) -> Messages<'a> {
        let held = holding.into_iter().flat_map(|holding| &holding.held);
        let places = held.map(|(held, &manner)| Place { held, manner, texts: Vec::new(), by_key: HashMap::new() });
        Messages { places: places.collect(), recorded, collapsed }
    }

    /// Adds the pieces of an event; `line` is the line of the event.
    pub(super) fn take(&mut self, content: &Json, line: usize) {
        let collapsed = self.collapsed;
        for Place { held, manner, texts, by_key } in &mut self.places {
            held.path.each(content, &mut |at, piece| {
                // A text that is no piece may be empty in place of the model's words.
                let is_text = |piece: &&str| !piece.is_empty() || !collapsed && !manner.in_pieces;
                let Some(piece) = piece.as_str().filter(is_text) else { return };
                let next = texts.len();
                let nth = match (collapsed, manner.in_pieces) {
                    (true, _) => *by_key.entry(held.key(content, at, line)).or_insert(next),
                    // Other events between the pieces end no text.
                    (false, true) => *by_key.entry(held.key(content, at, 0)).or_insert(next),
                    (false, false) => next,
                };
                if nth == next {
                    texts.push((line, Vec::new()));
                }
                texts[nth].1.push(piece.to_owned());
            });
        }
    }

    /// Returns each text as it is shown, by line: with its places, of which several can have the same text. Texts that begin on
    /// the same line are sorted. Texts that are not the model's, of events that are not collapsed, are `lost`.
    pub(super) fn finish(
        self,
        label: &str,
        normalize: &Normalize,
        turns: &Turns<'_>,
        lost: &mut Vec<Lost>,
    ) -> BTreeMap<usize, Vec<Shown>> {
        // The places of each text, by line.
        let mut lines: BTreeMap<usize, BTreeMap<golden::Text, Vec<Held>>> = BTreeMap::new();
        for Place { held, manner, texts, .. } in self.places {
            let texts = texts.into_iter().map(|(line, pieces)| Text::of(line, &pieces, self.recorded, normalize));
            let words = turns.at(label, held);
            // Of collapsed events nothing else holds what stands around the words.
            let tells = |told: &Told| !self.collapsed || told.how.is_whole();
            let texts: Vec<Text> = texts.collect();
            let manner = texts.iter().fold(manner, |manner, text| manner.or(text.manner));
            let mut of_place: BTreeMap<usize, Vec<(String, golden::Text)>> = BTreeMap::new();
            let mut not_told = Vec::new();
            for text in texts {
                let (line, told) = (text.line, words.told(&text.whole).filter(tells));
                if self.collapsed || told.is_some() {
                    let shown = text.shown(manner, told);
                    of_place.entry(line).or_default().push((shown.to_string(), shown));
                } else {
                    not_told.push(text);
                }
            }
            if !not_told.is_empty() {
                lost.push(Lost { held: held.clone(), manner, texts: not_told });
            }
            for (line, mut texts) in of_place {
                texts.sort();
                if !self.collapsed && !manner.in_pieces {
                    // Values repeat as often as their events do.
                    texts.dedup();
                    let wholes: Vec<golden::Text> = texts.iter().map(|(_, text)| text.clone()).collect();
                    texts.retain(|(_, text)| !wholes.iter().any(|whole| text.is_part_of(whole)));
                }
                let more = texts.split_off(texts.len().min(TEXTS));
                if !more.is_empty() {
                    let all: Vec<String> = more.into_iter().map(|(printed, _)| printed).collect();
                    let more = golden::Text::More(all.len(), hash(all.join("\n")));
                    texts.push((more.to_string(), more));
                }
                let shown = lines.entry(line).or_default();
                // Equal texts of one place are told apart by how often the place is named.
                for (_, text) in texts {
                    shown.entry(text).or_default().push(held.clone());
                }
            }
        }
        let of_line = |(line, texts): (usize, BTreeMap<golden::Text, Vec<Held>>)| {
            let mut shown: Vec<Shown> = texts.into_iter().map(|(text, places)| Shown::Text(places, text)).collect();
            shown.sort_by_cached_key(ToString::to_string);
            (line, shown)
        };
        lines.into_iter().map(of_line).collect()
    }
}

/// A text, joined of its pieces.
pub(super) struct Text {
    /// The line of the event with its first piece.
    pub(super) line: usize,
    pub(super) whole: String,
    manner: Manner,
    /// How many pieces it has, if they are equal.
    equal: usize,
}

impl Text {
    fn of(line: usize, pieces: &[String], recorded: &Recorded, normalize: &Normalize) -> Text {
        let Joined { text: whole, manner } = joined(pieces, recorded);
        let equal = if pieces.iter().all(|piece| *piece == whole) { pieces.len() } else { 0 };
        Text { line, whole: normalize(&whole), manner, equal }
    }

    /// Returns the text as it is shown: `"The first characters of it…" (213, 4f1c)`, with the number of all characters and the
    /// beginning of the hash. `growing` marks a text of which each piece repeated everything so far: the same text in pieces to be
    /// joined is a different contract for clients. So is one that comes again after its pieces, `then whole`. What the text does
    /// not show by itself is said of the place.
    pub(super) fn shown(&self, place: Manner, told: Option<Told>) -> golden::Text {
        let manner = match self.equal {
            0 => Manner { in_pieces: place.in_pieces, ..self.manner },
            1 => Manner { then_whole: false, twice: false, ..place },
            _ => place,
        };
        if let Some(told) = told {
            return golden::Text::Turns(told, manner);
        }
        let start = notation::json_quoted(&clipped(&self.whole, SHOWN));
        golden::Text::Start(start, self.whole.chars().count(), hash(&self.whole), manner)
    }
}

#[cfg(test)]
mod tests;
