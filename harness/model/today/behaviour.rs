//! What differs in what an answer does, not in how it is written: whether it calls tools, which, with valid arguments, and why it
//! ends.

use std::collections::BTreeSet;

use super::arguments::misfit;
use super::comparison::Finding;
use crate::breakage::definition;
use retake_core::conversation::{Answer, Finish, ToolCall};
use retake_core::json::Json;

/// Compares the recorded answer with today's. `tools` are the tools that the call offered.
pub(super) fn behaviour(recorded: &Answer, today: &Answer, tools: &Json) -> Vec<Finding> {
    let mut found = Vec::new();
    let (was, is) = (names(recorded), names(today));
    let kind = |names: &BTreeSet<&str>| match names.len() {
        0 => "answers without a tool".to_owned(),
        _ => format!("calls {}", names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")),
    };
    if was != is {
        found.push(Finding::breaking(format!("the model {} today; recorded: it {}", kind(&is), kind(&was))));
    }
    let wrong = |call: &ToolCall| misfit(definition(tools, &call.name)?, &call.args);
    for call in today.tool_calls() {
        // What did not fit when it was recorded is no news.
        let before = recorded.tool_calls().into_iter().any(|other| other.name == call.name && wrong(other).is_some());
        if let Some(what) = wrong(call).filter(|_| !before) {
            let line = format!("the arguments for `{}` do not fit the schema that was offered: {what}", call.name);
            found.push(Finding::breaking(line));
        }
    }
    let word = |answer: &Answer| answer.finish.as_ref().map_or("none", Finish::as_str).to_owned();
    if word(recorded) != word(today) && was == is {
        found.push(Finding::breaking(format!("finish reason: recorded {}, today {}", word(recorded), word(today))));
    }
    if let (Some(was), Some(is)) = (&recorded.model, &today.model)
        && was != is
    {
        found.push(Finding::note(format!("another model answered: recorded {was}, today {is}")));
    }
    found
}

fn names(answer: &Answer) -> BTreeSet<&str> {
    answer.tool_calls().into_iter().map(|call| call.name.as_str()).collect()
}
