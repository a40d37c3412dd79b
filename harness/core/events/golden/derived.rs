//! What a golden holds of the model's words and tokens, other than where they go. Numbers of tokens are told by the turns of the recording
//! that took them. What else follows from the model, such as a price, or a page rendered from its words, is true of one recording: it lies
//! beside the fixture, with the recording's hash, and a run with another recording is compared without.

use super::varying::{
    is_open, is_quoted, is_time, leave_out_wholes, let_order_vary, numbers, open_numbers, open_texts, replace, tell,
    texts,
};
use super::{Block, EventLine, Golden, Head, Kind, Kinds, NUMBER, Node, STRING, Top, Tree};
use crate::events::recorded::Recorded;

impl Golden {
    /// Tells what runs with more tokens and marked words have otherwise: numbers of tokens by their turns, any other value as true of this
    /// recording. What these runs leave open varies.
    pub fn tell_derived(&mut self, with_more: &Golden, recorded: &Recorded) {
        self.at_places(with_more, &|kinds, other| {
            let is_there = |number: u64| other.contains(&Kind::Plain(number.to_string()));
            let fits = |number| move |_: &str, more| is_there(number + more) || is_there(number + 2 * more);
            open_numbers(kinds, other.contains(&Kind::plain(NUMBER)));
            open_texts(kinds, is_open(other) && texts(kinds) != texts(other));
            if numbers(kinds) != numbers(other) {
                tell(kinds, &Kind::is_number, &|kind| {
                    let number = kind.to_string().parse().ok();
                    number.and_then(|number| recorded.tokens(number, &fits(number))).map(Kind::Plain)
                });
            }
            leave_out_wholes(kinds, &|whole| !other.contains(whole.bare()));
            let is_other = |kind: &Kind| other.iter().all(|other| other.bare() != kind.bare());
            tell(kinds, &is_value, &|kind| (is_other(kind) && !kind.is_tokens()).then(|| kind.derived()));
            let_order_vary(kinds, other, &|order, other| order != other);
        });
        self.recording = Some(recorded.hash());
    }

    /// Tells these values as a committed golden does. If that is of another recording, what is true of one is as there.
    pub(in crate::events) fn tell_derived_as(&mut self, known: &Golden, recorded: &Recorded) {
        let is_same = known.recording.as_ref().is_some_and(|recording| *recording == recorded.hash());
        self.recording.clone_from(&known.recording);
        self.at_places(known, &|kinds, known| {
            if known.iter().any(Kind::is_tokens) {
                let is_there = |name: &str, _| known.contains(&Kind::plain(name));
                let told = |kind: &Kind| recorded.tokens(kind.to_string().parse().ok()?, &is_there).map(Kind::Plain);
                tell(kinds, &Kind::is_number, &told);
            }
            let far = known.iter().find_map(|kind| if let Kind::Time(_, away) = kind { Some(&**away) } else { None });
            tell(kinds, &is_time, &|time| Some(time.as_far_as(far.unwrap_or_default())));
            if !is_same {
                let as_there = |kind: &Kind| known.iter().find(|known| known.bare() == kind.bare() && *known != kind);
                tell(kinds, &is_quoted, &|kind| as_there(kind).cloned());
            }
            for (is_it, open) in [(&Kind::is_number as &dyn Fn(&Kind) -> bool, NUMBER), (&is_quoted, STRING)] {
                let known: Kinds = known.iter().filter(|kind| is_it(kind)).cloned().collect();
                let is_one = |kind: &Kind| is_it(kind) || *kind == Kind::plain(open);
                if !known.iter().any(|kind| matches!(kind, Kind::Derived(_))) {
                } else if is_same {
                    tell(kinds, is_it, &|kind| (!known.contains(kind)).then(|| kind.derived()));
                } else if kinds.iter().any(is_one) {
                    replace(kinds, &is_one, known);
                }
            }
        });
    }
}

impl Golden {
    /// Returns it without what is true of one recording, and that by itself, if there is any: other words of the model change only that.
    pub fn apart(&self) -> (Golden, Option<Golden>) {
        let (mut general, mut values) =
            (self.clone(), Golden { recording: self.recording.clone(), ..Golden::default() });
        general.recording = None;
        general.blocks.iter_mut().flat_map(|block| &mut block.trees).for_each(|tree| tree.root.leave_out_recording());
        values.blocks = self.blocks.iter().map(Block::of_recording).collect();
        let holds_any = values.blocks.iter().any(|block| !block.trees.is_empty());
        (general, holds_any.then_some(values))
    }

    /// Adds what is true of one recording, where the rest is as it was.
    pub fn add_values(&mut self, values: &Golden) {
        for (block, of) in self.blocks.iter_mut().zip(&values.blocks).filter(|(block, of)| block.request == of.request)
        {
            for tree in &mut block.trees {
                if let Some(values) = of.trees.iter().find(|of| of.label() == tree.label()) {
                    tree.root.add_values(&values.root);
                }
            }
        }
        self.recording.clone_from(&values.recording);
    }
}

impl Block {
    /// The places whose values are true of one recording.
    fn of_recording(&self) -> Block {
        let mut trees: Vec<Tree> = self.trees.iter().map(|tree| Tree { hash: None, ..tree.clone() }).collect();
        trees.retain_mut(|tree| tree.root.keep_of_recording());
        let head = self.head.as_ref();
        let head = head.map(|head| Head { status: head.status.clone(), media: head.media.clone(), ..Head::default() });
        let event = |tree: &Tree| EventLine::named(tree.label());
        Block {
            request: self.request.clone(),
            head,
            events: trees.iter().map(event).collect(),
            trees,
            ..Block::default()
        }
    }
}

impl EventLine {
    fn named(label: &str) -> EventLine {
        let top = Top::Word(String::new());
        EventLine { label: label.to_owned(), top, times: 1, shown: Vec::new(), is_late: false }
    }
}

impl Node {
    fn leave_out_recording(&mut self) {
        general(&mut self.kinds);
        self.below.iter_mut().for_each(Node::leave_out_recording);
    }

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
        general(&mut kinds);
        if values.is_of_recording() && kinds == self.kinds {
            self.kinds.clone_from(&values.kinds);
        }
        for below in &mut self.below {
            if let Some(values) = values.below.iter().find(|of| of.name == below.name) {
                below.add_values(values);
            }
        }
    }
}

/// Leaves out of kinds what is true of one recording.
fn general(kinds: &mut Kinds) {
    for kind in kinds.iter_mut() {
        match kind {
            Kind::List(list) => general(&mut list.elements),
            Kind::Object(fields) => fields.iter_mut().for_each(|field| general(&mut field.kinds)),
            _ => {}
        }
    }
    tell(kinds, &Kind::is_of_recording, &|kind| {
        Some(match kind {
            Kind::Derived(value) => Kind::plain(if value.is_number() { NUMBER } else { STRING }),
            other => other.bare().clone(),
        })
    });
}

/// Whether it is a number or a text that is held.
fn is_value(kind: &Kind) -> bool {
    kind.is_number() || is_quoted(kind)
}

impl Kind {
    /// The same as a value that follows from the model: a text as a whole.
    fn derived(&self) -> Kind {
        Kind::Derived(Box::new(self.whole().clone()))
    }
}
