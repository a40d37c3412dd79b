//! Which words of the model a service passes on, and where. A committed golden names it; when one is written, a replay shows it in
//! which the model's texts are marked: where the mark comes, the words are the model's, and an equal text without it is not.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::golden::{Block, Golden, Shown, Text, Top};
use super::held::{Held, Holdings};
use super::recorded::Recorded;
use super::told::{Words, quoted};

/// The words of the model at the places of each label.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    pub(super) holdings: Holdings,
    words: HashMap<String, BTreeMap<Held, BTreeSet<Words>>>,
}

/// What tells which texts are the model's.
#[derive(Clone, Copy, Debug, Default)]
pub enum Tells<'a> {
    /// That they are equal, and more than a word.
    #[default]
    Likeness,
    /// That they are equal, even by chance.
    Equality,
    /// This mark, in the texts that have it; otherwise likeness.
    Mark(char),
    /// What a replay with the mark has shown.
    Shown(&'a Passed),
}

impl Tells<'_> {
    /// Whether an equal text is the model's, however short it is.
    pub(super) fn shows(self, text: &str) -> bool {
        match self {
            Tells::Equality => true,
            Tells::Mark(mark) => text.contains(mark),
            Tells::Likeness | Tells::Shown(_) => false,
        }
    }
}

/// A text of the model: the block of the golden, its line, its place, and whose words it has.
type Told<'a> = (usize, usize, &'a str, &'a Held, Words);

impl Passed {
    /// What a golden names.
    pub fn of(golden: &Golden) -> Passed {
        let mut passed = Passed::default();
        for event in golden.blocks.iter().flat_map(|block| &block.events) {
            if event.shown.contains(&Shown::NotHeld) {
                passed.holdings.entry(event.label.clone()).or_default().not_held = true;
            }
        }
        // A label of whose texts none has a place is left out.
        for (_, event, held, text) in golden.blocks.iter().flat_map(Block::texts_held) {
            let holding = passed.holdings.entry(event.label.clone()).or_default();
            let manner = holding.held.entry(held.clone()).or_default();
            *manner = manner.or(text.manner());
        }
        for (.., label, held, words) in told(golden) {
            passed.of_place(label, held).insert(words);
        }
        passed
    }

    /// What a run passes on, by its golden, which names what that of a run with the mark has, and by the latter. `None` if the run went
    /// another way with the mark.
    pub fn shown(run: &Golden, marked: &Golden) -> Option<Passed> {
        if run.blocks.len() != marked.blocks.len() || !run.blocks.iter().zip(&marked.blocks).all(same_way) {
            return None;
        }
        let mut passed = Passed::of(marked);
        let [of_run, of_marked] = [run, marked].map(|of| told(of).collect::<BTreeSet<Told<'_>>>());
        // Words that stand there once by chance, too.
        for (.., label, held, words) in of_run.symmetric_difference(&of_marked) {
            passed.of_place(label, held).remove(words);
        }
        let collapsed = |label: &str| {
            let mut events = marked.blocks.iter().flat_map(|block| &block.events);
            events.any(|event| event.label == label && event.top == Top::Collapsed)
        };
        for (label, holding) in passed.holdings.iter_mut().filter(|(label, _)| !collapsed(label)) {
            let words = passed.words.get(label);
            holding.held.retain(|held, _| words.and_then(|of| of.get(held)).is_some_and(|of| !of.is_empty()));
        }
        Some(passed)
    }

    /// Whose words stand at a place.
    pub(super) fn at(&self, label: &str, held: &Held) -> Option<&BTreeSet<Words>> {
        self.words.get(label)?.get(held)
    }

    /// Whether words of a turn, counted from 0, stand anywhere, and nothing else beside them.
    pub fn has(&self, turn: usize) -> bool {
        self.all().iter().any(|(source, is_beside)| source.turn == turn + 1 && !is_beside)
    }

    /// Whose words stand anywhere.
    pub(super) fn all(&self) -> BTreeSet<Words> {
        self.words.values().flat_map(BTreeMap::values).flatten().cloned().collect()
    }

    fn of_place(&mut self, label: &str, held: &Held) -> &mut BTreeSet<Words> {
        self.words.entry(label.to_owned()).or_default().entry(held.clone()).or_default()
    }
}

/// Whether two responses consist of the same events.
fn same_way((one, other): (&Block, &Block)) -> bool {
    let status = |block: &Block| block.head.as_ref().map(|head| (head.status.clone(), head.media.clone()));
    let same = |(one, other): (&super::golden::EventLine, &super::golden::EventLine)| {
        (&one.label, &one.top, one.times, one.is_late) == (&other.label, &other.top, other.times, other.is_late)
    };
    one.request == other.request
        && status(one) == status(other)
        && one.ending == other.ending
        && one.events.len() == other.events.len()
        && one.events.iter().zip(&other.events).all(same)
}

/// The texts of the model in a golden.
fn told(golden: &Golden) -> impl Iterator<Item = Told<'_>> {
    golden.blocks.iter().enumerate().flat_map(|(at, block)| {
        block.texts_held().flat_map(move |(line, event, held, text)| {
            let told = if let Text::Turns(told, _) = text { Some(told) } else { None };
            let words = told.into_iter().flat_map(|told| told.of.iter().map(|of| (of.clone(), told.how.is_beside())));
            words.map(move |words| (at, line, event.label.as_str(), held, words))
        })
    })
}

/// Returns the turns that say something of which a golden has no words, each with what it says.
pub fn held_nowhere(golden: &Golden, recorded: &Recorded) -> Vec<(usize, String)> {
    let held: BTreeSet<usize> = told(golden).map(|(.., (source, _))| source.turn).collect();
    let says = recorded.said.iter().filter(|(source, text)| source.part.is_empty() && !text.trim().is_empty());
    says.filter(|(source, _)| !held.contains(&source.turn)).map(|(source, text)| (source.turn, quoted(text))).collect()
}

#[cfg(test)]
mod tests;
