//! What a golden holds because several runs show it: what varies, what follows from the model, where ids stand, which digits are a clock.

use std::sync::{Arc, OnceLock};

use super::mark::Marked;
use super::replays::Proof;
use crate::report::terminal;
use crate::run::golden::Committed;
use crate::run::trial::Replayed;
use retake_core::events::{Detail, Exactly, Golden, IdPlaces, Tells};
use retake_core::key::Rules;
use retake_scenario::{ClockFrom, Scenario};
use retake_wire::fixture::Fixture;
use time::OffsetDateTime;

/// How often goldens are made anew to find the places of ids without a form.
const TRIES: usize = 4;

impl Proof<'_> {
    /// The golden of the first replay with what marked ones show of it, and these.
    pub(super) fn with_derived(
        &self,
        first: &mut Replayed,
        golden: Option<Golden>,
        fixture: Option<&Arc<Fixture>>,
        rules: &Arc<Rules>,
    ) -> (Option<Golden>, Option<Marked>) {
        let Proof { project, scenario, .. } = *self;
        let (passed, mut marked) = self.passed_on(first, fixture, rules).unzip();
        (first.passed, first.has_others) =
            (passed, scenario.golden.detail == Detail::Types && !project.systems.is_attached(scenario));
        let plain = golden.and_then(|_| first.golden_by(scenario, rules));
        let holds_two = plain.as_ref().is_some_and(Golden::holds_order_of_two);
        marked = marked.or_else(|| if holds_two { self.run_again(first) } else { None });
        let told = |marked: Option<&Marked>| Some(with_derived(plain.clone()?, first, marked, scenario));
        let told_once = told(marked.as_ref());
        // What the words and tokens of the model decide is the same again, and what varies from run to run is not.
        let wants_more = holds_two || told_once.as_ref().is_some_and(Golden::holds_derived);
        let Some(Marked { runs, .. }) = marked.as_mut().filter(|_| wants_more) else { return (told_once, marked) };
        runs.extend(self.run_marked(runs[0].fixture.as_ref(), rules));
        (told(marked.as_ref()), marked)
    }

    /// Whether the replays show what a clock changes: one was moved, or each has that of the recording.
    pub(super) fn has_moved(&self, first: &Replayed, replays: &[Replayed]) -> bool {
        self.scenario.options.clock == ClockFrom::Recorded || has_moved(first, replays)
    }

    /// Says that times are held nowhere that are another distance away on another day.
    pub(super) fn note_other_distances(&self) {
        let (Proof { project, .. }, Scenario { name, file, options, .. }) = (self, self.scenario);
        if self.of_recording && options.clock == ClockFrom::Now {
            let (file, then) = (file.display(), project.commands.update(name));
            let held = format!("; to hold it, set in {file}: clock = \"recorded\", and then: {then}");
            let held = if project.systems.may_set_clock(self.scenario) { held } else { String::new() };
            terminal::note(format!(
                "{name}: on another day the service says otherwise: dates that are not as far away, as the next Monday, or what follows \
                 from them, as a price. That is not held, or red on some days{held}"
            ));
        }
    }

    /// A header or a number that varied once may be the same in a few replays by chance.
    pub(super) fn with_known_headers(&self, mut golden: Golden) -> Golden {
        let committed = self.project.goldens.golden(&self.scenario.golden_name).ok().flatten();
        if let Some(known) = committed {
            golden.keep_varying(&known.golden);
            // By another clock, others vary.
            if self.scenario.golden.detail == Detail::Types && known.written.1 == self.scenario.options.clock {
                golden.keep_open(&known.golden);
            }
        }
        golden
    }

    /// The goldens of replays, that of the first one apart, without the name of the user. It may be a word of the service, too: only the other
    /// user tells.
    pub(super) fn without_user(
        &self,
        first: &mut Replayed,
        runs: &mut [Replayed],
        rules: &Arc<Rules>,
    ) -> (Option<Golden>, Vec<Golden>) {
        let scenario = self.scenario;
        (first.user_varies, first.own_golden) = (true, OnceLock::new());
        let of_first = first.golden_by(scenario, rules);
        let committed = of_first.clone().map(Committed::now);
        let mut others = vec![of_first.clone().unwrap_or_default()];
        for run in runs {
            run.committed.clone_from(&committed);
            let again = run.golden_by(scenario, rules).unwrap_or_default();
            others.push(run.moved_to(first, &scenario.golden, rules, &others[0], again));
        }
        Golden::agree_on_what_varies(&mut others.iter_mut().collect::<Vec<_>>(), scenario.golden.detail);
        (of_first, others)
    }

    /// The goldens of replays, that of the first one apart, once it is known where texts are ids, or are none, in spite of their form.
    pub(super) fn with_id_places(
        &self,
        first: &mut Replayed,
        runs: &mut [Replayed],
        marked: Option<&Marked>,
        rules: &Rules,
    ) -> Option<(Golden, Vec<Golden>)> {
        let scenario = self.scenario;
        let mut short = first.id_places_beside(runs, scenario);
        // The golden may name fewer places, where runs do not agree, and more, where the same ids stand.
        for _ in 0..TRIES {
            if short.is_empty() {
                break;
            }
            let known = Some(Arc::new(short.clone()));
            first.id_places.clone_from(&known);
            let golden = with_derived(first.golden_by(scenario, rules)?, first, marked, scenario);
            let (pinned, mut goldens) = (Committed::now(golden.clone()), vec![golden]);
            for run in runs.iter_mut() {
                (run.id_places, run.committed, run.own_golden) = (known.clone(), Some(pinned.clone()), OnceLock::new());
                let again = run.golden_by(scenario, rules).unwrap_or_default();
                goldens.push(run.moved_to(first, &scenario.golden, rules, &goldens[0], again));
            }
            let mut ids = goldens[0].clone();
            for other in &goldens {
                ids.agree_on_ids(other);
            }
            let named = IdPlaces::named(&ids);
            if named.has_all(&short) {
                return Some((goldens[0].clone(), goldens));
            }
            short = named;
        }
        for run in runs.iter_mut().chain([first]) {
            (run.id_places, run.own_golden) = (None, OnceLock::new());
        }
        None
    }

    /// Tells texts with the words that have digits, and how far away times are, as far as all replays agree on them; and whether they do not
    /// agree on how far away some are.
    pub(super) fn told_exactly(
        &self,
        mut golden: Golden,
        first: &Replayed,
        (replays, marked): (&[Replayed], Option<&Marked>),
    ) -> (Golden, bool) {
        let Proof { project, scenario, .. } = *self;
        let moved = self.has_moved(first, replays);
        let exactly = if moved { Exactly::Always } else { Exactly::Unless(OffsetDateTime::now_utc().date()) };
        let tells = first.passed.as_ref().map_or(Tells::Likeness, Tells::Shown);
        let committed = project.goldens.golden(&scenario.golden_name).ok().flatten().filter(|it| !it.is_older());
        let committed = committed.as_ref().map(|it| &it.golden);
        // Where no clock is moved, one that was written where it was says what stays.
        let of = |run: &Replayed| match committed.filter(|_| !moved) {
            Some(known) => run.golden_with(&run.known_with(Some(known)), scenario),
            None => run.exact_golden(scenario, exactly, Some(tells)),
        };
        let mut exact = if first.has_others { of(first) } else { return (golden, false) };
        if !exact.is_exact() {
            return (golden, false);
        }
        let told = exact.clone();
        let others: Vec<Golden> = replays.iter().map(of).collect();
        for (run, other) in replays.iter().zip(&others) {
            exact.agree_on_values(&run.moved_to(first, &scenario.golden, &first.rules, &exact, other.clone()));
        }
        for other in &others {
            exact.leave_out_moving(other);
        }
        let named = |run: &Replayed| run.exact_golden(scenario, Exactly::Always, None);
        let moving = |golden: Golden| golden.with_moving(named(first), &replays.iter().map(named).collect::<Vec<_>>());
        // A time that is the same on each day depends on none.
        let is_lost = moved && self.of_recording && moving(told).tells_times_otherwise(&exact);
        if let Some(marked) = marked {
            let with_more = marked.golden(scenario, exactly, first.id_places.as_deref());
            exact.tell_derived(&with_more, &first.known().recorded);
        }
        if !moved && self.writes_anew() {
            golden.tell_moving(&moving(exact.clone()));
        }
        golden.tell_exactly(exact, moved, committed);
        (golden, is_lost)
    }
}

/// Whether a system took the other clock that it was started with. Not each program does.
pub(super) fn has_moved(first: &Replayed, replays: &[Replayed]) -> bool {
    first.year().is_some_and(|year| replays.iter().filter_map(Replayed::year).any(|other| other != year))
}

/// Returns a golden with what all replays agreed on.
pub(super) fn as_agreed(mut golden: Golden, agreed: &Golden, early: &[Vec<usize>]) -> Golden {
    golden.agree_on_values(agreed);
    golden.with_headers_of(agreed).with_early(early)
}

/// Tells what another replay's words and tokens of the model change by these: it is not the service's own.
fn with_derived(mut golden: Golden, run: &Replayed, marked: Option<&Marked>, scenario: &Scenario) -> Golden {
    if run.has_others {
        // Where no words can be marked, what texts say is still that of this recording.
        let of_marked = |marked: &Marked| marked.golden(scenario, Exactly::No, run.id_places.as_deref());
        let with_more = marked.map_or_else(|| golden.clone(), of_marked);
        golden.tell_derived(&with_more, &run.known().recorded);
    }
    if marked.is_none_or(|marked| marked.runs.len() < 2) {
        golden.leave_out_order_of_two();
    }
    golden
}
