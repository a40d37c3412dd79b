//! What becomes of calls that no turn answers: they are explained, and may get another turn's answer if the replay goes on.

use std::collections::HashMap;
use std::sync::Arc;

use super::Replay;
use crate::going_on::{GoingOn, any_text, meant_turn};
use crate::lookup::Lookup;
use crate::miss::{Miss, MissReason, MissedCall, Situation, align, kind_of};
use crate::registry::EXPLAINED;
use crate::run_log::RunLog;
use retake_base::cause::Cause;
use retake_core::key::Key;

impl Replay {
    /// The log so far. Each call that missed is compared with the turn that it is aligned with, which depends on what the other
    /// calls asked for.
    pub fn log(&self) -> RunLog {
        let mut log = self.log.lock().clone();
        let state = self.state.lock();
        let mut asked = state.served_to.clone();
        log.left_after = asked.iter().max_by_key(|(_, call)| **call).map(|(turn, call)| (*turn, *call));
        log.unused = state.turns.unused();
        // A turn that was given to a call that missed is not taken.
        let is_like = |call: &MissedCall, turn| call.reason == MissReason::NotRecorded && call.nearest == Some(turn);
        asked.retain(|turn, _| !(state.meant.contains(turn) && log.missed.iter().any(|call| is_like(call, *turn))));
        drop(state);
        let served = (0..self.fixture().table.turns().len()).map(|turn| asked.contains_key(&turn)).collect();
        align(&mut log.missed, &Situation { fixture: self.fixture(), rules: &self.rules, served, asked: &asked });
        log
    }

    /// What a call that misses gets: after a fault, those of other callers than the one that met it get the answer that they
    /// resemble most, since titles and the like follow from what was said. The one that met it has left the recording.
    fn going_on_for(&self, lookup: Option<&Lookup>) -> GoingOn {
        let of_other = || {
            let (staged, lookup) = (self.staged.as_ref()?, lookup?);
            let turn = self.fixture().table.turns().get(staged.target().filter(|_| staged.is_after_fault())?)?;
            let recorded = turn.caller.as_deref().map(|caller| self.rules.caller(Some(caller)));
            let (called, prompt) = (lookup.checks.as_ref()?.hashes.prompt, turn.checks?.prompt);
            Some(if lookup.caller.is_some() { lookup.caller != recorded } else { called != prompt })
        };
        if of_other().unwrap_or_default() { GoingOn::Meant } else { self.going_on }
    }

    /// Registers a miss. If the replay goes on in spite of it, returns the turn that the call gets.
    pub(super) fn miss(
        &self,
        via: String,
        reason: MissReason,
        call: Option<(&Lookup, Key)>,
        number: usize,
    ) -> (Arc<Miss>, Option<usize>) {
        let (explained, served, asked) = {
            let mut state = self.state.lock();
            state.misses += 1;
            self.hold.as_ref().inspect(|hold| hold.gives_up());
            let explained = state.misses <= EXPLAINED;
            let served = if explained { state.turns.answered_all() } else { Vec::new() };
            (explained, served, if explained { state.served_to.clone() } else { HashMap::new() })
        };
        let cause = Cause::new(kind_of(&reason), reason.to_string());
        let mut miss = Miss::new(&self.scope.name, &self.fixture().path, via, reason, cause);
        miss.number = number;
        if let Some((lookup, key)) = call {
            (miss.caller, miss.key) = (lookup.caller.clone(), Some(key));
        }
        let mut meant = None;
        if let (true, Some((lookup, key))) = (explained, call) {
            let situation = Situation { fixture: self.fixture(), rules: &self.rules, served, asked: &asked };
            let mut missed = MissedCall::new(lookup.clone(), key, miss.reason.clone(), number);
            let alike = missed.explain(&situation);
            miss = missed.explained(&miss);
            let mut state = self.state.lock();
            let (served, nearest) = (state.turns.served(), missed.nearest.filter(|_| alike));
            let going_on = self.going_on_for(Some(lookup));
            meant = match going_on {
                GoingOn::Never => None,
                GoingOn::Aside => any_text(self.fixture()),
                GoingOn::Meant => meant_turn(self.fixture(), &miss.reason, nearest, miss.key, &served),
            };
            if let Some(index) = meant.filter(|index| going_on == GoingOn::Meant && !served[*index]) {
                state.turns.mark(index);
                state.served_to.insert(index, number);
                state.meant.insert(index);
            } else if self.going_on == GoingOn::Meant && !lookup.is_opaque() {
                meant = meant.or_else(|| any_text(self.fixture()));
            }
            drop(state);
            self.note(|log| log.missed.push(missed));
        }
        let miss = Arc::new(miss);
        if self.going_on == GoingOn::Never && !self.staged.as_ref().is_some_and(|staged| staged.is_after_fault()) {
            self.scope.add_miss(miss.clone());
            self.suspects_those_beside();
        }
        (miss, meant)
    }
}
