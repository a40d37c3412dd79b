//! What becomes of calls that no turn answers: they are explained, and may get another turn's answer if the replay goes on.

use std::collections::HashMap;
use std::sync::Arc;

use super::Replay;
use crate::going_on::{GoingOn, any_text, meant_turn};
use crate::lookup::Lookup;
use crate::miss::{
    Difference, Explanation, FinishedRun, Miss, MissReason, MissedCall, Situation, align, explain, kind_of,
};
use crate::registry::EXPLAINED;
use retake_base::cause::Cause;
use retake_base::line::Lines;
use retake_core::key::Key;

impl Replay {
    /// The first calls that missed, apart from requests that could not be read. Their differences take into account which turns
    /// other calls have asked for by now.
    pub fn missed_calls(&self) -> Vec<MissedCall> {
        let (mut missed, mut asked) = {
            let state = self.state();
            (state.missed_calls.clone(), state.served_to.clone())
        };
        let meant = |turn: &usize| {
            let mut of =
                missed.iter().filter(|call| call.reason == MissReason::NotRecorded && call.nearest == Some(*turn));
            of.next().is_some() && self.state().meant.contains(turn)
        };
        asked.retain(|turn, _| !meant(turn));
        align(&mut missed, &FinishedRun { fixture: &self.fixture, rules: &self.rules, asked: &asked });
        missed
    }

    /// What a call that misses gets: after a fault, those of other callers than the one that met it get the answer that they
    /// resemble most, since titles and the like follow from what was said. The one that met it has left the recording.
    fn going_on_for(&self, lookup: Option<&Lookup>) -> GoingOn {
        let of_other = || {
            let (staged, lookup) = (self.staged.as_ref()?, lookup?);
            let turn = self.fixture.table.turns().get(staged.target().filter(|_| staged.is_after_fault())?)?;
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
        let (explained, served, served_to) = {
            let mut state = self.state();
            state.misses += 1;
            let explained = state.misses <= EXPLAINED;
            let served = if explained { state.turns.answered_all() } else { Vec::new() };
            (explained, served, if explained { state.served_to.clone() } else { HashMap::new() })
        };
        let mut miss = Miss {
            scenario: self.scope.name().to_owned(),
            fixture: self.fixture.path.clone(),
            via,
            caller: call.and_then(|(lookup, _)| lookup.caller.clone()),
            key: call.map(|(_, key)| key),
            causes: vec![Cause::new(kind_of(&reason), reason.to_string())],
            reason,
            evidence: Vec::new(),
            number,
            lines: Lines::default(),
        };
        let mut meant = None;
        if let (true, Some((lookup, _))) = (explained, call) {
            let situation = Situation {
                fixture: &self.fixture,
                rules: &self.rules,
                served: &served,
                served_to: &|turn| served_to.get(&turn).copied(),
            };
            let Explanation { differences, lines, nearest, alike, is_on_top } =
                explain(&miss.reason, lookup, &situation);
            miss = miss.explained(differences.iter().map(Difference::cause).cloned().collect(), &lines);
            let mut state = self.state();
            let going_on = self.going_on_for(Some(lookup));
            meant = match going_on {
                GoingOn::Never => None,
                GoingOn::Aside => any_text(&self.fixture),
                GoingOn::Meant => {
                    meant_turn(&self.fixture, &miss.reason, nearest.filter(|_| alike), miss.key, &state.turns.served())
                }
            };
            if let Some(index) = meant.filter(|index| going_on == GoingOn::Meant && !state.turns.served()[*index]) {
                state.turns.mark(index);
                state.served_to.insert(index, number);
                state.meant.insert(index);
            } else if self.going_on == GoingOn::Meant && !lookup.is_opaque() {
                meant = meant.or_else(|| any_text(&self.fixture));
            }
            let (lookup, reason) = (lookup.clone(), miss.reason.clone());
            state.missed_calls.push(MissedCall { lookup, nearest, reason, is_on_top, differences, lines, number });
        }
        let miss = Arc::new(miss);
        if self.going_on == GoingOn::Never && !self.staged.as_ref().is_some_and(|staged| staged.is_after_fault()) {
            self.scope.add_miss(miss.clone());
        }
        (miss, meant)
    }
}
