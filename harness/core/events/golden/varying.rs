//! The numbers and texts that a golden holds: those that are the same in each run, and those of tokens, which are told by the turns of the
//! recording that took them. A number that another run has otherwise is open, and once a committed golden says so, it stays so.

use std::collections::BTreeSet;

use super::{Golden, Kind, Kinds, NUMBER, Node, Printed, STRING};
use crate::events::foreign::MODEL;
use crate::events::order::Order;
use crate::events::recorded::Recorded;
use crate::events::times;
use crate::events::tokens;
use crate::events::words::{is_exact, is_word, leaves_numbers_out};
use crate::json::Json;

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
            if times_of(kinds) != times_of(other) {
                let forms: BTreeSet<&str> = times_of(kinds).into_iter().map(|time| times::parts(time).0).collect();
                let forms: Kinds = forms.into_iter().map(|form| Kind::Time(form.to_owned())).collect();
                kinds.retain(|kind| !matches!(kind, Kind::Time(_)));
                kinds.extend(forms);
                kinds.sort_by_cached_key(ToString::to_string);
            }
            let_order_vary(kinds, other, &|order, other| order != other);
        });
    }

    /// Has the order of lists only where a committed golden has it.
    pub(in crate::events) fn keep_order_as(&mut self, known: &Golden) {
        self.at_places(known, &|kinds, known| {
            let_order_vary(kinds, known, &|_, known| *known == Some(Order::Any));
            if let (Some(order), None) = (order_of_mut(kinds), order_of(known)) {
                *order = None;
            }
        });
    }

    /// Has the order of lists only where nothing else differs from a committed golden: what elements say otherwise tells more.
    #[must_use]
    pub fn with_order_if_alone(self, committed: &Golden) -> Golden {
        let same = self.clone().with_order_of(committed);
        if same == *committed { self } else { same }
    }

    /// Has the order that lists have in another golden.
    pub(super) fn with_order_of(mut self, other: &Golden) -> Golden {
        self.at_places(other, &|kinds, other| {
            if let Some(order) = order_of_mut(kinds) {
                *order = order_of(other);
            }
        });
        self
    }

    /// Leaves numbers and texts open that a committed golden leaves open: they may be the same by chance.
    pub fn keep_open(&mut self, known: &Golden) {
        self.at_places(known, &|kinds, known| {
            if known.contains(&Kind::plain(NUMBER)) {
                put(kinds, &|_| None);
            }
            open_texts(kinds, known.contains(&Kind::plain(STRING)) && texts(kinds) != texts(known));
            let_order_vary(kinds, known, &|_, known| *known == Some(Order::Any));
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
            let_order_vary(kinds, other, &|order, other| order != other);
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

    /// Whether it tells words with digits, or how far away times are.
    pub fn is_exact(&self) -> bool {
        let mut found = false;
        let see = &mut |kind: &Kind| {
            let is_away = matches!(kind, Kind::Time(time) if !times::parts(time).1.is_empty());
            found |= is_away || kind.says(&is_exact);
        };
        self.blocks.iter().flat_map(|block| &block.trees).for_each(|tree| tree.root.each(see));
        found
    }

    /// Leaves ids open that another run has otherwise.
    pub fn agree_on_ids(&mut self, other: &Golden) {
        self.at_places(other, &|kinds, other| {
            if ids(kinds) != ids(other) {
                kinds.retain(|kind| !is_id(kind));
                open_texts(kinds, true);
            }
        });
    }

    /// Tells texts with the words that have digits where these are the same in other runs of the scenario, `exact`, the first of which is
    /// this one. They may be a clock, so this is known only if that `moved`, or as far as a committed golden tells them; and what that
    /// tells without them has varied once.
    pub fn tell_exactly(&mut self, mut exact: Golden, others: &[Golden], moved: bool, committed: Option<&Golden>) {
        for other in others {
            exact.agree_on_values(other);
        }
        let exact = match committed {
            None if !moved => return,
            None => exact,
            Some(known) if moved => {
                exact.at_places(known, &|kinds, known| {
                    let varied = is_open(known) || texts(known).iter().any(|text| text.says(&leaves_numbers_out));
                    open_texts(kinds, varied && texts(kinds) != texts(known));
                });
                exact
            }
            Some(known) => {
                let mut known = known.clone();
                known.agree_on_values(&exact);
                known
            }
        };
        self.at_places(&exact, &|kinds, exact| {
            if texts(exact).iter().any(|text| text.says(&is_exact)) && (!is_open(exact) || is_open(kinds)) {
                kinds.retain(|kind| !matches!(kind, Kind::Quoted(_)) && *kind != Kind::plain(STRING));
                let held = exact.iter().filter(|kind| matches!(kind, Kind::Quoted(_)) || **kind == Kind::plain(STRING));
                kinds.extend(held.cloned());
                kinds.sort_by_cached_key(ToString::to_string);
            }
            if times_of(exact).iter().any(|time| !times::parts(time).1.is_empty()) {
                kinds.retain(|kind| !matches!(kind, Kind::Time(_)));
                kinds.extend(times_of(exact).into_iter().map(|time| Kind::Time(time.to_owned())));
                kinds.sort_by_cached_key(ToString::to_string);
            }
        });
    }

    fn at_places(&mut self, other: &Golden, act: Act<'_>) {
        for (block, other) in self.paired(other) {
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
        for other in other {
            match (&mut *kind, other) {
                (Kind::List(list), Kind::List(other)) => at_place(&mut list.elements, &other.elements, act),
                (Kind::Object(fields), Kind::Object(others)) => {
                    for (field, other) in fields.iter_mut().zip(others).filter(|(field, of)| field.name == of.name) {
                        at_place(&mut field.kinds, &other.kinds, act);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The order of the list at a place, if there is one.
fn order_of(kinds: &[Kind]) -> Option<Order> {
    kinds.iter().find_map(|kind| if let Kind::List(list) = kind { list.order.clone() } else { None })
}

fn order_of_mut(kinds: &mut [Kind]) -> Option<&mut Option<Order>> {
    kinds.iter_mut().find_map(|kind| if let Kind::List(list) = kind { Some(&mut list.order) } else { None })
}

/// Says of a list that its order varies, by the one in another golden.
fn let_order_vary(kinds: &mut [Kind], other: &[Kind], varies: &dyn Fn(&Option<Order>, &Option<Order>) -> bool) {
    let order = order_of_mut(kinds).filter(|order| order.is_some() && varies(order, &order_of(other)));
    if let Some(order) = order {
        *order = Some(Order::Any);
    }
}

/// Kinds as they stand on a line, without the order of lists.
pub(in crate::events) fn without_orders(kinds: &[Kind]) -> String {
    let mut kinds = kinds.to_vec();
    kinds.iter_mut().for_each(leave_order_out);
    Printed(&kinds).to_string()
}

fn leave_order_out(kind: &mut Kind) {
    match kind {
        Kind::List(list) => {
            list.order = None;
            list.elements.iter_mut().for_each(leave_order_out);
        }
        Kind::Object(fields) => fields.iter_mut().flat_map(|field| &mut field.kinds).for_each(leave_order_out),
        _ => {}
    }
}

fn times_of(kinds: &[Kind]) -> Vec<&str> {
    kinds.iter().filter_map(|kind| if let Kind::Time(time) = kind { Some(&**time) } else { None }).collect()
}

fn is_open(kinds: &[Kind]) -> bool {
    kinds.contains(&Kind::plain(STRING))
}

fn is_id(kind: &Kind) -> bool {
    matches!(kind, Kind::Id(_) | Kind::Short(_))
}

fn ids(kinds: &[Kind]) -> Vec<&Kind> {
    kinds.iter().filter(|kind| is_id(kind)).collect()
}

fn numbers(kinds: &[Kind]) -> Vec<&Kind> {
    kinds.iter().filter(|kind| kind.is_number()).collect()
}

/// The texts that are held at a place, other than words and the name of the model.
fn texts(kinds: &[Kind]) -> Vec<&Kind> {
    let is_text = |text: &str| !is_word(text) && text != MODEL;
    kinds.iter().filter(|kind| matches!(kind, Kind::Quoted(text) if is_text(text.trim_matches('"')))).collect()
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

    /// Whether it is a text of which something is true.
    fn says(&self, is_true: &dyn Fn(&str) -> bool) -> bool {
        let Kind::Quoted(text) = self else { return false };
        Json::parse(text.as_bytes()).is_ok_and(|text| text.as_str().is_some_and(is_true))
    }

    /// Whether it is a number of tokens, told by its turns.
    fn is_tokens(&self) -> bool {
        matches!(self, Kind::Plain(text) if text.contains(tokens::OF))
    }
}
