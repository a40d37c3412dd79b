//! The turns that each session can still be served.

use std::collections::HashMap;

use crate::matching::{OpenTurns, Wanted};
use crate::miss::MissReason;
use retake_wire::fixture::Table;

/// The sessions of a replay: each is served the turns from the first one on, whatever the others were served.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    of: HashMap<String, Session>,
    calls: u64,
}

#[derive(Debug)]
struct Session {
    turns: OpenTurns,
    /// The number of its last call.
    last: u64,
}

impl Sessions {
    /// Chooses the turn that answers a call of a session and takes it. `all` are the turns of the replay, in which a turn counts
    /// as served once any session got it.
    pub(crate) fn take(
        &mut self,
        id: &str,
        all: &mut OpenTurns,
        table: &Table,
        wanted: &Wanted<'_>,
    ) -> Result<usize, MissReason> {
        self.calls += 1;
        if !self.of.contains_key(id) {
            self.make_room(most(table));
            self.of.insert(id.to_owned(), Session { turns: all.anew(), last: 0 });
        }
        let Some(session) = self.of.get_mut(id) else { return all.take(table, wanted) };
        session.last = self.calls;
        let index = session.turns.take(table, wanted)?;
        all.mark(index);
        Ok(index)
    }

    /// Forgets the half of the sessions that made no call for longest, if there are too many. One of them that calls again begins
    /// with the first turns.
    fn make_room(&mut self, most: usize) {
        if self.of.len() < most {
            return;
        }
        let mut last: Vec<u64> = self.of.values().map(|session| session.last).collect();
        let middle = last.len() / 2;
        let (_, half, _) = last.select_nth_unstable(middle);
        let half = *half;
        self.of.retain(|_, session| session.last >= half);
    }
}

/// The most sessions that are remembered: more than a load test has at work at once, and about 64 MB of them at most.
fn most(table: &Table) -> usize {
    const SESSIONS: std::ops::RangeInclusive<usize> = 5_000..=20_000;
    let each = 200 + table.turns().len() * 5 + table.groups * 8;
    ((64 << 20) / each).clamp(*SESSIONS.start(), *SESSIONS.end())
}

#[cfg(test)]
mod tests;
