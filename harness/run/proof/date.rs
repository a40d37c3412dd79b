//! Finds today's date in texts.

use time::{Duration, OffsetDateTime};

use retake_core::days::tells;
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_wire::fixture::Fixture;

/// The names of tools whose recorded results contain today's date in a form that keys do not replace, in the order of their
/// calls.
pub(super) fn tools_with_today(fixture: &Fixture, rules: &Rules) -> Vec<String> {
    let today = OffsetDateTime::now_utc().date();
    // In some time zones it is still yesterday or already tomorrow.
    let days = [today - Duration::DAY, today, today + Duration::DAY];
    // Each form ends or begins with the year. To compile them takes longer than to read all results without it.
    let years = days.map(|day| format!("{:02}", day.year() % 100));
    let mut tools: Vec<String> = Vec::new();
    for index in 0..fixture.table.turns().len() {
        let messages = fixture.conversation(index, rules).unwrap_or_default();
        for message in messages.iter().filter(|message| message.str_of("type") == Some("tool")) {
            let name = message.str_of("name").unwrap_or("unknown").to_owned();
            let content = message.get("content").and_then(Json::as_str).unwrap_or_default();
            let may_tell_it = years.iter().any(|year| content.contains(year));
            if may_tell_it && !tools.contains(&name) && days.iter().any(|day| tells(content, *day)) {
                tools.push(name);
            }
        }
    }
    tools
}
