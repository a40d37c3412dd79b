//! The answers to steps that are not captured: a sign-in, an upload, a question whose answer nobody looks at. A golden holds them as far as they
//! are the same in each run; where they vary, it says so, and nothing fails.

use super::captured::{BESIDE, Captured};
use super::golden::{Block, Golden, Top, VARIES};
use super::labels::request_of;
use super::notation::Normalize;

/// An answer that goes into a golden.
pub(super) struct Kept<'a> {
    pub(super) capture: &'a Captured,
    /// What a committed golden has in its place.
    pub(super) committed: Option<&'a Block>,
    /// Whether its body goes into the golden, too.
    pub(super) is_whole: bool,
}

/// Returns the answers that go into a golden. A committed golden may hold fewer that are not captured.
pub(super) fn kept<'a>(captures: &'a [Captured], golden: Option<&'a Golden>, normalize: &Normalize) -> Vec<Kept<'a>> {
    let mut known = Rest(golden.map_or(&[], |golden| &golden.blocks));
    let kept = |capture: &'a Captured| {
        let is_beside = capture.delivery.is_beside;
        let block = known.next(&request_of(capture, normalize), is_beside);
        let is_whole = !is_beside || golden.is_none() || !block?.events.is_empty();
        Some(Kept { capture, committed: block, is_whole })
    };
    captures.iter().filter_map(kept).collect()
}

/// The blocks of a golden that are still to come.
struct Rest<'a>(&'a [Block]);

impl<'a> Rest<'a> {
    /// The block of the next answer to a request. Without events, a block may be of a step that is captured, or of one that is not.
    fn next(&mut self, request: &str, is_beside: bool) -> Option<&'a Block> {
        let may_be = |of: &&Block| of.is_beside() && (is_beside || of.request != request || !of.events.is_empty());
        let before = self.0.iter().take_while(may_be).count();
        let at = if is_beside { self.0[..before].iter().position(|block| block.request == request)? } else { before };
        let block = self.0.get(at)?;
        self.0 = &self.0[at + 1..];
        Some(block)
    }
}

impl Golden {
    /// Says of bodies that are not captured, and differ between goldens of one scenario, that they vary.
    pub fn agree_beside(goldens: &mut [&mut Golden]) {
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
    pub fn keep_varying_beside(&mut self, known: &Golden) {
        self.paired(known).filter(|(_, known)| known.varies()).for_each(|(block, _)| block.let_vary());
    }

    /// Its answers, each with that of an older golden. The one or the other may hold answers that are not captured.
    pub(super) fn paired<'a>(&'a mut self, other: &'a Golden) -> impl Iterator<Item = (&'a mut Block, &'a Block)> {
        let mut others = Rest(&other.blocks);
        self.blocks.iter_mut().filter_map(move |block| {
            let other = others.next(&block.request, block.is_beside())?;
            Some((block, other))
        })
    }
}

impl Block {
    /// Whether its step is not captured. Older goldens have no bodies of these.
    fn is_beside(&self) -> bool {
        self.head.is_some() && self.events.iter().all(|event| event.label == BESIDE)
    }

    fn varies(&self) -> bool {
        self.events.iter().any(|event| event.label == BESIDE && event.top == Top::Word(VARIES.to_owned()))
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
