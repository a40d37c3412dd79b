//! Finds days in the texts of a recording.

use time::{Date, Duration, OffsetDateTime};

use retake_core::conversation::Block;
use retake_core::days::tells;
use retake_core::json::{Json, Layout};
use retake_core::key::Rules;
use retake_wire::fixture::Fixture;

/// The names of tools whose recorded results contain today's date in a form that keys do not replace, in the order of their
/// calls.
pub(super) fn tools_with_today(fixture: &Fixture, rules: &Rules) -> Vec<String> {
    // In some time zones it is still yesterday or already tomorrow.
    let days = around(1);
    let mut tools = Vec::new();
    for index in 0..fixture.table.turns().len() {
        let messages = fixture.conversation(index, rules).unwrap_or_default();
        for message in messages.iter().filter(|message| message.str_of("type") == Some("tool")) {
            let content = message.get("content").and_then(Json::as_str).unwrap_or_default();
            add(&mut tools, message.str_of("name").unwrap_or("unknown"), content, &days);
        }
    }
    tools
}

/// The names of tools that the model called with a day of this fortnight, in the order of their calls.
pub(super) fn tools_told_a_day(fixture: &Fixture) -> Vec<String> {
    let days = around(7);
    let mut tools = Vec::new();
    for block in fixture.table.turns().iter().flat_map(|turn| &turn.output.blocks) {
        if let Block::ToolCall(call) = block {
            add(&mut tools, &call.name, &call.args.print(Layout::Compact), &days);
        }
    }
    tools
}

fn around(days: i64) -> Vec<Date> {
    let today = OffsetDateTime::now_utc().date();
    (-days..=days).map(|away| today + Duration::days(away)).collect()
}

fn add(tools: &mut Vec<String>, name: &str, text: &str, days: &[Date]) {
    if !tools.iter().any(|known| known == name) && days.iter().any(|day| tells(text, *day)) {
        tools.push(name.to_owned());
    }
}
