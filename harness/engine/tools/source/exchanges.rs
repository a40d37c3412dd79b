//! Gives the actions of a script the results that tool servers returned, where a fixture has the exchanges with them. What an
//! agent told its model may be clipped or prefixed; what the server returned is what a live server is compared with.

use std::collections::{HashMap, VecDeque};

use crate::tools::comparison::normalize;
use crate::tools::observed::observation_event;
use crate::tools::script::{Action, Entry, Script, Withheld};
use retake_core::json::{Json, Layout};
use retake_core::key::Normalizer;
use retake_wire::fixture::{ToolExchange, ToolExchanges};

/// Gives each action the result of the first recorded call of its tool with its arguments that no earlier action got. `prefix`
/// returns what an agent puts before the names of a server's tools.
pub fn observe<'a>(
    script: &mut Script,
    tools: &ToolExchanges,
    prefix: impl Fn(&str) -> &'a str,
    normalizer: &Normalizer,
) {
    let mut calls: HashMap<String, VecDeque<&ToolExchange>> = HashMap::new();
    for (server, exchanges) in tools {
        for exchange in exchanges.iter().filter(|exchange| exchange.method == "tools/call") {
            let name = format!("{}{}", prefix(server), exchange.params.str_of("name").unwrap_or_default());
            let args = exchange.params.get("arguments");
            calls.entry(key(&name, args, normalizer)).or_default().push_back(exchange);
        }
    }
    for entry in &mut script.entries {
        let Entry::Together(group) = entry else { continue };
        for action in group {
            let key = key(&action.tool, Some(&action.args), normalizer);
            let Some(exchange) = calls.get_mut(&key).and_then(VecDeque::pop_front) else { continue };
            returned(action, exchange);
        }
    }
}

fn returned(action: &mut Action, exchange: &ToolExchange) {
    let needs_input = |result: &Json| result.str_of("resultType") == Some("input_required");
    let asks = exchange.messages.iter().any(|message| message.reply.is_some())
        || exchange.answer.as_ref().is_some_and(|answer| answer.as_ref().is_ok_and(needs_input));
    let (content, is_error, structured) = match &exchange.answer {
        None => return,
        _ if asks => {
            action.withheld = Some(Withheld::AsksAgent);
            return;
        }
        Some(Ok(result)) => {
            let content = result.get("content").cloned().unwrap_or(Json::Array(Vec::new()));
            (content, result.get("isError").cloned().unwrap_or(Json::Bool(false)), result.get("structuredContent"))
        }
        Some(Err(error)) => {
            let message = error.get("message").cloned().unwrap_or_else(|| error.print(Layout::Python).into());
            (message, Json::Bool(true), None)
        }
    };
    let structured = structured.map(|value| ("structured_content", value.clone()));
    let fields = [("content", content), ("is_error", is_error)].into_iter().chain(structured);
    action.expected = vec![observation_event(Some(&action.tool), Json::object(fields))];
    action.withheld = None;
}

fn key(tool: &str, args: Option<&Json>, normalizer: &Normalizer) -> String {
    let mut args = args.cloned().unwrap_or(Json::Null);
    normalize(&mut args, normalizer);
    // A call without arguments may say so in either way.
    let none = args == Json::Null || args.as_object().is_some_and(retake_core::json::Object::is_empty);
    format!("{tool} {}", if none { String::new() } else { args.print(Layout::Compact) })
}

#[cfg(test)]
mod tests;
