//! What a golden holds that is true of one recording, apart from the rest: it lies beside the fixture, so other words of the model change
//! that file and no golden.

use super::varying::tell;
use super::{Block, EventLine, Golden, Head, Kind, Kinds, NUMBER, Node, STRING, Top, change};

impl Golden {
    /// Returns it without what is true of one recording, and that by itself, if there is any: other words of the model change only that.
    pub fn apart(&self) -> (Golden, Option<Golden>) {
        let mut general = Golden { recording: None, ..self.clone() };
        let mut values = Golden { recording: self.recording.clone(), ..Golden::default() };
        // At the level of values, a golden is of any recording.
        let is_of_one = self.recording.is_some();
        for tree in general.blocks.iter_mut().flat_map(|block| &mut block.trees) {
            tree.whole.take_if(|_| is_of_one);
            tree.root.change(&leave_recording_out);
        }
        values.blocks = self.blocks.iter().map(|block| block.of_recording(is_of_one)).collect();
        (general, values.blocks.iter().any(|block| !block.trees.is_empty()).then_some(values))
    }

    /// Adds what is true of one recording, where the rest is as it was.
    pub fn add_values(&mut self, values: &Golden) {
        for (block, of) in self.blocks.iter_mut().zip(&values.blocks).filter(|(block, of)| block.request == of.request)
        {
            for tree in &mut block.trees {
                let Some(values) = of.trees.iter().find(|of| of.label() == tree.label()) else { continue };
                tree.whole = values.whole.clone().or(tree.whole.take());
                tree.root.add_values(&values.root);
            }
        }
        self.recording.clone_from(&values.recording);
    }
}

impl Block {
    /// The places whose values are true of one recording.
    fn of_recording(&self, with_wholes: bool) -> Block {
        let mut trees = self.trees.clone();
        trees.retain_mut(|tree| {
            tree.whole.take_if(|_| !with_wholes);
            tree.root.keep_of_recording() || tree.whole.is_some()
        });
        let head = self.head.as_ref();
        let head = head.map(|head| Head { status: head.status.clone(), media: head.media.clone(), ..Head::default() });
        let events = trees.iter().map(|tree| EventLine::named(tree.label())).collect();
        Block { request: self.request.clone(), head, events, trees, ..Block::default() }
    }
}

impl EventLine {
    fn named(label: &str) -> EventLine {
        let top = Top::Word(String::new());
        EventLine { label: label.to_owned(), top, times: 1, shown: Vec::new(), is_late: false }
    }
}

impl Node {
    fn keep_of_recording(&mut self) -> bool {
        self.below.retain_mut(Node::keep_of_recording);
        !self.below.is_empty() || self.is_of_recording()
    }

    fn is_of_recording(&self) -> bool {
        let mut found = false;
        self.kinds.iter().for_each(|kind| kind.each(&mut |kind| found |= kind.is_of_recording()));
        found
    }

    fn add_values(&mut self, values: &Node) {
        let mut kinds = values.kinds.clone();
        change(&mut kinds, &leave_recording_out);
        if values.is_of_recording() && kinds == self.kinds {
            self.kinds.clone_from(&values.kinds);
        }
        for below in &mut self.below {
            let Some(values) = values.below.iter().find(|of| of.name == below.name) else { continue };
            below.add_values(values);
        }
    }
}

/// Leaves out of kinds what is true of one recording.
fn leave_recording_out(kinds: &mut Kinds) {
    tell(kinds, &Kind::is_of_recording, &|kind| {
        Some(match kind {
            Kind::Derived(of) => of.time().unwrap_or_else(|| Kind::plain(if of.is_number() { NUMBER } else { STRING })),
            other => other.bare().clone(),
        })
    });
}
