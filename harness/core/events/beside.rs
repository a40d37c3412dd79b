//! The answers to steps that are not captured: a sign-in, an upload, a question whose answer nobody looks at. A golden holds them as far as they
//! are the same in each run; where they vary, it says so, and nothing fails.

use super::captured::{Captured, IN_PASSING};
use super::golden::{Block, Golden, Top, VARIES};
use super::notation::{self, Normalize};

/// Returns the answers that go into a golden, and whether their bodies do. A committed golden may hold fewer that are not captured.
pub(super) fn kept<'a>(
    captures: &'a [Captured],
    committed: Option<&Golden>,
    normalize: &Normalize<'_>,
) -> Vec<(&'a Captured, bool)> {
    let mut known = committed.map(|golden| golden.blocks.iter().peekable());
    let is_kept = |capture: &'a Captured| {
        let Some(known) = &mut known else { return Some((capture, true)) };
        if !capture.delivery.is_beside {
            known.next();
            return Some((capture, true));
        }
        let block = known.next_if(|block| block.is_beside() && block.request == request_of(capture, normalize))?;
        Some((capture, !block.events.is_empty()))
    };
    captures.iter().filter_map(is_kept).collect()
}

/// Returns the request of an answer, as a golden has it.
pub(super) fn request_of(capture: &Captured, normalize: &Normalize<'_>) -> String {
    notation::unseen_escaped(normalize(capture.request.trim()).trim()).into_owned()
}

impl Golden {
    /// Says of bodies that are not captured, and differ between goldens of one scenario, that they vary.
    pub fn agree_in_passing(goldens: &mut [&mut Golden]) {
        let Some((first, others)) = goldens.split_first_mut() else { return };
        for (at, block) in first.blocks.iter_mut().enumerate().filter(|(_, block)| block.is_beside()) {
            let mut of_others = others.iter_mut().filter_map(|other| other.blocks.get_mut(at));
            if of_others.any(|other| (&other.events, &other.trees) != (&block.events, &block.trees)) {
                block.let_vary();
                others.iter_mut().filter_map(|other| other.blocks.get_mut(at)).for_each(Block::let_vary);
            }
        }
    }

    /// Says of bodies that are not captured that they vary where another golden says so.
    pub fn keep_varying_in_passing(&mut self, known: &Golden) {
        for (block, _) in self.paired(known).filter(|(_, known)| known.varies()) {
            block.let_vary();
        }
    }

    /// Its answers, each with that of an older golden. The one or the other may hold answers that are not captured.
    pub(super) fn paired<'a>(&'a mut self, other: &'a Golden) -> impl Iterator<Item = (&'a mut Block, &'a Block)> {
        let mut others = other.blocks.iter().peekable();
        self.blocks.iter_mut().filter_map(move |block| {
            if block.is_beside() {
                let is_it = |other: &&Block| other.is_beside() && other.request == block.request;
                return others.next_if(is_it).map(|other| (block, other));
            }
            others.find(|other| !other.is_beside()).map(|other| (block, other))
        })
    }
}

impl Block {
    /// Whether its step is not captured. Older goldens have no bodies of these.
    fn is_beside(&self) -> bool {
        self.head.is_some() && self.events.iter().all(|event| event.label == IN_PASSING)
    }

    fn varies(&self) -> bool {
        self.events.iter().any(|event| event.label == IN_PASSING && event.top == Top::Word(VARIES.to_owned()))
    }

    fn let_vary(&mut self) {
        self.events.iter_mut().for_each(|event| {
            event.top = Top::Word(VARIES.to_owned());
            event.shown.clear();
        });
        self.trees.clear();
    }
}

#[cfg(test)]
mod tests;
