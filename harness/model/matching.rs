//! Which recorded turn answers a call (KEY.md, section 4).

use std::collections::BTreeSet;

use super::miss::MissReason;
use crate::fixture::{Group, Table, Turn};
use crate::key::{Checks, Key};

/// Which turns of a fixture are still to be served.
#[derive(Debug)]
pub(super) struct OpenTurns {
    served: Vec<bool>,
    /// Those that may be asked for any number of times, or not at all.
    free: Vec<bool>,
    /// How many others are not served.
    left: usize,
    /// For each group of turns, how many at its front are served.
    done: Vec<usize>,
}

impl OpenTurns {
    /// All turns of a table. Of those that are `free` the last one of a key answers all further calls, and none has to be
    /// asked for.
    pub(super) fn of(table: &Table, free: Vec<bool>) -> OpenTurns {
        let left = free.iter().filter(|free| !**free).count();
        OpenTurns { served: vec![false; table.turns().len()], free, left, done: vec![0; table.groups()] }
    }

    /// Chooses the turn that answers a call and takes it, in one step. `known` says whether the caller is.
    pub(super) fn take(
        &mut self,
        table: &Table,
        key: Key,
        known: bool,
        checks: Option<&Checks>,
    ) -> Result<usize, MissReason> {
        let index = if known { self.of_caller(table, key, checks) } else { self.of_anyone(table, key, checks) }?;
        if !std::mem::replace(&mut self.served[index], true) && !self.free[index] {
            self.left -= 1;
        }
        Ok(index)
    }

    /// Whether each turn was served that has to be.
    pub(super) fn all_served(&self) -> bool {
        self.left == 0
    }

    /// Of each turn, whether it was served.
    pub(super) fn served(&self) -> &[bool] {
        &self.served
    }

    /// The turns that were not served and had to be, in recorded order.
    pub(super) fn unused(&self) -> Vec<usize> {
        (0..self.served.len()).filter(|index| !self.served[*index] && !self.free[*index]).collect()
    }

    /// The turn for a known caller: its own, or one that is older than callers.
    fn of_caller(&mut self, table: &Table, key: Key, checks: Option<&Checks>) -> Result<usize, MissReason> {
        let turns = table.turns();
        let equal = |group| table.with_checks(group, checks?);
        let (own, same_conversation) = (table.of_input(key.input_hash), table.of_conversation(key.conversation_hash));
        let older = |index: &usize| turns[*index].is_older_than_callers();
        let mut of_own = own.and_then(equal).into_iter().chain(own);
        let mut of_older = same_conversation.and_then(equal).into_iter().chain(same_conversation);
        let found = of_own.find_map(|group| self.first_open(group, |_| true));
        if let Some(index) = found.or_else(|| of_older.find_map(|group| self.first_open(group, older))) {
            return Ok(index);
        }
        let own = own.map_or(&[][..], |group| &group.turns);
        let same = same_conversation.map_or(&[][..], |group| &group.turns);
        let taken = own.iter().copied().chain(same.iter().copied().filter(older));
        match (taken.clone().next(), same_conversation) {
            (Some(_), _) => self.again(taken),
            (None, Some(others)) => Err(MissReason::OtherCaller { callers: callers_of(turns, &others.turns) }),
            (None, None) => Err(MissReason::NotRecorded),
        }
    }

    /// The turn for a call that does not say whose it is: there is one where one caller only fits.
    fn of_anyone(&mut self, table: &Table, key: Key, checks: Option<&Checks>) -> Result<usize, MissReason> {
        let group = table.of_conversation(key.conversation_hash).ok_or(MissReason::NotRecorded)?;
        let equal = checks.and_then(|checks| table.with_checks(group, checks));
        let groups = match equal {
            _ if !group.several_callers => equal.into_iter().chain([group]),
            Some(equal) if !equal.several_callers => None.into_iter().chain([equal]),
            _ => return Err(MissReason::Ambiguous { callers: callers_of(table.turns(), &group.turns) }),
        };
        let mut last = &group.turns;
        for group in groups {
            match self.first_open(group, |_| true) {
                Some(index) => return Ok(index),
                None => last = &group.turns,
            }
        }
        self.again(last.iter().copied())
    }

    /// What becomes of a call whose turns are all served: the last one again, where it is free.
    fn again(&self, taken: impl Iterator<Item = usize> + Clone) -> Result<usize, MissReason> {
        let last = taken.clone().last().filter(|index| self.free[*index]);
        last.ok_or_else(|| all_served(taken))
    }

    /// The first turn of a group that was not served yet and fits.
    fn first_open(&mut self, group: &Group, fits: impl Fn(&usize) -> bool) -> Option<usize> {
        let done = &mut self.done[group.id];
        *done += group.turns[*done..].iter().take_while(|index| self.served[**index]).count();
        group.turns[*done..].iter().copied().find(|index| !self.served[*index] && fits(index))
    }
}

fn all_served(mut turns: impl Iterator<Item = usize>) -> MissReason {
    MissReason::AllServed { turns: turns.by_ref().take(8).collect(), more: turns.count() }
}

fn callers_of(turns: &[Turn], indices: &[usize]) -> Vec<String> {
    let name = |index: &usize| turns[*index].caller.clone().unwrap_or_else(|| "(no caller)".to_owned());
    indices.iter().map(name).collect::<BTreeSet<_>>().into_iter().collect()
}
