//! What is compared where no clock could be moved: days that somebody else named before the service told them. They stay, or move as the day
//! does. Nobody knows of any other how it moves.

use std::collections::BTreeSet;

use super::replays::Proof;
use crate::run::foreign::add_answer;
use retake_core::days::tells;
use retake_core::events::Foreign;
use retake_core::json::{Json, Layout};
use retake_core::key::{Check, Varying, dates};
use retake_engine::tools::CallOfTool;
use retake_wire::fixture::ToolExchange;
use time::OffsetDateTime;

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
    /// Where no clock was moved, the days of a new recording's calls that may be any other ones, by messages; and the requests to tools whose
    /// days stay, which are none of this week. The scenario `sent` texts, which name some.
    pub(crate) fn unmoved(&self, sent: Foreign) -> (Vec<Varying>, BTreeSet<CallOfTool>) {
        let Some(fixture) = self.fixture.filter(|_| self.of_recording) else { return Default::default() };
        let (asked, today) = (|of: &ToolExchange| of.params.print(Layout::Compact), OffsetDateTime::now_utc().date());
        let (mut named, mut varying) = (Named(sent, BTreeSet::new()), Vec::new());
        for exchange in fixture.tools.values().flatten() {
            // An answer may repeat a day of its request.
            if named.others(&dates(&asked(exchange))).is_empty() {
                exchange.answer.iter().for_each(|(Ok(answer) | Err(answer))| named.0.add(answer));
            }
        }
        for (turn, of) in fixture.table.turns().iter().enumerate() {
            let text = of.checks.and_then(|checks| fixture.texts.get(&checks.dates?));
            let lists = text.and_then(|text| Json::parse(text.as_bytes()).ok()).unwrap_or_default();
            for (message, dates) in lists.as_array().unwrap_or_default().iter().enumerate() {
                let others = named.others(dates);
                varying.extend((!others.is_empty()).then(|| Varying::of_element(turn, Check::Dates, message)));
                named.1.extend(others);
            }
            add_answer(&of.output, &mut named.0);
        }
        let calls = fixture.tools.iter().flat_map(|(server, all)| all.iter().enumerate().map(move |of| (server, of)));
        let stays = |text: &str| named.others(&dates(text)).is_empty() && !tells(text, today, 0);
        let stay = calls.filter(|(_, (_, of))| stays(&asked(of)));
        (varying, stay.map(|(server, (index, _))| (server.clone(), index)).collect())
    }
}
