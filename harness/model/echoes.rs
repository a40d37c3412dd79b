//! Answers that say again what their calls told: the number of an order, say, which a tool makes up anew in each run. They are served
//! with the run's own value, and it is taken back from what the system asks next.

use std::borrow::Cow;
use std::collections::BTreeSet;

use axum::body::Bytes;

use super::lookup::Lookup;
use retake_base::lock::Mutex;
use retake_core::conversation::Block;
use retake_core::days::{Days, tells};
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, Rules, dates};
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
        let (turn, messages) = (&fixture.table.turns()[index], lookup.conversation.messages());
        let told = if days.is_empty() { BTreeSet::new() } else { new_days(turn, messages) };
        let (values, says_days) = says(fixture, turn, rules);
        // Where the rules replace nothing that was recorded, a run has no other values. Today it has no other days.
        let (has_values, has_days) = (values && fixture.is_normalized(index), says_days && !days.is_empty());
        if !has_values && !has_days && lookup.values == RunValues::default() {
            return (None, told);
        }
        let none = Days::default();
        let days = if has_days { days } else { &none };
        let Some(mut recorded) = fixture.recorded(index, rules) else { return (None, told) };
        let prompt = recorded.text(Check::Prompt).take().unwrap_or_default();
        let (called, today) = (as_sent(messages), system_of(messages));
        let texts = Told::new([&recorded.conversation, &called], [&prompt, &today]);
        let move_by = if fixture.days_move { days.clone() } else { Days::default() };
        let mut values = RunValues::between(&texts, &rules.normalizer, days);
        if has_days {
            values = values.with_dates(&texts, &move_by);
        }
        values.add(&lookup.values, usize::MAX);
        let own = turn.saying(&|text| values.put(text));
        if own.is_some() {
            self.0.lock().add(&values.reversed(), TAKEN_BACK);
        }
        (own, told)
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

/// What the new messages of a call tell of days that were others when they were recorded.
fn new_days(turn: &Turn, messages: &[Shared]) -> BTreeSet<String> {
    let Some(input) = turn.sent.input.as_deref().or(turn.input.as_ref()) else { return BTreeSet::new() };
    let called = as_sent(&messages[messages.len().saturating_sub(input.messages.len())..]);
    Told::new([&input.messages, &called], [""; 2]).new_days()
}

/// Whether an answer says what a run may have otherwise: values, which are UUIDs and what the suite's rules match; and days, where a program
/// reads them: in arguments, and in JSON. What is read by people stays as it was recorded.
fn says(fixture: &Fixture, turn: &Turn, rules: &Rules) -> (bool, bool) {
    let is_data = |text: &str| matches!(Json::parse(text.as_bytes()), Ok(Json::Object(_) | Json::Array(_)));
    let tells_day = |text: &str| fixture.recorded.is_some_and(|at| tells(text, at.time().date(), 0));
    let (mut values, mut days) = (false, false);
    for block in &turn.output.blocks {
        let (text, is_data) = match block {
            Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text) => (text.clone(), is_data(text)),
            Block::ToolCall(call) => (call.args.print(Layout::Compact), true),
            Block::Native(native) => (native.block.print(Layout::Compact), true),
        };
        values |= rules.normalizer.values(&text).iter().any(|of| !of.is_empty());
        days |= is_data && (dates(&text).is_truthy() || tells_day(&text));
    }
    (values, days)
}

/// The messages of a call that count for its key, as they were sent.
pub(super) fn as_sent(messages: &[Shared]) -> Vec<Json> {
    let counts = |message: &&Shared| !Rules::default().canonical([&***message]).is_empty();
    Rules::none().canonical(messages.iter().filter(counts).map(|message| &**message))
}
