//! What is compared where no clock could be moved: days that somebody else named before the service told them. They stay, or move as the day
//! does. Nobody knows of any other how it moves.

use std::collections::BTreeSet;

use super::replays::Proof;
use crate::run::foreign::add_answer;
use retake_core::events::Foreign;
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, Varying, dates};
use retake_wire::fixture::ToolExchange;

impl Proof<'_> {
    /// Where no clock was moved, the days of a new recording's calls that may be any other ones, by messages. The scenario `sent` texts, which
    /// name some.
    pub(crate) fn unmoved(&self, sent: Foreign) -> Vec<Varying> {
        let Some(fixture) = self.fixture.filter(|_| self.of_recording) else { return Vec::new() };
        // What was named so far, and the days that the service told first.
        let (mut named, mut own, mut varying) = (sent, BTreeSet::new(), Vec::new());
        // An answer may repeat a day of its request.
        let names_none = |of: &&ToolExchange| !dates(&of.params.print(Layout::Compact)).is_truthy();
        for Ok(answer) | Err(answer) in fixture.tools.values().flatten().filter(names_none).flat_map(|of| &of.answer) {
            named.add(answer);
        }
        for (turn, of) in fixture.table.turns().iter().enumerate() {
            let text = of.checks.and_then(|checks| fixture.texts.get(&checks.dates?));
            let lists = text.and_then(|text| Json::parse(text.as_bytes()).ok()).unwrap_or_default();
            for (message, dates) in lists.as_array().unwrap_or_default().iter().enumerate() {
                // The days that nobody else named.
                let mut others: BTreeSet<String> = BTreeSet::new();
                dates.each_text(&mut |date| others.extend([date.chars().take("yyyy-mm-dd".len()).collect()]));
                others.retain(|day| own.contains(day) || !named.has_piece(day));
                let place = vec![message.to_string()];
                varying.extend((!others.is_empty()).then_some(Varying { turn, check: Check::Dates, place }));
                own.extend(others);
            }
            add_answer(&of.output, &mut named);
        }
        varying
    }
}
