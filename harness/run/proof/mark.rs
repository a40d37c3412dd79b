//! Asks where the model's words go: one more replay, in which they are marked. It is no part of the proof. If it goes another way,
//! because the service reads what it passes on, it shows nothing, and equal words count as the model's.

use std::sync::Arc;

use super::replays::Proof;
use crate::run::second_look::may_play_again;
use crate::run::trial::{self, How, Replayed};
use crate::run::verdict::has_golden;
use retake_core::events::{Golden, Known, Passed, Recorded, Tells};
use retake_core::key::Rules;
use retake_core::mark::Mark;
use retake_wire::fixture::{Fixture, Turn};

impl Proof<'_> {
    /// Returns which words of the model the service passes on, and where, and the goldens of a run with other words, the second of which
    /// tells texts exactly. `None` if that cannot be asked, or shows nothing.
    pub(super) fn passed_on(
        &self,
        first: &Replayed,
        fixture: Option<&Arc<Fixture>>,
        rules: &Arc<Rules>,
    ) -> Option<(Passed, [Golden; 2])> {
        let Proof { project, scenario, .. } = *self;
        // Rules that are only tried write no golden.
        let is_own = Arc::ptr_eq(rules, &project.rules);
        let fixture = fixture.filter(|_| is_own && has_golden(scenario) && scenario.golden.turns)?;
        let golden = |run: &Replayed, recorded: Recorded, tells: Tells<'_>, exactly: bool| -> Golden {
            let mut known = Known { tells, has_others: true, exactly, ..run.known_with(None) };
            known.foreign.iter_mut().for_each(|foreign| foreign.add_recorded(&recorded));
            known.recorded = recorded;
            run.shaped(&run.played.driven.captured, &scenario.golden, rules, &known, &str::to_owned).golden
        };
        let equal = Passed::of(&golden(first, first.known().recorded, Tells::Equality, false));
        let mark = mark_of(fixture, &equal).filter(|_| may_play_again(project, scenario, first))?;
        let with_mark = Arc::new(Fixture { mark: Some(mark.clone()), ..(**fixture).clone() });
        let marked = trial::replay(project, scenario, Some(with_mark), rules, How::default()).ok()?;
        if !marked.misses.is_empty() || marked.log.unanswered || marked.verdict(scenario).is_err() {
            return None;
        }
        let answers = turns(marked.fixture.as_ref()?).enumerate().map(|(turn, of)| mark.put(turn, &of.output));
        let recorded = Recorded::of(&answers.collect::<Vec<_>>());
        let of_marked = |exactly| golden(&marked, recorded.clone(), Tells::Mark(mark.letter), exactly);
        let (of_marked, exact) = (of_marked(false), of_marked(true));
        let named = Passed::of(&of_marked);
        let passed = Passed::shown(&golden(first, first.known().recorded, Tells::Shown(&named), false), &of_marked)?;
        Some((passed, [of_marked, exact]))
    }
}

fn turns(fixture: &Fixture) -> impl Iterator<Item = &Turn> + Clone {
    fixture.table.turns().iter()
}

/// A mark for the texts of a fixture whose recorded responses can have it. `equal` are those that equal what the service sends.
fn mark_of(fixture: &Fixture, equal: &Passed) -> Option<Mark> {
    let mark = Mark::of(turns(fixture).map(|turn| &turn.output), &|turn| equal.has(turn))?;
    let can_have = |turn: usize| {
        let Turn { wire, output, .. } = &fixture.table.turns()[turn];
        wire.as_ref().is_none_or(|wire| wire.response.marked(wire.api, &mark, turn, output).is_some())
    };
    mark.clone().only_in(&can_have)
}
