//! The numbers and texts that a golden holds: those that are the same in each run, and those of tokens, which are told by the turns of the
//! recording that took them. A number that another run has otherwise is open, and once a committed golden says so, it stays so.

use super::{Golden, Kind, Kinds, NUMBER, Node, STRING};
use crate::events::recorded::Recorded;
use crate::events::tokens;
use crate::events::words::is_word;

/// What is done at a place, by what stands there in another golden.
type Act<'a> = &'a dyn Fn(&mut Kinds, &[Kind]);

impl Golden {
    /// Leaves numbers and texts open that another run of the scenario has otherwise.
    pub fn agree_on_values(&mut self, other: &Golden) {
        self.at_places(other, &|kinds, other| {
            if numbers(kinds) != numbers(other) {
                put(kinds, &|_| None);
            }
            open_texts(kinds, texts(kinds) != texts(other));
        });
    }

    /// Leaves numbers and texts open that a committed golden leaves open: they may be the same by chance.
    pub fn keep_open(&mut self, known: &Golden) {
        self.at_places(known, &|kinds, known| {
            if known.contains(&Kind::plain(NUMBER)) {
                put(kinds, &|_| None);
            }
            open_texts(kinds, known.contains(&Kind::plain(STRING)) && texts(kinds) != texts(known));
        });
    }

    /// Tells numbers that are others in a run with more tokens and marked words by the turns of the recording that took these. If none
    /// did, they are open, as are texts that are others.
    pub fn tell_tokens(&mut self, with_more: &Golden, recorded: &Recorded) {
        self.at_places(with_more, &|kinds, other| {
            let is_there = |number: u64| other.contains(&Kind::Plain(number.to_string()));
            if numbers(kinds) != numbers(other) {
                put(kinds, &|text| {
                    let number: u64 = text.parse().ok()?;
                    recorded.tokens(number, &|_, more| is_there(number + more) || is_there(number + 2 * more))
                });
            }
            open_texts(kinds, texts(kinds) != texts(other));
        });
    }

    /// Tells numbers of tokens as a committed golden does, where they are the same.
    pub(in crate::events) fn tell_tokens_as(&mut self, known: &Golden, recorded: &Recorded) {
        self.at_places(known, &|kinds, known| {
            if known.iter().any(Kind::is_tokens) {
                let is_there = |name: &str, _| known.contains(&Kind::plain(name));
                let told = |text: &str| recorded.tokens(text.parse().ok()?, &is_there);
                put(kinds, &|text| told(text).or_else(|| Some(text.to_owned())));
            }
        });
    }

    fn at_places(&mut self, other: &Golden, act: Act<'_>) {
        for (block, other) in self.blocks.iter_mut().zip(&other.blocks) {
            for tree in &mut block.trees {
                at_node(&mut tree.root, other.trees.iter().map(|tree| &tree.root), act);
            }
        }
    }
}

fn at_node<'a>(node: &mut Node, mut others: impl Iterator<Item = &'a Node>, act: Act<'_>) {
    let Some(other) = others.find(|other| other.name == node.name) else { return };
    at_place(&mut node.kinds, &other.kinds, act);
    for below in &mut node.below {
        at_node(below, other.below.iter(), act);
    }
}

fn at_place(kinds: &mut Kinds, other: &[Kind], act: Act<'_>) {
    act(kinds, other);
    for kind in kinds {
        if let Kind::List(list) = kind
            && let Some(Kind::List(other)) = other.iter().find(|kind| matches!(kind, Kind::List(_)))
        {
            at_place(&mut list.elements, &other.elements, act);
        }
    }
}

fn numbers(kinds: &[Kind]) -> Vec<&Kind> {
    kinds.iter().filter(|kind| kind.is_number()).collect()
}

/// The texts that are held at a place, other than words.
fn texts(kinds: &[Kind]) -> Vec<&Kind> {
    kinds.iter().filter(|kind| matches!(kind, Kind::Quoted(text) if !is_word(text.trim_matches('"')))).collect()
}

/// Leaves the texts at a place open, if they vary.
fn open_texts(kinds: &mut Kinds, vary: bool) {
    if vary {
        kinds.retain(|kind| !matches!(kind, Kind::Quoted(_)) && *kind != Kind::plain(STRING));
        kinds.push(Kind::plain(STRING));
        kinds.sort_by_cached_key(ToString::to_string);
    }
}

/// Puts a text in place of each number at a place. If one has none, all are open.
fn put(kinds: &mut Kinds, text: &dyn Fn(&str) -> Option<String>) {
    let texts: Option<Kinds> = numbers(kinds).iter().map(|kind| text(&kind.to_string()).map(Kind::Plain)).collect();
    if texts.as_ref().is_none_or(|texts| !texts.is_empty()) {
        kinds.retain(|kind| !kind.is_number());
        kinds.extend(texts.unwrap_or_else(|| vec![Kind::plain(NUMBER)]));
        kinds.sort_by_cached_key(ToString::to_string);
        kinds.dedup();
    }
}

impl Kind {
    /// Whether it is a number that is held.
    pub(in crate::events) fn is_number(&self) -> bool {
        let is_value = |text: &str| text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        self.is_tokens() || matches!(self, Kind::Plain(text) if is_value(text))
    }

    /// Whether it is a number of tokens, told by its turns.
    fn is_tokens(&self) -> bool {
        matches!(self, Kind::Plain(text) if text.contains(tokens::OF))
    }
}
