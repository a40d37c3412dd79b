use proptest::prelude::*;

use super::Histories;
use crate::{Api, Call, Known, Target, chat_body, decode};
use retake_core::key::{Normalizer, Rules};

/// Elements of conversations, some of which only an error or a reading of the whole body can answer.
fn elements(api: Api) -> &'static [&'static str] {
    match api {
        Api::OpenAiChat => &[
            r#"{"role": "system", "content": "Be brief."}"#,
            r#"{"role": "user", "content": "on 2026-01-02 <system-reminder>x</system-reminder>"}"#,
            r#"{"role": "user", "content": "a <system-reminder>"}"#,
            r#"{"role": "user", "name": "ann", "content": "b </system-reminder>"}"#,
            r#"{"role": "user", "content": [{"type": "text", "text": "c"}, [{"z": 1, "a": 2.0}]]}"#,
            r#"{"role": "assistant", "content": null, "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": "{\"a\": 1}"}}]}"#,
            r#"{"role": "assistant", "content": "x", "tool_calls": [{"id": "1", "function": {"name": "g"}}, {"id": "2", "function": {"name": "h"}}]}"#,
            r#"{"role": "tool", "tool_call_id": "1", "content": "order-17"}"#,
            r#"{"role": "tool", "tool_call_id": "2", "content": ""}"#,
            r#"{"role": "tool", "tool_call_id": "", "content": "y"}"#,
            r#"{"role": "user", "content": "\ud800 \u00e9 ]}"}"#,
            r#" {"content":"","role":"critic"} "#,
            r#"{"role": 7}"#,
            r#"{"role": "user", "content": }"#,
            r#""text""#,
        ],
        Api::Anthropic => &[
            r#"{"role": "user", "content": [{"type": "text", "text": "a", "cache_control": {"type": "ephemeral"}}]}"#,
            r#"{"role": "user", "content": [{"type": "text", "text": "a"}]}"#,
            r#"{"role": "user", "content": "plain"}"#,
            r#"{"role": "assistant", "content": [{"type": "thinking", "thinking": "t"}, {"type": "tool_use", "id": "1", "name": "f", "input": {"b": 1}}]}"#,
            r#"{"role": "assistant", "content": [{"type": "text", "text": "d"}, {"type": "tool_use", "id": "1", "name": "g", "input": {}}]}"#,
            r#"{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "e", "is_error": true}, {"type": "text", "text": "f"}]}"#,
            r#"{"role": "user", "content": [[1, 2]]}"#,
            r#"{"role": "user", "content": 1}"#,
        ],
        Api::Gemini => &[
            r#"{"role": "user", "parts": [{"text": "a"}]}"#,
            r#"{"parts": {"text": "one part"}}"#,
            r#"{"role": "model", "parts": [{"text": "b"}, {"functionCall": {"name": "f", "args": {"x": 1}}}]}"#,
            r#"{"role": "model", "parts": [{"functionCall": {"name": "g"}}, {"functionCall": {"id": "2", "name": "h"}}]}"#,
            r#"{"role": "user", "parts": [{"functionResponse": {"name": "g", "response": {"output": "c"}}}]}"#,
            r#"{"role": "user", "parts": [{"functionResponse": {"name": "other", "response": {"error": "d"}}}]}"#,
            r#"{"role": "user", "parts": [{"functionResponse": {"id": "2", "response": {"a": 1}}}]}"#,
            r#"{"role": 1}"#,
        ],
        Api::Ollama => &[
            r#"{"role": "user", "content": "a", "images": ["eA=="]}"#,
            r#"{"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {"a": 1}}}, {"function": {"name": "g"}}]}"#,
            r#"{"role": "tool", "content": "b"}"#,
            r#"{"role": "tool", "content": "c", "tool_name": "h"}"#,
            r#"{"role": "user", "content": "d"}"#,
        ],
        _ => &[
            r#"{"role": "user", "content": "a"}"#,
            r#"{"type": "reasoning", "summary": []}"#,
            r#"{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "b"}]}"#,
            r#"{"type": "function_call", "call_id": "1", "name": "f", "arguments": "{}"}"#,
            r#"{"type": "function_call", "call_id": "2", "name": "g", "arguments": "{\"k\": 1}"}"#,
            r#"{"type": "function_call_output", "call_id": "1", "output": "c"}"#,
            r#"{"type": "function_call_output", "call_id": "2", "output": [{"type": "input_text", "text": "d"}]}"#,
            r#"{"type": "web_search_call", "id": "ws_1"}"#,
            r#"{"type": "item_reference", "id": "msg_1"}"#,
            r#"{"role": "developer", "content": "e"}"#,
            r#"{"type": 1}"#,
        ],
    }
}

fn body(api: Api, elements: &[&str]) -> String {
    let (list, more) = match api {
        Api::Gemini => ("contents", r#""systemInstruction": {"parts": [{"text": "s"}]}, "generationConfig": {}"#),
        Api::OpenAiResponses => ("input", r#""model": "m", "instructions": "s", "temperature": 0.5"#),
        Api::Anthropic => ("messages", r#""model": "m", "system": [{"type": "text", "text": "s"}], "max_tokens": 9"#),
        _ => {
            ("messages", r#""model": "m", "stream": true, "tools": [{"type": "function", "function": {"name": "f"}}]"#)
        }
    };
    format!("{{{more}, \"{list}\": [{}], \"metadata\": {{\"caller\": \"c\"}}}}", elements.join(","))
}

const TARGET: Target<'_> = Target { method: "POST", path: "/v1beta/models/m:streamGenerateContent?alt=sse" };

fn whole(api: Api, body: &str) -> Option<Call> {
    decode(api, TARGET, &chat_body(body.as_bytes()).ok()?, &Known::default()).ok()
}

fn rules() -> Rules {
    let own = [(regex::Regex::new(r"order-\d+").unwrap(), "<ORDER>".to_owned())];
    Rules { normalizer: Normalizer::default().with(own), ..Rules::default() }
}

/// The elements of several calls, where each call continues the one before, perhaps from an earlier place.
fn calls() -> impl Strategy<Value = (Api, Vec<Vec<usize>>)> {
    static APIS: [Api; 5] = [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic, Api::Gemini, Api::Ollama];
    let step = (0..4_usize, prop::collection::vec(0..100_usize, 0..4));
    (prop::sample::select(&APIS[..]), prop::collection::vec(step, 1..8)).prop_map(|(api, steps)| {
        let mut calls: Vec<Vec<usize>> = Vec::new();
        for (back, more) in steps {
            let last = calls.last().cloned().unwrap_or_default();
            let kept = last.len().saturating_sub(if back < 3 { 0 } else { 2 });
            calls.push([&last[..kept], &more].concat());
        }
        (api, calls)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_call_is_the_same_whether_its_beginning_was_read_before_or_not((api, calls) in calls()) {
        let (rules, histories) = (rules(), Histories::default());
        for call in calls {
            let pool = elements(api);
            let texts: Vec<&str> = call.iter().map(|element| pool[element % pool.len()]).collect();
            let body = body(api, &texts);
            let read = histories.read(api, TARGET, body.as_bytes(), &rules.normalizer);
            let whole = whole(api, &body);
            match (read, whole) {
                (Some((call, hash)), Some(whole)) => {
                    prop_assert_eq!(&call, &whole);
                    let canonical = rules.canonical(whole.into_messages());
                    prop_assert_eq!(hash.length, canonical.len());
                    prop_assert!(hash.hash().is_none_or(|hash| hash == rules.hash_of_whole(&canonical)));
                }
                (Some(_), None) => prop_assert!(false, "an error was not noticed: {}", body),
                // An element that refers to what was served before is read with the whole.
                (None, Some(_)) => prop_assert!(texts.is_empty() || body.contains("item_reference"), "{}", body),
                (None, None) => {}
            }
        }
    }
}

#[test]
fn each_element_is_read_once() {
    let (histories, normalizer) = (Histories::default(), Normalizer::default());
    let read = |texts: &[&str]| {
        let body = body(Api::OpenAiChat, texts);
        histories.read(Api::OpenAiChat, TARGET, body.as_bytes(), &normalizer).unwrap();
        histories.0.lock().elements.len()
    };
    let pool = elements(Api::OpenAiChat);
    assert_eq!(read(&pool[..2]), 2);
    assert_eq!(read(&pool[..6]), 6);
    assert_eq!(read(&pool[..6]), 6);
    // Another conversation that begins like this one.
    assert_eq!(read(&[pool[0], pool[3]]), 7);
    assert_eq!(read(&pool[..7]), 8);
}

#[test]
fn a_session_remembers_no_more_than_the_limit() {
    let (histories, normalizer) = (Histories::default(), Normalizer::default());
    let text = "word ".repeat(30_000);
    for number in 0..20 {
        let element = format!(r#"{{"role": "user", "content": "{number} {text}"}}"#);
        histories.read(Api::OpenAiChat, TARGET, body(Api::OpenAiChat, &[&element]).as_bytes(), &normalizer).unwrap();
        assert!(histories.0.lock().bytes < super::LIMIT + 3 * text.len());
    }
    assert!(histories.0.lock().elements.len() < 20);
}

#[test]
fn a_body_with_two_lists_is_read_as_a_whole() {
    let (histories, normalizer) = (Histories::default(), Normalizer::default());
    let read = |body: &str| histories.read(Api::OpenAiChat, TARGET, body.as_bytes(), &normalizer);
    let user = r#"{"role": "user", "content": "a"}"#;
    assert!(read(&format!(r#"{{"messages": [{user}]}}"#)).is_some());
    for body in [
        format!(r#"{{"messages": [{user}], "messages": [{user}]}}"#),
        format!(r#"{{"messages": [{user}], "messages": 1}}"#),
        format!(r#"{{"messages": [{user}]}}}}"#),
        format!(r#"{{"messages": [{user}"#),
        format!(r#"{{"messages": [{user},]}}"#),
        format!(r#"{{"messages": [{user} {user}]}}"#),
        format!(r#"{{"messages": [{{"role": "user", "content": {}1{}}}]}}"#, "[".repeat(254), "]".repeat(254)),
    ] {
        assert!(read(&body).is_none(), "{body}");
    }
}
