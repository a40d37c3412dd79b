//! Asks where the model's words go: one more replay, in which they are marked. It is no part of the proof. If it goes another way,
//! because the service reads what it passes on, it shows nothing, and equal words count as the model's.

use std::sync::Arc;

use super::replays::Proof;
use crate::run::second_look::may_play_again;
use crate::run::trial::{self, How, Replayed};
use crate::run::verdict::has_golden;
use retake_core::events::{Exactly, Golden, IdPlaces, Known, Passed, Recorded, Tells};
use retake_core::key::Rules;
use retake_core::mark::Mark;
use retake_scenario::Scenario;
use retake_wire::fixture::{Fixture, Turn};

/// Runs with marks in the words of the model, or at least others than those of the proof.
pub(super) struct Marked {
    pub(super) runs: Vec<Replayed>,
    recorded: Recorded,
    tells: Tells<'static>,
}

impl Marked {
    /// Their golden, with texts told exactly or not, as far as they agree, and with ids at the `id_places` of the other runs.
    pub(super) fn golden(&self, scenario: &Scenario, exactly: Exactly, id_places: Option<&IdPlaces>) -> Golden {
        let of = |run: &Replayed| {
            let mut known = Known { tells: self.tells, exactly, id_places, ..run.known_with(None) };
            known.has_others = true;
            known.foreign.iter_mut().for_each(|foreign| foreign.add_recorded(&self.recorded));
            known.recorded = self.recorded.clone();
            run.shaped(&run.played.driven.captured, &scenario.golden, &run.rules, &known, &str::to_owned).golden
        };
        let mut goldens = self.runs.iter().map(of);
        let mut golden = goldens.next().unwrap_or_default();
        goldens.for_each(|again| golden.agree_on_values(&again));
        golden
    }
}

impl Proof<'_> {
    /// Returns which words of the model the service passes on, and where, and the run with other words that has shown it. `None` if that
    /// cannot be asked, or shows nothing.
    pub(super) fn passed_on(
        &self,
        first: &Replayed,
        fixture: Option<&Arc<Fixture>>,
        rules: &Arc<Rules>,
    ) -> Option<(Passed, Marked)> {
        let Proof { project, scenario, .. } = *self;
        // Rules that are only tried write no golden.
        let is_own = Arc::ptr_eq(rules, &project.rules);
        let fixture = fixture.filter(|_| is_own && has_golden(scenario) && !scenario.golden.without_turns)?;
        let golden = |tells: Tells<'_>| -> Golden {
            let mut known = Known { tells, has_others: true, ..first.known_with(None) };
            known.foreign.iter_mut().for_each(|foreign| foreign.add_recorded(&known.recorded));
            first.shaped(&first.played.driven.captured, &scenario.golden, rules, &known, &str::to_owned).golden
        };
        let equal = Passed::of(&golden(Tells::Equality));
        let mark = mark_of(fixture, &equal).filter(|_| may_play_again(project, scenario, first))?;
        let with_mark = Arc::new(Fixture { mark: Some(mark.clone()), ..(**fixture).clone() });
        let marked = self.run_marked(Some(&with_mark), rules)?;
        let answers = marked.log.answers(marked.fixture.as_ref()?).enumerate();
        let answers = answers.map(|(turn, answer)| mark.put(turn, answer));
        let recorded = Recorded::of(&answers.collect::<Vec<_>>());
        let marked = Marked { runs: vec![marked], recorded, tells: Tells::Mark(mark.letter) };
        let plain = marked.golden(scenario, Exactly::No, None);
        let passed = Passed::shown(&golden(Tells::Shown(&Passed::of(&plain))), &plain)?;
        Some((passed, marked))
    }

    /// The same without a mark, where nothing can have one: a run that only shows what stays the same.
    pub(super) fn run_again(&self, first: &Replayed) -> Option<Marked> {
        let may_run =
            Arc::ptr_eq(&first.rules, &self.project.rules) && may_play_again(self.project, self.scenario, first);
        let runs = vec![may_run.then(|| self.run_marked(first.fixture.as_ref(), &first.rules)).flatten()?];
        Some(Marked { runs, recorded: first.known().recorded.clone(), tells: Tells::Likeness })
    }

    /// Replays a fixture with a mark; `None` if the run goes another way, twice: once it may, as when a client leaves too late.
    pub(super) fn run_marked(&self, fixture: Option<&Arc<Fixture>>, rules: &Arc<Rules>) -> Option<Replayed> {
        let Proof { project, scenario, .. } = *self;
        (0..2).find_map(|_| {
            let marked = trial::replay(project, scenario, fixture.cloned(), rules, How::default()).ok()?;
            let is_right = || marked.verdict(&self.without_varying_checks()).is_ok();
            let same_way = marked.misses.is_empty() && !marked.log.unanswered && is_right();
            same_way.then_some(marked)
        })
    }
}

/// A mark for the texts of a fixture whose recorded responses can have it. `equal` are those that equal what the service sends.
fn mark_of(fixture: &Fixture, equal: &Passed) -> Option<Mark> {
    let mark = Mark::of(fixture.table.turns().iter().map(|turn| &turn.output), &|turn| equal.has(turn))?;
    let can_have = |turn: usize| {
        let Turn { wire, output, .. } = &fixture.table.turns()[turn];
        wire.as_ref().is_none_or(|wire| wire.response.marked(wire.api, &mark, turn, output).is_some())
    };
    Some(mark.clone().only_in(&can_have))
}
