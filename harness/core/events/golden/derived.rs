//! What a golden holds of the model's words and tokens, other than where they go. Numbers of tokens are told by the turns of the recording
//! that took them. What else follows from the model, such as a price, or a page rendered from its words, is true of one recording, and a run
//! with another one is compared without.

use std::slice::from_ref;

use super::clocks::{is_time, keep_times};
use super::varying::{
    Act, at_node, is_open, is_quoted, leave_out_wholes, let_order_vary, numbers, open_numbers, open_texts, replace,
    tell, texts,
};
use super::{Golden, Kind, Kinds, NUMBER, STRING};
use crate::events::marked::Passed;
use crate::events::recorded::Recorded;

impl Golden {
    /// Tells what runs with more tokens and marked words have otherwise: numbers of tokens by their turns, any other value as true of this
    /// recording. What these runs leave open varies.
    pub fn tell_derived(&mut self, with_more: &Golden, recorded: &Recorded) {
        let act: Act<'_> = &|kinds, other| {
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
            // A number or a text that is held.
            let is_value = |kind: &Kind| kind.is_number() || is_quoted(kind);
            tell(kinds, &is_value, &|kind| (is_other(kind) && !kind.is_tokens()).then(|| kind.derived()));
            let_order_vary(kinds, other, &|order, other| order != other);
        };
        self.at_trees(with_more, &|tree, other| at_node(&mut tree.root, from_ref(&other.root), act));
        self.recording = Some(recorded.hash());
    }

    /// Whether what answers said before they broke off counts as the model's words in this golden, as it did not in older ones.
    pub fn tells_broken_off(&self, recorded: &Recorded) -> bool {
        let names_one = || Passed::of(self).all().iter().any(|(of, _)| recorded.broken_off.contains(&of.turn));
        recorded.broken_off.is_empty() || self.recording == Some(recorded.hash()) || names_one()
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
            keep_times(kinds, known);
            let (is_told, holds) = (kinds.iter().any(is_time), known.iter().any(Kind::is_instant));
            kinds.retain(|kind| !is_told || if holds { !is_time(kind) } else { !kind.is_instant() });
            // In the same recording, what a text says as a whole is all there is of it.
            let says = |kind: &Kind| if is_same { kind.whole().clone() } else { kind.bare().clone() };
            let as_there = |kind: &Kind| known.iter().find(|known| says(known) == says(kind));
            tell(kinds, &is_quoted, &|kind| as_there(kind).filter(|_| !known.contains(kind)).cloned());
            for (is_it, open) in [(&Kind::is_number as &dyn Fn(&Kind) -> bool, NUMBER), (&is_quoted, STRING)] {
                let known: Kinds = known.iter().filter(|kind| is_it(kind)).cloned().collect();
                let is_one = |kind: &Kind| is_it(kind) || *kind == Kind::plain(open);
                let holds_derived = known.iter().any(|kind| matches!(kind, Kind::Derived(_)));
                if holds_derived && is_same {
                    tell(kinds, is_it, &|kind| (!known.contains(kind)).then(|| kind.derived()));
                } else if holds_derived && kinds.iter().any(is_one) {
                    replace(kinds, &is_one, known);
                }
            }
        });
        if !is_same {
            self.at_trees(known, &|tree, known| tree.whole.clone_from(&known.whole));
        }
    }
}

impl Kind {
    /// The same as a value that follows from the model: a text as a whole.
    fn derived(&self) -> Kind {
        Kind::Derived(Box::new(self.whole().clone()))
    }
}
