//! Answers that say again what their calls told: the number of an order, say, which a tool makes up anew in each run. They are served
//! with the run's own value, and it is taken back from what the system asks next.

use std::borrow::Cow;
use std::collections::BTreeSet;

use axum::body::Bytes;

use super::lookup::Lookup;
use retake_base::lock::Mutex;
use retake_core::days::Days;
use retake_core::json::Json;
use retake_core::key::{Check, Rules};
use retake_core::places::{RunValues, Told};
use retake_wire::fixture::{Fixture, Turn};
use retake_wire::{Shared, system_of};

/// How many of the values that were served are taken back: more than a system says in all its conversations at the same time.
const TAKEN_BACK: usize = 256;

/// What the recording has in place of values of the run that were served.
#[derive(Debug, Default)]
pub(super) struct Echoes(Mutex<RunValues>);

impl Echoes {
    /// Returns the turn that answers a call with the run's values, `None` if it says none; and what the call tells of days that were
    /// others when it was recorded.
    pub(super) fn turn(
        &self,
        fixture: &Fixture,
        index: usize,
        lookup: &Lookup,
        rules: &Rules,
        days: &Days,
    ) -> (Option<Turn>, BTreeSet<String>) {
        // Where the rules replace nothing that was recorded, a run has no other values, and today no other days.
        if !fixture.is_normalized(index) && days.is_empty() {
            return Default::default();
        }
        let Some(mut recorded) = fixture.recorded(index, rules) else { return Default::default() };
        let prompt = recorded.text(Check::Prompt).take().unwrap_or_default();
        let messages = lookup.conversation.messages();
        let (called, today) = (as_sent(messages), system_of(messages));
        let told = Told::new([&recorded.conversation, &called], [&prompt, &today]);
        let move_by = if fixture.days_move { days.clone() } else { Days::default() };
        let mut values = RunValues::between(&told, &rules.normalizer, days).with_dates(&told, &move_by);
        values.add(&lookup.values, usize::MAX);
        let turn = Some(&fixture.table.turns()[index]).filter(|_| values != RunValues::default());
        let turn = turn.and_then(|turn| turn.saying(&|text| values.put(text)));
        if turn.is_some() {
            self.0.lock().add(&values.reversed(), TAKEN_BACK);
        }
        (turn, if days.is_empty() { BTreeSet::new() } else { told.new_days() })
    }

    /// Puts the recorded values in the body of a request in place of the run's. Returns those that stand there.
    pub(super) fn take_back(&self, body: &mut Bytes) -> RunValues {
        let served = self.0.lock();
        let text = std::str::from_utf8(body).ok().filter(|_| *served != RunValues::default());
        let Some(text) = text else { return RunValues::default() };
        let values = served.in_text(text);
        if let Cow::Owned(text) = values.put(text) {
            *body = text.into();
        }
        values.reversed()
    }
}

/// The messages of a call that count for its key, as they were sent.
pub(super) fn as_sent(messages: &[Shared]) -> Vec<Json> {
    let counts = |message: &&Shared| !Rules::default().canonical([&***message]).is_empty();
    Rules::none().canonical(messages.iter().filter(counts).map(|message| &**message))
}
