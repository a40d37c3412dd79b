//! The numbers and texts that a golden holds: those that are the same in each run. What another run has otherwise is open, and once a
//! committed golden says so, it stays so.

use std::cell::Cell;
use std::slice::from_ref;

use super::clocks::{drops_fraction, is_time, tell_away};
use super::{Golden, Kind, Kinds, List, NUMBER, Node, Printed, STRING, Tree, change};
use crate::events::foreign::MODEL;
use crate::events::order::Order;
use crate::events::tokens;
use crate::events::words::{is_exact, is_word, leaves_numbers_out};
use crate::json::Json;

/// What is done at a place, by what stands there in another golden.
pub(super) type Act<'a> = &'a dyn Fn(&mut Kinds, &[Kind]);

impl Golden {
    /// Leaves numbers and texts open that another run of the scenario has otherwise.
    pub fn agree_on_values(&mut self, other: &Golden) {
        self.at_places(other, &|kinds, other| {
            leave_out_wholes(kinds, &|whole| other.contains(whole));
            open_numbers(kinds, numbers(kinds) != numbers(other));
            open_texts(kinds, texts(kinds) != texts(other));
            tell(kinds, &|kind| drops_fraction(kind, other), &|_| other.iter().find(|kind| is_time(kind)).cloned());
            if of_sort(kinds, &is_time) != of_sort(other, &is_time) {
                tell(kinds, &is_time, &|time| Some(time.form()));
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

    /// Has the events of a text in pieces as often as a committed golden has them: where a text is cut is no contract. That it is cut at
    /// all is one, except for answers that are given `anew`, as in a fork.
    pub fn keep_pieces_as(&mut self, known: &Golden, anew: bool) {
        for (block, known) in self.blocks.iter_mut().zip(&known.blocks) {
            let in_pieces = |label| known.texts().iter().any(|(of, _, text)| *of == label && text.manner().in_pieces);
            let mut left = known.events.iter();
            for line in &mut block.events {
                let (mut ahead, this) = (left.clone(), (&line.label, &line.top, &line.shown));
                let Some(known) = ahead.find(|known| (&known.label, &known.top, &known.shown) == this) else {
                    continue;
                };
                left = ahead;
                if known.times != line.times && (anew || line.times > 1) && in_pieces(&known.label) {
                    line.times = known.times;
                }
            }
        }
    }

    /// Has the order of lists only where nothing else differs from a committed golden, but numbers that count the elements: what
    /// elements say otherwise tells more.
    pub fn with_order_if_alone(self, committed: &Golden) -> Golden {
        let is_count = |kind: &Kind| matches!(kind, Kind::From(_));
        let uncounted = |mut golden: Golden| {
            golden.at_places(&golden.clone(), &|kinds, _| tell(kinds, &is_count, &|_| Some(Kind::plain(NUMBER))));
            golden
        };
        let same = self.clone().with_order_of(committed);
        if uncounted(same.clone()) == uncounted(committed.clone()) { self } else { same }
    }

    /// Has the order that lists have in another golden.
    pub(super) fn with_order_of(mut self, other: &Golden) -> Golden {
        self.at_places(other, &take_order);
        self
    }

    /// Whether it holds the order of lists of two, which a few runs have in common by chance.
    pub fn holds_order_of_two(&self) -> bool {
        self.kinds().into_iter().any(Kind::is_order_of_two)
    }

    /// Leaves that order out.
    pub fn leave_out_order_of_two(&mut self) {
        self.at_places(&self.clone(), &|kinds, _| {
            kinds.iter_mut().filter(|kind| kind.is_order_of_two()).for_each(leave_order_out);
        });
    }

    /// Leaves numbers and texts open that a committed golden leaves open: they may be the same by chance. So may what events say.
    pub fn keep_open(&mut self, known: &Golden) {
        let vary = |kinds: &mut Kinds, known: &[Kind]| let_order_vary(kinds, known, &|_, of| *of == Some(Order::Any));
        self.at_trees(known, &|tree, known| {
            let (before, is_random) = (tree.root.clone(), Cell::new(false));
            at_node(&mut tree.root, from_ref(&known.root), &|kinds, known| {
                // Beside texts that vary, a random id without digits is no word.
                let is_one = |kind: &Kind| is_quoted(kind) && !is_said(kind);
                let is_new = |kind: &Kind| is_one(kind) && known.iter().all(|of| of.bare() != kind.bare());
                if is_open(known) && known.iter().any(is_quoted) && kinds.iter().any(is_new) {
                    replace(kinds, &is_new, [Kind::plain(STRING)]);
                    is_random.set(true);
                }
                open_texts(kinds, is_open(known) && texts(kinds) != texts(known));
                leave_out_wholes(kinds, &|whole| !known.contains(whole.bare()));
                vary(kinds, known);
            });
            tree.whole.take_if(|_| known.whole.is_none() && tree.root != before);
            if is_random.get() {
                // What stands together has such a word in its hash.
                at_node(&mut tree.root, from_ref(&known.root), &take_order);
                tree.whole.clone_from(&known.whole);
            }
        });
        self.at_places(known, &|kinds, known| {
            open_numbers(kinds, known.contains(&Kind::plain(NUMBER)));
            vary(kinds, known);
        });
    }

    /// Whether it tells words with digits, or how far away times are.
    pub fn is_exact(&self) -> bool {
        self.kinds().into_iter().any(|kind| kind.is_away() || kind.is_instant() || kind.says(&is_exact))
    }

    /// Leaves ids open that another run has otherwise.
    pub fn agree_on_ids(&mut self, other: &Golden) {
        self.at_places(other, &|kinds, other| {
            if of_sort(kinds, &is_id) != of_sort(other, &is_id) {
                replace(kinds, &|kind| is_id(kind) || kind.is_text(), [Kind::plain(STRING)]);
            }
        });
    }

    /// Tells texts with the words that have digits as `exact` does, on which all runs agree. They may be a clock, so this is known only if
    /// that `moved`, of what no clock tells, or as far as a committed golden tells them; and what that tells without them has varied once.
    pub fn tell_exactly(&mut self, mut exact: Golden, moved: bool, committed: Option<&Golden>) {
        match committed {
            None if !moved => exact.tell_as_unmoved(),
            None => {}
            Some(known) if moved => exact.at_places(known, &|kinds, known| {
                let leaves_out = |kind: &Kind| is_said(kind) && kind.says(&leaves_numbers_out);
                let varied = is_open(known) || known.iter().any(leaves_out);
                open_texts(kinds, varied && texts(kinds) != texts(known));
            }),
            Some(known) => {
                let mut known = known.clone();
                known.agree_on_values(&exact);
                exact = known;
            }
        }
        self.at_places(&exact, &|kinds, exact| {
            let instants: Kinds = exact.iter().filter(|kind| kind.is_instant()).cloned().collect();
            if kinds.iter().any(is_time) && !instants.is_empty() {
                return replace(kinds, &is_time, instants);
            }
            let is_exact = |kind: &Kind| is_said(kind) && kind.says(&is_exact);
            if exact.iter().any(is_exact) && (!is_open(exact) || is_open(kinds)) {
                replace(kinds, &Kind::is_text, exact.iter().filter(|kind| kind.is_text()).cloned());
            }
            tell_away(kinds, exact);
        });
    }

    /// Leaves out what a clock may tell that nobody moved.
    fn tell_as_unmoved(&mut self) {
        self.at_places(&self.clone(), &|kinds, _| {
            if is_open(kinds) {
                kinds.retain(|kind| !kind.is_text());
            }
            if kinds.iter().any(|kind| kind.is_instant() && !matches!(kind, Kind::Derived(_))) {
                kinds.retain(|kind| !kind.is_instant());
            }
            tell(kinds, &is_time, &|time| Some(time.form()));
        });
    }

    /// Acts at each place and, as on the order of a list, on what each event of a label says.
    pub(super) fn at_places(&mut self, other: &Golden, act: Act<'_>) {
        self.at_trees(other, &|tree, other| {
            at_node(&mut tree.root, from_ref(&other.root), act);
            let list = |of: &Option<Order>| vec![Kind::List(List { order: of.clone(), ..List::default() })];
            let mut whole = list(&tree.whole);
            act(&mut whole, &list(&other.whole));
            tree.whole = order_of(&whole).filter(|order| *order != Order::Any);
        });
    }

    /// Calls `act` with each tree and the one of the same label.
    pub(super) fn at_trees(&mut self, other: &Golden, act: &dyn Fn(&mut Tree, &Tree)) {
        for (block, other) in self.paired(other) {
            for tree in &mut block.trees {
                if let Some(other) = other.trees.iter().find(|other| other.label() == tree.label()) {
                    act(tree, other);
                }
            }
        }
    }
}

pub(super) fn at_node(node: &mut Node, others: &[Node], act: Act<'_>) {
    let Some(other) = others.iter().find(|other| other.name == node.name) else { return };
    at_place(&mut node.kinds, &other.kinds, act);
    for below in &mut node.below {
        at_node(below, &other.below, act);
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
pub(super) fn let_order_vary(
    kinds: &mut [Kind],
    other: &[Kind],
    varies: &dyn Fn(&Option<Order>, &Option<Order>) -> bool,
) {
    let known = order_of(other);
    match (order_of_mut(kinds), &known) {
        (Some(order @ Some(_)), known) if varies(order, known) => *order = Some(Order::Any),
        (Some(Some(order)), Some(known)) if order == known => order.agree(known),
        _ => {}
    }
}

/// Kinds as they stand on a line, without the order of lists.
pub(in crate::events) fn without_orders(kinds: &[Kind]) -> String {
    printed(kinds, &|kind| kind)
}

/// The same without what is true of one recording only.
pub(in crate::events) fn of_any_recording(kinds: &[Kind]) -> String {
    printed(kinds, &Kind::bare)
}

/// The same with all that texts say in this recording.
pub(in crate::events) fn of_this_recording(kinds: &[Kind]) -> String {
    printed(kinds, &Kind::whole)
}

fn printed(kinds: &[Kind], said: &dyn for<'k> Fn(&'k Kind) -> &'k Kind) -> String {
    let mut kinds = kinds.to_vec();
    change(&mut kinds, &|kinds| {
        for kind in kinds {
            leave_order_out(kind);
            *kind = said(kind).clone();
        }
    });
    Printed(&kinds).to_string()
}

fn leave_order_out(kind: &mut Kind) {
    let Kind::List(list) = kind else { return };
    list.order = None;
}

/// The kinds at a place that are of some sort.
fn of_sort<'a>(kinds: &'a [Kind], is_it: &dyn Fn(&Kind) -> bool) -> Vec<&'a Kind> {
    kinds.iter().filter(|kind| is_it(kind)).map(Kind::bare).collect()
}

pub(super) fn is_open(kinds: &[Kind]) -> bool {
    kinds.contains(&Kind::plain(STRING))
}

fn is_id(kind: &Kind) -> bool {
    matches!(kind, Kind::Id(_) | Kind::Short(_))
}

pub(super) fn numbers(kinds: &[Kind]) -> Vec<&Kind> {
    of_sort(kinds, &Kind::is_number)
}

/// Whether it is a text that is held, other than the name of the model.
pub(super) fn is_quoted(kind: &Kind) -> bool {
    matches!(kind.bare(), Kind::Quoted(text) if text.trim_matches('"') != MODEL)
}

/// Whether it is a text that is held, other than a word without digits and the name of the model.
fn is_said(kind: &Kind) -> bool {
    let is_bare_word = |word: &str| is_word(word) && !word.contains(|c: char| c.is_ascii_digit());
    is_quoted(kind) && !matches!(kind.bare(), Kind::Quoted(text) if is_bare_word(text.trim_matches('"')))
}

/// What the texts that are held at a place say of their own.
pub(super) fn texts(kinds: &[Kind]) -> Vec<&Kind> {
    of_sort(kinds, &is_said)
}

/// Leaves out all that texts say, as opposed to what they say of their own, where that is not the same.
pub(super) fn leave_out_wholes(kinds: &mut Kinds, is_same: &dyn Fn(&Kind) -> bool) {
    tell(kinds, &|kind| matches!(kind, Kind::Whole(..)), &|whole| (!is_same(whole)).then(|| whole.bare().clone()));
}

/// Gives a list the order of another one.
fn take_order(kinds: &mut Kinds, other: &[Kind]) {
    if let Some(order) = order_of_mut(kinds) {
        *order = order_of(other);
    }
}

/// Leaves the texts at a place open, if they vary.
pub(super) fn open_texts(kinds: &mut Kinds, vary: bool) {
    if vary {
        replace(kinds, &Kind::is_text, [Kind::plain(STRING)]);
    }
}

/// Leaves the numbers at a place open, if they vary.
pub(super) fn open_numbers(kinds: &mut Kinds, vary: bool) {
    if vary && kinds.iter().any(Kind::is_number) {
        replace(kinds, &Kind::is_number, [Kind::plain(NUMBER)]);
    }
}

/// Puts another kind in place of each of some sort that has one.
pub(super) fn tell(kinds: &mut Kinds, is_it: &dyn Fn(&Kind) -> bool, other: &dyn Fn(&Kind) -> Option<Kind>) {
    let told: Vec<(&Kind, _)> = kinds.iter().filter(|kind| is_it(kind)).map(|kind| (kind, other(kind))).collect();
    if told.iter().any(|(_, other)| other.is_some()) {
        let told: Kinds = told.into_iter().map(|(kind, other)| other.unwrap_or_else(|| kind.clone())).collect();
        replace(kinds, is_it, told);
    }
}

/// Puts kinds in place of all those of some sort.
pub(super) fn replace(kinds: &mut Kinds, is_it: &dyn Fn(&Kind) -> bool, by: impl IntoIterator<Item = Kind>) {
    kinds.retain(|kind| !is_it(kind));
    kinds.extend(by);
    kinds.sort_by_cached_key(ToString::to_string);
    kinds.dedup();
}

impl Kind {
    /// Whether it is a number that is held.
    pub(in crate::events) fn is_number(&self) -> bool {
        let is_value = |text: &str| text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
        self.is_tokens() || matches!(self.bare(), Kind::Plain(text) if is_value(text))
    }

    /// The text that is quoted.
    pub(super) fn quoted(&self) -> Option<String> {
        let Kind::Quoted(text) = self else { return None };
        Json::parse(text.as_bytes()).ok()?.as_str().map(str::to_owned)
    }

    /// Whether it is a text of which something is true.
    fn says(&self, is_true: &dyn Fn(&str) -> bool) -> bool {
        match self {
            Kind::Quoted(_) => self.quoted().is_some_and(|text| is_true(&text)),
            Kind::Whole(own, whole) => own.says(is_true) || whole.says(is_true),
            Kind::Derived(kind) => kind.says(is_true),
            _ => false,
        }
    }

    fn is_order_of_two(&self) -> bool {
        matches!(self, Kind::List(List { range: Some((_, ..=2)), order: Some(Order::Is(_)), .. }))
    }

    /// Whether it is a number of tokens, told by its turns.
    pub(in crate::events) fn is_tokens(&self) -> bool {
        matches!(self, Kind::Plain(text) if text.contains(tokens::OF))
    }
}
