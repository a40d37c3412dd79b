//! Mistakes that only cost: the service does the same, and pays more for it, since no call finds what the provider's cache keeps of an
//! earlier one. None of them changes what the model is asked, as far as keys tell.

use serde_json::{Value, json};
use time::OffsetDateTime;

use crate::{auth::new_id, mutants::mutant};

/// Returns the text of a request.
pub(crate) fn printed(request: &Value) -> String {
    if request.get("tools").is_none() {
        return request.to_string();
    }
    // Which call of its run it is.
    let messages = request["messages"].as_array().into_iter().flatten();
    let call = messages.filter(|message| message["role"] == "assistant").count();
    let mut request = request.clone();
    in_tools(&mut request, call);
    in_messages(&mut request, call);
    if mutant!("dearer_other_model") && call == 1 {
        request["model"] = json!("gpt-4o");
    }
    if mutant!("dearer_format_of_last") && call > 1 {
        request["response_format"] = json!({ "type": "text" });
    }
    if mutant!("dearer_functions_too") {
        let tools = request["tools"].as_array().into_iter().flatten();
        request["functions"] = tools.map(|tool| tool["function"].clone()).collect();
    }
    let text = request.to_string();
    if mutant!("dearer_schema_order") && call % 2 == 1 {
        let (path, content) = (
            r#""path":{"description":"Where to write","type":"string"}"#,
            r#""content":{"description":"The whole text of the file","type":"string"}"#,
        );
        return text.replace(&format!("{content},{path}"), &format!("{path},{content}"));
    }
    text
}

fn in_tools(request: &mut Value, call: usize) {
    let Some(tools) = request["tools"].as_array_mut() else { return };
    if mutant!("dearer_tools_of_a_set") && !tools.is_empty() {
        let first = call % tools.len();
        tools.rotate_left(first);
    }
    if mutant!("dearer_tool_once") && call == 1 {
        tools.insert(0, json!({ "type": "function", "function": { "name": "finish", "parameters": {} } }));
    }
    if mutant!("dearer_tool_says_how_often") {
        tools[0]["function"]["description"] = json!(format!("Write a text file. Called {call} times."));
    }
    if mutant!("dearer_uptime_in_tool") {
        let now = OffsetDateTime::now_utc().nanosecond();
        tools[0]["function"]["description"] = json!(format!("Write a text file. Up for {now} ns."));
    }
    if mutant!("dearer_strict_in_turns") {
        tools[0]["function"]["strict"] = json!(call.is_multiple_of(2));
    }
}

fn in_messages(request: &mut Value, call: usize) {
    let Some(messages) = request["messages"].as_array_mut() else { return };
    let now = OffsetDateTime::now_utc();
    let clock = format!("{} {:02}:{:02}:{:02}", now.date(), now.hour(), now.minute(), now.second());
    let reminder = |what: &str| format!("<system-reminder>{what}</system-reminder>");
    let add = |message: &mut Value, text: &str| {
        let whole = format!("{}{text}", message["content"].as_str().unwrap_or_default());
        message["content"] = whole.into();
    };
    if mutant!("dearer_clock") {
        add(&mut messages[0], &format!("\nNow: {clock}"));
    }
    if mutant!("dearer_memory_each_turn") {
        add(&mut messages[0], &format!("\nRemembered: {call} steps so far."));
    }
    if mutant!("dearer_session_in_prompt") {
        add(&mut messages[0], &format!("\nSession {}", new_id()));
    }
    if mutant!("dearer_space_in_turns") && call % 2 == 1 {
        add(&mut messages[0], " ");
    }
    if mutant!("dearer_skills_of_a_set") {
        let skills = if call % 2 == 1 { "reading, writing" } else { "writing, reading" };
        add(&mut messages[0], &format!("\nSkills: {skills}"));
    }
    if mutant!("dearer_line_ends_in_turns") {
        add(&mut messages[0], if call % 2 == 1 { "\r\nBe brief." } else { "\nBe brief." });
    }
    if mutant!("dearer_example_by_chance") {
        add(&mut messages[0], &format!("\nExample {}: none.", now.nanosecond() / 7));
    }
    if mutant!("dearer_length_first") {
        let prompt = messages[0]["content"].as_str().unwrap_or_default();
        messages[0]["content"] = json!(format!("{} messages so far. {prompt}", messages.len()));
    }
    if mutant!("dearer_files_of_a_folder") {
        let files = if call % 2 == 1 { "src README.md" } else { "README.md src" };
        add(&mut messages[0], &format!("\nFiles: {files}"));
    }
    if mutant!("dearer_marked") {
        let text = messages[0]["content"].take();
        messages[0]["content"] = json!([{ "type": "text", "text": text, "cache_control": { "type": "ephemeral" } }]);
    }
    if mutant!("dearer_id_in_question") {
        add(&mut messages[1], &reminder(&new_id()));
    }
    if mutant!("dearer_time_in_question") {
        add(&mut messages[1], &reminder(&format!("asked at {clock}")));
    }
    if mutant!("dearer_long_reminder") {
        add(&mut messages[1], &reminder(&"Be careful with files. ".repeat(200)));
    }
    if mutant!("dearer_reminder_moves")
        && let Some(newest) = messages.iter_mut().rfind(|message| message["role"] != "assistant")
    {
        add(newest, &reminder("Answer in short."));
    }
    if mutant!("dearer_history_rewritten") && call > 1 {
        add(&mut messages[1], &reminder("answered already"));
    }
    if mutant!("dearer_ids_anew") {
        for message in messages.iter_mut() {
            for id in ["/tool_call_id", "/tool_calls/0/id"] {
                if let Some(id) = message.pointer_mut(id) {
                    *id = json!(format!("{}_{call}", id.as_str().unwrap_or_default()));
                }
            }
        }
    }
    if mutant!("dearer_arguments_printed_anew") && call > 1 {
        for message in messages.iter_mut() {
            if let Some(arguments) = message.pointer_mut("/tool_calls/0/function/arguments") {
                *arguments = json!(arguments.as_str().unwrap_or_default().replacen('{', "{ ", 1));
            }
        }
    }
    if mutant!("dearer_prompt_twice") {
        messages.insert(0, messages[0].clone());
    }
    if mutant!("dearer_history_twice") {
        let again = messages[1..].to_vec();
        messages.extend(again);
    }
    if mutant!("dearer_result_larger")
        && let Some(result) = messages.iter_mut().find(|message| message["role"] == "tool")
    {
        add(result, &"\nAnd much more of the same.".repeat(100));
    }
}
