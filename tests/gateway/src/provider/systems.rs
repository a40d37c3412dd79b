//! The provider's answers to the small agents on real frameworks, which `tests/systems` starts. The tools that a request
//! offers show which agent sends it.

use serde_json::{Value, json};

use super::script::{Reply, text};

const CITIES: [&str; 3] = ["Paris", "Rome", "Oslo"];

pub(super) fn reply(messages: &[Value], tools: &[&str]) -> Option<Reply> {
    let has = |tool: &str| tools.contains(&tool);
    let of_role = |role: &str| -> Vec<String> {
        messages.iter().filter(|message| message["role"] == role).map(text).filter(|text| !text.is_empty()).collect()
    };
    let (asked, results) = (of_role("user"), of_role("tool"));
    let cities: Vec<&str> = CITIES.into_iter().filter(|city| asked.iter().any(|text| text.contains(city))).collect();
    let for_each_city = |tool: &'static str| cities.iter().map(|city| (tool, json!({ "city": city }))).collect();
    let last = || results.last().cloned().unwrap_or_default();
    if has("get_weather") {
        return Some(match &results[..] {
            [] => Reply::Calls(for_each_city("get_weather")),
            results => Reply::Text(format!("I looked it up. {}", results.join(" "))),
        });
    }
    if has("research") {
        return Some(match &results[..] {
            [] => Reply::Calls(for_each_city("research")),
            _ => Reply::Text(format!("My report: {}", last())),
        });
    }
    if has("look_up") {
        return Some(match &results[..] {
            [] => Reply::Calls(for_each_city("look_up")),
            _ => Reply::Text(format!("The archive says: {}", last())),
        });
    }
    if has("transfer_to_agent") {
        return Some(Reply::Calls(vec![("transfer_to_agent", json!({ "agent_name": "meteorologist" }))]));
    }
    if has("write") && has("read") {
        return Some(match results.len() {
            0 => Reply::Calls(vec![("write", json!({ "content": "hi from replay.\n", "path": "note.txt" }))]),
            1 => Reply::Calls(vec![("read", json!({ "path": "note.txt" }))]),
            _ => Reply::Text(format!("The note says: {}", last().trim())),
        });
    }
    None
}
