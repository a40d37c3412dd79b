//! What is compared where no clock could be moved: days that somebody else named before the service told them. They stay, or move as the day
//! does. Nobody knows of any other how it moves.

use std::collections::BTreeSet;

use super::replays::Proof;
use crate::run::foreign::add_answer;
use retake_core::events::Foreign;
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, Varying, dates};
use retake_wire::fixture::ToolExchange;

/// What was named so far, and the days that the service told first.
struct Named(Foreign, BTreeSet<String>);

impl Named {
    /// The days among these dates that nobody else named.
    fn others(&self, dates: &Json) -> BTreeSet<String> {
        let mut days: BTreeSet<String> = BTreeSet::new();
        dates.each_text(&mut |date| days.extend([date.chars().take("yyyy-mm-dd".len()).collect()]));
        days.retain(|day| self.1.contains(day) || !self.0.has_piece(day));
        days
    }
}

impl Proof<'_> {
    /// Where no clock was moved, the days of a new recording's calls that may be any other ones, by messages. The scenario `sent` texts, which
    /// name some.
    pub(crate) fn unmoved(&self, sent: Foreign) -> Vec<Varying> {
        let Some(fixture) = self.fixture.filter(|_| self.of_recording) else { return Vec::new() };
        let (mut named, mut varying) = (Named(sent, BTreeSet::new()), Vec::new());
        // An answer may repeat a day of its request.
        let names_none = |of: &&ToolExchange| !dates(&of.params.print(Layout::Compact)).is_truthy();
        for Ok(answer) | Err(answer) in fixture.tools.values().flatten().filter(names_none).flat_map(|of| &of.answer) {
            named.0.add(answer);
        }
        for (turn, of) in fixture.table.turns().iter().enumerate() {
            let text = of.checks.and_then(|checks| fixture.texts.get(&checks.dates?));
            let lists = text.and_then(|text| Json::parse(text.as_bytes()).ok()).unwrap_or_default();
            for (message, dates) in lists.as_array().unwrap_or_default().iter().enumerate() {
                let others = named.others(dates);
                let place = vec![message.to_string()];
                varying.extend((!others.is_empty()).then_some(Varying { turn, check: Check::Dates, place }));
                named.1.extend(others);
            }
            add_answer(&of.output, &mut named.0);
        }
        varying
    }
}
