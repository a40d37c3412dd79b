//! The conversations whose keys are measured: a long one, and a hard one.

use std::fmt::Write as _;

use retake_core::json::{Json, Layout};

/// Returns 200 rounds of user text with dates, ids and temporary paths, a tool call and its result: about 800 KB of JSON.
pub fn long() -> String {
    let mut messages = Vec::new();
    for round in 0..200 {
        let id = format!("{round:08x}-1392-4452-8ea2-fb2b42eb80dc");
        let words = "the quick brown fox jumps over the lazy dog and writes a report about what it saw on the way. ";
        let text = format!(
            "On 2026-11-{:02} at 2026-11-21T10:20:{:02}Z run {id} left /tmp/run-{round}/out.txt behind. {}",
            round % 28 + 1,
            round % 60,
            words.repeat(14)
        );
        messages.push(message("human", &text, ""));
        let call = format!(
            r#", "tool_calls": [{{"name": "read_file", "args": {{"path": "notes/{round}.txt", "limit": {round}}}, "id": "call_{round}"}}]"#
        );
        messages.push(message("ai", &format!("I will read the file of round {round}."), &call));
        messages.push(message("tool", &words.repeat(24), r#", "name": "read_file""#));
    }
    conversation(&messages)
}

/// Returns source code and log text with 1,400 ids and dates, several scripts and many escapes: about 900 KB of JSON.
pub fn hard() -> String {
    let mut messages = Vec::new();
    for round in 0..140 {
        let mut text = String::new();
        for line in 0..10 {
            let _ = writeln!(
                text,
                "2026-11-21 10:{:02}:{:02},123 INFO\t[worker-{line}] request {round:08x}-1392-4452-8ea2-fb2b42eb80dc done \"ok\"\\n",
                round % 60,
                line
            );
            let _ = writeln!(
                text,
                "    if (x->y - 1 == z[\"{line}\"]) {{ return f(a-b, c - d, \"/var/log/x-{line}\"); }} // größer als нет 日本語"
            );
            text.push_str(&"let value = map.get(\"key\").unwrap_or(&0) + 1; /* a-b-c */\n".repeat(7));
        }
        messages.push(message(if round % 2 == 0 { "human" } else { "tool" }, &text, ""));
    }
    conversation(&messages)
}

fn message(kind: &str, text: &str, more: &str) -> String {
    let text = Json::from(text).print(Layout::Python);
    format!(r#"{{"type": "{kind}", "data": {{"content": {text}{more}}}}}"#)
}

fn conversation(messages: &[String]) -> String {
    format!("[{}]", messages.join(", "))
}
