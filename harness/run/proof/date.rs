//! Finds days in the texts of a recording.

use time::{Duration, OffsetDateTime};

use retake_core::conversation::Block;
use retake_core::days::tells;
use retake_core::json::Layout;
use retake_wire::fixture::Fixture;

/// The names of tools that the model called with a day of this fortnight, in the order of their calls.
pub(super) fn tools_told_a_day(fixture: &Fixture) -> Vec<String> {
    let today = OffsetDateTime::now_utc().date();
    let is_near = |text: &str| (-7..=7).any(|away| tells(text, today + Duration::days(away)));
    let mut tools: Vec<String> = Vec::new();
    for block in fixture.table.turns().iter().flat_map(|turn| &turn.output.blocks) {
        if let Block::ToolCall(call) = block
            && !tools.contains(&call.name)
            && is_near(&call.args.print(Layout::Compact))
        {
            tools.push(call.name.clone());
        }
    }
    tools
}
