//! A golden and a run of another day: what the run says of its day stands for what the golden says of its own.
//!
//! Only what differs is looked at, value by value, so a day that stays is never touched. Of what is held as a hash, a golden of the
//! same run decides into whose texts the golden's day was put.

use super::{Block, EventLine, Golden, Header, Kind, Kinds, List, Node, Shown, Top};
use crate::days::Days;
use crate::events::words::told_whole;

impl Golden {
    /// Returns the golden of a run in which the values are those of another golden, `was`, that are equal to them by the day. `back`
    /// is the golden of the same run with the renderings of `was`'s day put in.
    pub fn with_day_of(self, was: &Golden, back: &Golden, days: &Days) -> Golden {
        let (moving, mut is) = (Moving(days), self.with_order_of(back));
        for ((is, was), back) in is.blocks.iter_mut().zip(&was.blocks).zip(&back.blocks) {
            moving.block(is, was, back);
        }
        is
    }
}

/// What two days have in common.
#[derive(Clone, Copy)]
struct Moving<'a>(&'a Days);

impl Moving<'_> {
    fn equal(self, was: &str, is: &str) -> bool {
        !self.0.equal(was, is).is_none()
    }

    fn text(self, is: &mut String, was: &str) {
        if is != was {
            *is = if self.equal(was, is) { was.to_owned() } else { self.0.nearer(was, is) };
        }
    }

    fn block(self, is: &mut Block, was: &Block, back: &Block) {
        self.text(&mut is.request, &was.request);
        for Header { value, name } in &mut is.headers {
            let known = was.headers.iter().filter(|known| known.name == *name).filter_map(|known| known.value.as_ref());
            if let Some(value) = value {
                known.for_each(|known| self.text(value, known));
            }
        }
        for ((is, was), back) in is.events.iter_mut().zip(&was.events).zip(&back.events) {
            self.event(is, was, back);
        }
        for (is, was) in is.page.iter_mut().zip(&was.page) {
            self.text(is, was);
        }
        for ((is, was), back) in is.trees.iter_mut().zip(&was.trees).zip(&back.trees) {
            self.node(&mut is.root, &was.root, Some(&back.root));
        }
    }

    fn event(self, is: &mut EventLine, was: &EventLine, back: &EventLine) {
        match (&mut is.top, &was.top) {
            (Top::Keys(is), Top::Keys(was)) => {
                for (is, (was, _)) in is.iter_mut().map(|(key, _)| key).zip(was) {
                    self.text(is, was);
                }
            }
            (Top::Word(is), Top::Word(was)) => self.text(is, was),
            _ => {}
        }
        for ((is, was), back) in is.shown.iter_mut().zip(&was.shown).zip(&back.shown) {
            match (&mut *is, was) {
                (Shown::Value(at, is), Shown::Value(place, was)) if at == place => self.text(is, was),
                (Shown::Line(is), Shown::Line(was)) => self.text(is, was),
                (Shown::Text(..), _) if back == was => is.clone_from(was),
                _ => {}
            }
        }
    }

    fn node(self, is: &mut Node, was: &Node, back: Option<&Node>) {
        match back {
            Some(back) if back.kinds == was.kinds => is.kinds.clone_from(&was.kinds),
            _ => self.kinds(&mut is.kinds, &was.kinds),
        }
        for below in &mut is.below {
            let back = back.and_then(|back| back.below.iter().find(|node| node.name == below.name));
            let named = was.below.iter().find(|node| node.name == below.name);
            // The day may be a key.
            if let Some(was) = named.or_else(|| was.below.iter().find(|node| self.equal(&node.name, &below.name))) {
                below.name.clone_from(&was.name);
                self.node(below, was, back);
            }
        }
        is.below.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Makes the kinds at a place those of the golden if each has an equal one there, and the other way round: two days may have
    /// become one. Their order counts where it is not that of their texts.
    fn kinds(self, is: &mut Kinds, was: &Kinds) {
        let are_there = |some: &Kinds, others: &Kinds, equal: &dyn Fn(&Kind, &Kind) -> bool| {
            some.iter().all(|kind| others.iter().any(|other| kind == other || equal(kind, other)))
        };
        let moved = |was: &Kind, is: &Kind| self.equal_kinds(was, is);
        let has_order = |kinds: &Kinds| !kinds.is_sorted_by_key(ToString::to_string);
        let may_differ = is.len() != was.len() || !has_order(is) && !has_order(was);
        if may_differ && are_there(is, was, &|is, was| moved(was, is)) && are_there(was, is, &moved) {
            is.clone_from(was);
            return;
        }
        for kind in is.iter_mut().filter(|kind| !was.contains(kind)) {
            match (was.iter().find(|was| self.equal_kinds(was, kind)), &was[..]) {
                (Some(was), _) => kind.clone_from(was),
                (None, [was]) => self.nearer(was, kind),
                _ => {}
            }
        }
    }

    /// Says a text that is not equal as it would be said on the other day: what is quoted of it is what differs, and no date before that.
    fn nearer(self, was: &Kind, is: &mut Kind) {
        match (was, is) {
            (Kind::Quoted(was), Kind::Quoted(is)) => self.text(is, was),
            (Kind::Derived(was), Kind::Derived(is)) => self.nearer(was, is),
            (Kind::Whole(was, of), Kind::Whole(is, by)) => {
                self.nearer(was, is);
                self.nearer(of, by);
            }
            _ => {}
        }
    }

    /// Whether long texts of one recording are equal, of which all is known and not only a hash.
    fn equal_wholes(self, was: &Kind, is: &Kind) -> bool {
        let Some((was, is)) = was.quoted().zip(is.quoted()) else { return false };
        told_whole(&was).zip(told_whole(&is)).is_some_and(|(was, is)| self.equal(was, is))
    }

    fn equal_kinds(self, was: &Kind, is: &Kind) -> bool {
        let all = |was: &Kinds, is: &Kinds| {
            let mut moved = is.clone();
            self.kinds(&mut moved, was);
            moved == *was
        };
        match (was, is) {
            (Kind::Quoted(was), Kind::Quoted(is)) | (Kind::Plain(was), Kind::Plain(is)) => self.equal(was, is),
            (Kind::Derived(was), Kind::Derived(is)) => self.equal_kinds(was, is),
            (Kind::Whole(_, of), Kind::Whole(_, by)) if self.equal_wholes(of, by) => true,
            (Kind::Whole(was, of), Kind::Whole(is, by)) => self.equal_kinds(was, is) && self.equal_kinds(of, by),
            (Kind::Object(was), Kind::Object(is)) => {
                was.len() == is.len()
                    && was.iter().zip(is).all(|(was, is)| {
                        (&was.name, was.optional) == (&is.name, is.optional) && all(&was.kinds, &is.kinds)
                    })
            }
            (Kind::List(was), Kind::List(is)) => {
                let bare = |list: &List| List { elements: Vec::new(), ..list.clone() };
                bare(was) == bare(is) && all(&was.elements, &is.elements)
            }
            _ => was == is,
        }
    }
}

#[cfg(test)]
mod tests;
