//! Chooses the recorded turn that answers a call (KEY.md, section 4).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::belonging::{belonging, names};
use super::checked::Checked;
use super::miss::MissReason;
use retake_core::key::{Checks, Hash, Key, UNKNOWN_CALLER};
use retake_wire::fixture::{Group, Table, Turn};

/// What is known about a call whose turn is chosen.
pub(super) struct Wanted<'a> {
    pub(super) key: Key,
    /// Whether the call declares its caller, or a rule names it.
    pub(super) caller_known: bool,
    /// Whether the canonical conversation is empty.
    pub(super) empty: bool,
    /// Whether only turns that keep hashes, but no conversation, may answer.
    pub(super) only_hashed: bool,
    /// The checks of the call as they are compared.
    pub(super) checks: Option<Arc<Checked>>,
    /// The recorded texts of checks, by hash.
    pub(super) texts: &'a BTreeMap<Hash, Arc<str>>,
    /// Computes the hash of the whole request. It is called only if turns are told apart by that hash.
    pub(super) request: &'a dyn Fn() -> Option<Hash>,
}

impl Wanted<'_> {
    /// Whether a turn may answer at all. A call that has only a system prompt needs a turn with the same prompt.
    fn fits(&self, turn: &Turn) -> bool {
        let same_prompt =
            |recorded: &Checks| self.checks.as_ref().is_none_or(|called| called.hashes.prompt == recorded.prompt);
        (!self.only_hashed || turn.input.is_none()) && (!self.empty || turn.checks.as_ref().is_none_or(same_prompt))
    }

    /// Returns the hash of the request if turns in one of the groups are told apart by it.
    fn request_among<'g>(&self, groups: impl IntoIterator<Item = &'g Group>) -> Option<Hash> {
        if groups.into_iter().any(|group| group.has_requests) { (self.request)() } else { None }
    }
}

/// Which turns of a fixture are open, which means that they can still be served.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenTurns {
    /// How often each turn was served.
    times: Vec<u32>,
    /// Turns that were served no more often than this are open. It is above 0 only while turns are served once more.
    lap: u32,
    /// Whether the turns of a key are served once more, from the first one on, when all of them were served.
    pub(super) repeats: bool,
    /// For each turn, whether it is free: a free turn may be asked for any number of times, or not at all.
    free: Vec<bool>,
    /// How many turns that are not free were not served yet.
    left: usize,
    /// For each turn, its file, and how many turns that are not free come before it there.
    places: Vec<(usize, usize)>,
    /// For each file, how many calls were served a turn of it that is not free.
    others: Vec<usize>,
    /// For each group of turns, how many turns at its front were served.
    done: Vec<usize>,
}

impl OpenTurns {
    /// Opens all turns of a table. `free` says for each turn whether it is free, and `firsts` are the first turns of files that follow
    /// the first file.
    pub(super) fn of(table: &Table, free: Vec<bool>, firsts: &[usize]) -> OpenTurns {
        let left = free.iter().filter(|free| !**free).count();
        let (times, done) = (vec![0; table.turns().len()], vec![0; table.groups]);
        let (mut others, mut places) = (vec![0], Vec::with_capacity(free.len()));
        for (index, free) in free.iter().enumerate() {
            others.extend(firsts.contains(&index).then_some(0));
            let file = others.len() - 1;
            places.push((file, others[file]));
            others[file] += usize::from(!free);
        }
        others.fill(0);
        OpenTurns { times, lap: 0, repeats: false, free, left, places, others, done }
    }

    /// The same turns, of which none was served.
    pub(super) fn anew(&self) -> OpenTurns {
        let (times, done) = (vec![0; self.times.len()], vec![0; self.done.len()]);
        let left = self.free.iter().filter(|free| !**free).count();
        OpenTurns { times, lap: 0, left, others: vec![0; self.others.len()], done, ..self.clone() }
    }

    /// The same turns, of which none was served, in a table that groups them anew.
    pub(super) fn over(&self, table: &Table) -> OpenTurns {
        OpenTurns { done: vec![0; table.groups], ..self.anew() }
    }

    /// Chooses the turn that answers a call and takes it, in one step.
    pub(super) fn take(&mut self, table: &Table, wanted: &Wanted<'_>) -> Result<usize, MissReason> {
        self.lap = 0;
        let mut chosen = self.choose(table, wanted);
        if let (true, Err(NoTurn::Served(turns))) = (self.repeats, &chosen) {
            self.lap = turns.iter().map(|turn| self.times[*turn]).min().unwrap_or_default();
            chosen = self.choose(table, wanted);
        }
        let index = chosen.map_err(|no| match no {
            NoTurn::Served(mut turns) => {
                let more = turns.len().saturating_sub(8);
                turns.truncate(8);
                MissReason::AllServed { turns, more }
            }
            NoTurn::Reason(reason) => reason,
        })?;
        self.mark(index);
        Ok(index)
    }

    /// Returns the turn that a call would get now, and whether it is open. Nothing is taken.
    pub(super) fn next(&mut self, table: &Table, wanted: &Wanted<'_>) -> Option<(usize, bool)> {
        self.lap = 0;
        match self.choose(table, wanted) {
            Ok(index) => Some((index, true)),
            Err(NoTurn::Served(turns)) => turns.last().map(|index| (*index, self.repeats)),
            Err(NoTurn::Reason(_)) => None,
        }
    }

    /// Counts a turn as served, whether or not its key was asked for.
    pub(super) fn mark(&mut self, index: usize) {
        if !self.free[index] {
            self.left -= usize::from(self.times[index] == 0);
            self.others[self.places[index].0] += 1;
        }
        self.times[index] = self.times[index].saturating_add(1);
    }

    /// Whether each turn was served, apart from free ones.
    pub(super) fn all_served(&self) -> bool {
        self.left == 0
    }

    /// Returns for each turn whether it was served.
    pub(super) fn served(&self) -> Vec<bool> {
        self.times.iter().map(|times| *times > 0).collect()
    }

    /// Returns for each turn whether it answered all the calls that it can. If turns are served once more, none has.
    pub(super) fn answered_all(&self) -> Vec<bool> {
        if self.repeats { vec![false; self.times.len()] } else { self.served() }
    }

    /// Returns the turns that were not served, apart from free ones, in recorded order.
    pub(super) fn unused(&self) -> Vec<usize> {
        (0..self.times.len()).filter(|index| self.times[*index] == 0 && !self.free[*index]).collect()
    }

    fn choose(&mut self, table: &Table, wanted: &Wanted<'_>) -> Result<usize, NoTurn> {
        if wanted.caller_known { self.of_caller(table, wanted) } else { self.of_anyone(table, wanted) }
    }

    /// Chooses the turn for a known caller: one of its own, or one that was recorded before turns had callers.
    fn of_caller(&mut self, table: &Table, wanted: &Wanted<'_>) -> Result<usize, NoTurn> {
        let key = wanted.key;
        let turns = table.turns();
        let equal = |group| table.with_checks(group, &wanted.checks.as_ref()?.hashes);
        let (own, same_conversation) = (table.of_input(key.input_hash), table.of_conversation(key.conversation_hash));
        let fits = |index: &usize| wanted.fits(&turns[*index]);
        let older = |index: &usize| turns[*index].is_older_than_callers() && fits(index);
        if let Some(request) = wanted.request_among(own.into_iter().chain(same_conversation)) {
            let asked = |index: &usize| turns[*index].request == Some(request);
            let found = own.and_then(|group| self.first_open(group, |index| asked(index) && fits(index)));
            let of_older = || same_conversation.and_then(|group| self.first_open(group, |i| asked(i) && older(i)));
            if let Some(index) = found.or_else(of_older) {
                return Ok(index);
            }
        }
        let of_own = own.and_then(equal).into_iter().chain(own);
        let mut of_older = same_conversation.and_then(equal).into_iter().chain(same_conversation);
        let found = self.first_of(&of_own, table, wanted, fits);
        if let Some(index) = found.or_else(|| of_older.find_map(|group| self.first_open(group, older))) {
            return Ok(index);
        }
        let own = own.map_or(&[][..], |group| &group.turns);
        let same = same_conversation.map_or(&[][..], |group| &group.turns);
        let taken = own.iter().copied().filter(fits).chain(same.iter().copied().filter(older));
        let others: Vec<usize> = same.iter().copied().filter(fits).collect();
        let name = |index: &usize| turns[*index].caller.clone().unwrap_or_else(|| UNKNOWN_CALLER.to_owned());
        let callers = others.iter().map(name).collect::<BTreeSet<_>>().into_iter().collect();
        match (taken.clone().next(), others.is_empty()) {
            (Some(_), _) => Err(NoTurn::Served(taken.collect())),
            (None, false) => Err(NoTurn::Reason(MissReason::OtherCaller { callers })),
            (None, true) => Err(NoTurn::Reason(MissReason::NotRecorded)),
        }
    }

    /// Chooses the turn for a call whose caller is not known (KEY.md, section 8).
    fn of_anyone(&mut self, table: &Table, wanted: &Wanted<'_>) -> Result<usize, NoTurn> {
        let group =
            table.of_conversation(wanted.key.conversation_hash).ok_or(NoTurn::Reason(MissReason::NotRecorded))?;
        let turns = table.turns();
        let fitting = group.apart().iter().filter(|part| part.turns.iter().any(|index| wanted.fits(&turns[*index])));
        let own = match (fitting.collect::<Vec<_>>().as_slice(), &wanted.checks) {
            ([], _) => return Err(NoTurn::Reason(MissReason::NotRecorded)),
            ([one], _) => *one,
            // Nothing is known about the call in which these turns differ.
            (_, None) if !group.several_callers => group,
            (several, checks) => checks
                .as_ref()
                .and_then(|called| belonging(several, turns, called, wanted.texts))
                .ok_or_else(|| NoTurn::Reason(MissReason::Ambiguous { callers: names(group, turns) }))?,
        };
        if let Some(request) = wanted.request_among([own])
            && let Some(index) = self.first_open(own, |index| turns[*index].request == Some(request))
        {
            return Ok(index);
        }
        let equal = wanted.checks.as_ref().and_then(|checked| table.with_checks(own, &checked.hashes));
        let open = self.first_of(&equal.into_iter().chain([own]), table, wanted, |_| true);
        open.ok_or_else(|| NoTurn::Served(own.turns.clone()))
    }

    /// Returns the first turn of these groups that is open and fits: one that tells the days of the call before any other.
    fn first_of<'g>(
        &mut self,
        groups: &(impl Iterator<Item = &'g Group> + Clone),
        table: &Table,
        wanted: &Wanted<'_>,
        fits: impl Fn(&usize) -> bool,
    ) -> Option<usize> {
        // With the days and points in time that the call tells, or nobody knows.
        let days = |index: &usize| table.turns()[*index].checks.and_then(|checks| checks.dates);
        let is_told =
            |of: Option<Hash>| of.is_none() || wanted.checks.as_ref().is_none_or(|called| called.hashes.dates == of);
        let dated = |index: &usize| fits(index) && is_told(days(index));
        let found = groups.clone().find_map(|group| self.first_open(group, dated));
        found.or_else(|| groups.clone().find_map(|group| self.first_open(group, &fits)))
    }

    /// Returns the first turn of a group that is open and fits.
    fn first_open(&mut self, group: &Group, fits: impl Fn(&usize) -> bool) -> Option<usize> {
        if group.turns.first().is_some_and(|index| self.free[*index]) {
            return self.read(&group.turns.iter().copied().filter(&fits));
        }
        let served = |index: &&usize| self.times[**index] > 0;
        let done = &mut self.done[group.id];
        *done += group.turns[*done..].iter().take_while(served).count();
        let from = if self.lap == 0 { *done } else { 0 };
        group.turns[from..].iter().copied().find(|index| self.times[*index] <= self.lap && fits(index))
    }

    /// Returns the turn that answers a read: of those recorded after as many other calls as were made by now, the first that was not
    /// served, or else the last. If there are none, the last one recorded after fewer calls, or else the first.
    fn read(&self, turns: &(impl Iterator<Item = usize> + Clone)) -> Option<usize> {
        let after = |index: &usize| {
            let (file, before) = self.places[*index];
            before.cmp(&self.others[file])
        };
        let now = turns.clone().filter(|index| after(index).is_eq());
        let open = now.clone().find(|index| self.times[*index] == 0);
        let earlier = || turns.clone().filter(|index| after(index).is_lt()).last();
        open.or_else(|| now.last()).or_else(earlier).or_else(|| turns.clone().next())
    }
}

/// Why no turn was chosen.
enum NoTurn {
    /// Each of these turns fits, but was served already.
    Served(Vec<usize>),
    Reason(MissReason),
}
