//! What follows from answers that were given anew, as in a fork: in how many pieces their texts come.

use std::collections::BTreeMap;

use super::{EventLine, Golden, Shown, Text, Top};

impl Golden {
    /// The golden with one event in place of the pieces of each text that turns after this many said. How many pieces there are
    /// follows from the answer.
    #[must_use]
    pub fn with_pieces_once(mut self, kept: usize) -> Golden {
        for block in &mut self.blocks {
            // By label, the events that may still be pieces of such a text.
            let mut open: BTreeMap<String, (Top, Vec<Shown>)> = BTreeMap::new();
            block.events.retain_mut(|event| match event.pieces_are_after(kept) {
                Some(true) => {
                    event.times = 1;
                    open.insert(event.label.clone(), event.as_piece());
                    true
                }
                Some(false) => {
                    open.remove(&event.label);
                    true
                }
                None => open.get(&event.label) != Some(&event.as_piece()),
            });
        }
        self
    }
}

impl EventLine {
    /// Whether all texts whose pieces begin here are of later turns; `None` if none begins.
    fn pieces_are_after(&self, kept: usize) -> Option<bool> {
        let told = self.shown.iter().filter_map(|shown| match shown {
            Shown::Text(_, Text::Turns(told, manner)) if manner.in_pieces => Some(told),
            _ => None,
        });
        let mut turns = told.flat_map(|told| &told.of).map(|source| source.turn).peekable();
        turns.peek()?;
        Some(turns.all(|turn| turn > kept))
    }

    /// What all pieces of one text have in common.
    fn as_piece(&self) -> (Top, Vec<Shown>) {
        let others = self.shown.iter().filter(|shown| !matches!(shown, Shown::Text(..)));
        (self.top.without_lengths(), others.cloned().collect())
    }
}
