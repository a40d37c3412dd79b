//! Where a run leaves its recording: what a service asked that was never recorded.

use std::sync::Arc;

use retake_core::json::Json;
use retake_model::MissReason::{self, AllServed, ToolAllServed, ToolNotRecorded};
use retake_model::{Miss, RunLog};

/// What a service asked that was never recorded.
#[derive(Debug)]
pub(super) struct Left {
    /// The newest message of the call.
    pub(super) asked: String,
    /// The model's last calls of tools, as the service tells them, each with what the tool returned.
    pub(super) ran: Vec<(Json, String)>,
    /// What a double of a tool server was asked that was never recorded.
    pub(super) tool: Option<String>,
    /// The first turn that was asked for once more, after it had been served.
    pub(super) again: Option<usize>,
}

impl Left {
    pub(super) fn of(log: &RunLog, missed: &[Arc<Miss>], normalize: impl Fn(&str) -> String) -> Left {
        let first = log.missed.first();
        let conversation: &[Json] = first.map(|call| &*call.lookup.conversation).unwrap_or_default();
        let ran = told_of_tools(conversation).map(|(call, result)| (call.clone(), normalize(result))).collect();
        let is_of_tool = |miss: &&Arc<Miss>| matches!(miss.reason, ToolNotRecorded { .. } | ToolAllServed { .. });
        let tool = missed.iter().find(is_of_tool).map(|miss| miss.reason.to_string());
        let last = |turns: &[usize]| turns.last().copied();
        let served = |reason: &MissReason| if let AllServed { turns, .. } = reason { last(turns) } else { None };
        let again = log.missed.iter().find_map(|call| served(&call.reason));
        Left { again, asked: conversation.last().map(text_of).map(normalize).unwrap_or_default(), ran, tool }
    }
}

/// The last calls of tools in a conversation, each with what the tool returned.
pub(super) fn told_of_tools(conversation: &[Json]) -> impl Iterator<Item = (&Json, &str)> {
    let said = conversation.iter().rposition(|message| message.str_of("type") == Some("ai"));
    let (calls, results) =
        said.map_or((None, &[][..]), |at| (conversation[at].get("tool_calls"), &conversation[at + 1..]));
    let results = results.iter().filter(|message| message.str_of("type") == Some("tool")).map(text_of);
    calls.and_then(Json::as_array).unwrap_or_default().iter().zip(results)
}

fn text_of(message: &Json) -> &str {
    message.get("content").and_then(Json::as_str).unwrap_or_default()
}
