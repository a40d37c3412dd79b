//! Whether a client receives an answer while the model still gives it. This is asked, and not timed: the last piece of an answer is held
//! back until a client has received an event with text of it.

use std::collections::BTreeMap;

use super::captured::{Event, content};
use super::golden::{Block, Golden, Text, Top};
use super::labels::written;
use super::options::ShapeOptions;
use super::path::Path;
use super::recorded::Recorded;
use crate::json::Json;

/// The largest number of characters by which a piece of a text is known.
const KNOWN_BY: usize = 12;

/// What clients are to receive before answers end. Turns are counted from 1.
#[derive(Clone, Debug, Default)]
pub struct Passing {
    /// For each response of the golden.
    responses: Vec<Vec<Awaited>>,
    /// Whether a golden is to be written, and what was known is asked anew.
    asks: bool,
    options: ShapeOptions,
}

/// What is to come before one answer ends.
#[derive(Clone, Debug)]
struct Awaited {
    turn: usize,
    /// The places at which its text stands.
    texts: Vec<Place>,
    /// Whether the committed golden says that it comes.
    is_known: bool,
    came: bool,
    answer: State,
}

/// Whether an answer is under way. Only then an event can have a part of it that comes early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Awaited,
    UnderWay,
    /// It ended while it was held back in vain.
    Over,
    /// It ended otherwise.
    LetGo,
}

#[derive(Clone, Debug)]
struct Place {
    label: String,
    path: Path,
    said: String,
}

/// How long an answer is held back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// The committed golden says that a part of it comes.
    UntilItComes,
    /// Nobody knows whether a part of it comes: it does not, once the system is quiet.
    UntilQuiet,
}

impl Passing {
    /// What a committed golden says.
    pub fn known(golden: &Golden, recorded: &Recorded, options: &ShapeOptions) -> Passing {
        let mut passing = Passing::asked(golden, Some(golden), recorded, options);
        passing.responses.iter_mut().for_each(|awaited| awaited.retain(|awaited| awaited.is_known));
        Passing { asks: false, ..passing }
    }

    /// All that a golden can say of a run. `known` is what a golden said before.
    pub fn asked(golden: &Golden, known: Option<&Golden>, recorded: &Recorded, options: &ShapeOptions) -> Passing {
        let of_block = |(nth, block): (usize, &Block)| {
            let known = known.and_then(|known| known.blocks.get(nth)).map(Block::early).unwrap_or_default();
            let mut places: BTreeMap<usize, Vec<Place>> = BTreeMap::new();
            for (turn, place) in block.texts_in_pieces(recorded) {
                places.entry(turn).or_default().push(place);
            }
            let awaited = |(turn, texts)| {
                let is_known = known.contains(&turn);
                Awaited { turn, texts, is_known, came: false, answer: State::Awaited }
            };
            places.into_iter().map(awaited).collect()
        };
        let responses = golden.blocks.iter().enumerate().map(of_block).collect();
        Passing { responses, asks: true, options: options.clone() }
    }

    /// Whether nothing is to come.
    pub fn is_empty(&self) -> bool {
        self.responses.iter().all(Vec::is_empty)
    }

    /// Notes that the answer of a turn begins.
    pub fn begins(&mut self, turn: usize) {
        let of_turn = self.responses.iter_mut().flatten().filter(|awaited| awaited.turn == turn);
        of_turn.for_each(|awaited| awaited.answer = State::UnderWay);
    }

    /// Notes that a turn says another text in this run than in the recording.
    pub fn says(&mut self, turn: usize, text: &str) {
        let of_turn = self.responses.iter_mut().flatten().filter(|awaited| awaited.turn == turn);
        of_turn.flat_map(|awaited| &mut awaited.texts).for_each(|place| text.clone_into(&mut place.said));
    }

    /// Notes an event that a client has received.
    pub fn take(&mut self, event: &Event) {
        let open = |awaited: &&mut Awaited| awaited.answer == State::UnderWay && !awaited.came;
        let mut open = self.responses.iter_mut().flatten().filter(open).peekable();
        if open.peek().is_none() {
            return;
        }
        let json = event.json();
        let Some(content) = content(&event.payload, json.as_ref()) else { return };
        let label = written(&self.options, event, json.as_ref());
        for awaited in open {
            awaited.came = awaited.texts.iter().any(|place| place.label == label && place.is_in(&content));
        }
    }

    /// How long the answer of a turn is to be held back; `None` if what is to come before it ends has come.
    pub fn patience(&self, turn: usize) -> Option<Patience> {
        let is_open = |awaited: &&Awaited| awaited.turn == turn && !awaited.came && awaited.is_open();
        let mut open = self.responses.iter().flatten().filter(is_open).peekable();
        open.peek()?;
        Some(if open.any(|awaited| awaited.is_known) { Patience::UntilItComes } else { Patience::UntilQuiet })
    }

    /// Notes that the answer of a turn ends, and whether it was held back in vain until then.
    pub fn ends(&mut self, turn: usize, in_vain: bool) {
        let of_turn = self.responses.iter_mut().flatten().filter(|awaited| awaited.turn == turn && awaited.is_open());
        of_turn.for_each(|awaited| awaited.answer = if in_vain { State::Over } else { State::LetGo });
    }

    /// For each response, the turns of which a part came before they ended. Unless an answer was held back in vain, nothing is learnt of it:
    /// what is known is taken for granted, but for what was held back when a run that `broke` off let it go.
    pub fn came(&self, broke: bool) -> Vec<Vec<usize>> {
        // An answer that cannot be held back, since it comes in one piece now, never begins.
        let is_granted = |answer: State| match answer {
            State::Awaited => !self.asks,
            State::UnderWay | State::LetGo => !broke,
            State::Over => false,
        };
        let came = |awaited: &&Awaited| awaited.came || awaited.is_known && is_granted(awaited.answer);
        let turns = |awaited: &Vec<Awaited>| awaited.iter().filter(came).map(|awaited| awaited.turn).collect();
        self.responses.iter().map(turns).collect()
    }
}

impl Awaited {
    fn is_open(&self) -> bool {
        matches!(self.answer, State::Awaited | State::UnderWay)
    }
}

impl Place {
    /// Whether a text at the place is a piece with which the text begins, or a longer one of it: the first may be lost.
    fn is_in(&self, content: &Json) -> bool {
        let mut found = false;
        self.path.each(content, &mut |_, piece| {
            let piece = piece.as_str().unwrap_or_default().trim();
            let is_long = piece.chars().nth(KNOWN_BY - 1).is_some();
            found |= !piece.is_empty() && begins(self.said.trim(), piece) || is_long && self.said.contains(piece);
        });
        found
    }
}

/// Whether a text and a piece have the same beginning, as far as no form of escaping changes it.
fn begins(text: &str, piece: &str) -> bool {
    let plain = |c: &char| c.is_alphanumeric() || *c == ' ';
    text.chars().zip(piece.chars()).take(KNOWN_BY).take_while(|(c, _)| plain(c)).all(|(a, b)| a == b)
}

impl Block {
    fn early(&self) -> &[usize] {
        self.head.as_ref().map(|head| &head.early[..]).unwrap_or_default()
    }

    /// The places of the model's words that come in several events, each with its turn.
    fn texts_in_pieces(&self, recorded: &Recorded) -> Vec<(usize, Place)> {
        let mut found = Vec::new();
        for (_, event, held, text) in self.texts_held() {
            let Text::Turns(told, manner) = text else { continue };
            let is_cut = event.top == Top::Collapsed || manner.in_pieces || manner.grows;
            if !is_cut || !told.how.is_whole() {
                continue;
            }
            for (source, said) in recorded.said.iter().filter(|(source, _)| told.of.contains(source)) {
                let place = Place { label: event.label.clone(), path: held.path.clone(), said: said.clone() };
                found.push((source.turn, place));
            }
        }
        found
    }
}

impl Golden {
    /// Returns the turns of which each response passes on a part before they end.
    pub fn early(&self) -> Vec<Vec<usize>> {
        self.blocks.iter().map(|block| block.early().to_vec()).collect()
    }

    /// Adds those of another golden.
    pub fn add_early(&mut self, other: &Golden) {
        for (block, other) in self.paired(other) {
            let Some(head) = &mut block.head else { continue };
            head.early.extend_from_slice(other.early());
            head.early.sort_unstable();
            head.early.dedup();
        }
    }

    /// Returns it with other such turns.
    pub fn with_early(mut self, early: &[Vec<usize>]) -> Golden {
        let heads = self.blocks.iter_mut().map(|block| &mut block.head).enumerate();
        for (nth, head) in heads.filter_map(|(nth, head)| Some((nth, head.as_mut()?))) {
            head.early = early.get(nth).cloned().unwrap_or_default();
        }
        self
    }
}

#[cfg(test)]
mod tests;
