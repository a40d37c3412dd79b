use super::super::captured::{Captured, Event};
use super::super::shape::Shaped;
use super::*;
use crate::conversation::{Answer, Block, ToolCall};
use crate::events::Payload;
use crate::events::golden::Golden;
use crate::json::Layout;

const RAIN: &str = "It rains in Paris.";
const SUN: &str = "The sun shines in Rome.";

/// An answer with a text.
fn said(text: &str) -> Answer {
    Answer { blocks: vec![Block::Text(text.to_owned())], ..Answer::default() }
}

/// An answer that calls a tool for each city.
fn called(cities: &[&str]) -> Answer {
    let call = |city: &&str| {
        let args = Json::object([("city", Json::from(*city))]);
        Block::ToolCall(ToolCall { id: format!("call_{city}"), name: "weather".to_owned(), args })
    };
    Answer { blocks: cities.iter().map(call).collect(), ..Answer::default() }
}

/// A stream, one event a line: its name and its data. Events called `c` are collapsed.
fn captured(lines: &str) -> Captured {
    let event = |line: &str| {
        let (name, data) = line.trim().split_once(' ').unwrap();
        Event { name: Some(name.into()), id: None, payload: Payload::Data(data.into()) }
    };
    Captured::stream("POST /runs", lines.lines().filter(|line| !line.trim().is_empty()).map(event).collect())
}

fn golden_of(lines: &str, known: &Known<'_>) -> String {
    let options = ShapeOptions { collapse: vec!["c".to_owned()], without_turns: true, ..ShapeOptions::default() };
    let normalize = |text: &str| {
        let text = text.replace("/work/7", "<workdir>");
        crate::key::Normalizer::default().apply(&text).into_owned()
    };
    Shaped::of(&[captured(lines)], &options, known, &normalize).golden.to_string()
}

fn known(answers: &[Answer]) -> Known<'static> {
    Known { recorded: Recorded::of(answers), ..Known::default() }
}

/// The lines of a golden about collapsed events: what is said of each run of them.
fn texts_in(golden: &str) -> Vec<String> {
    let sequence = golden.split("\n\n").nth(1).unwrap();
    let mut of_chunks = false;
    let lines = sequence.lines().filter_map(|line| {
        of_chunks = line.starts_with("c ") || of_chunks && line.starts_with(' ');
        of_chunks.then(|| line.trim_start_matches("c  ").trim().trim_start_matches("…").trim().to_owned())
    });
    // Without the numbers, which other tests check.
    lines.map(|line| line.replace(" (", "\n").lines().next().unwrap_or_default().to_owned()).collect()
}

/// Checks the texts that are found in a run, and that the run is the same when it is read by what its golden names.
#[track_caller]
fn check(lines: &str, answers: &[Answer], expected: &[&str]) {
    let known = known(answers);
    let golden = golden_of(lines, &known);
    assert_eq!(texts_in(&golden), expected, "{golden}");
    let committed = Golden::parse(&golden).unwrap();
    let named = Known { committed: Some(&committed), ..known };
    assert_eq!(golden_of(lines, &named), golden);
}

/// Lines of events whose data has each piece of a text.
fn cut(text: &str, size: usize, data: impl Fn(&str) -> String) -> String {
    let chars: Vec<char> = text.chars().collect();
    chars
        .chunks(size)
        .map(|piece| format!("c {}", data(&piece.iter().collect::<String>())))
        .collect::<Vec<_>>()
        .join("\n")
        + "\n"
}

#[test]
fn a_text_is_held_without_any_id_however_it_is_cut() {
    let data = |piece: &str| format!(r#"{{"text": {piece:?}}}"#);
    for size in [1, 4, 100] {
        check(&cut(RAIN, size, data), &[said(RAIN)], &[r#"/text = "It rains in Paris.""#]);
        // Under any key, and as plain text.
        let odd = |piece: &str| format!(r#"{{"t": {{"k": {piece:?}}}, "type": "token", "model": "gpt-4o"}}"#);
        check(&cut(RAIN, size, odd), &[said(RAIN)], &[r#"/t/k = "It rains in Paris.""#]);
        check(&cut("7*6=42,\"ok\".", size, str::to_owned), &[said("7*6 = 42, \"ok\".")], &[r#""" = "7*6=42,\"ok\".""#]);
    }
    check("c {\"text\": \"ha\"}\nc {\"text\": \"\"}\nc {\"text\": \"ha\"}", &[said("haha")], &[r#"/text = "haha""#]);
    let lines = "One\ntwo,\n\nthree.";
    check(&cut(lines, 3, data), &[said(lines)], &[r#"/text = "One\ntwo,\n\nthree.""#]);
}

#[test]
fn each_run_of_events_has_its_text_and_their_number_does_not_matter() {
    let data = |piece: &str| format!(r#"{{"text": {piece:?}}}"#);
    for size in [1, 5, 100] {
        let lines = format!("{}tool {{}}\n{}", cut(RAIN, size, data), cut(SUN, size, data));
        let expected = [r#"/text = "It rains in Paris.""#, r#"/text = "The sun shines in Rome.""#];
        check(&lines, &[said(RAIN), said(SUN)], &expected);
    }
}

#[test]
fn parallel_texts_are_told_apart_by_what_recurs() {
    // The names of keys do not matter, nor whether ids have digits; each event also has an id and a number of its own.
    for (key, a, b) in [("id", r#""aitxt-abcdef""#, r#""aitxt-ghijkl""#), ("who", "\"x\"", "\"y\""), ("n", "0", "1")] {
        for size in [1, 4, 100] {
            let mut number = 100;
            let lines = |text: &str, lane: &str| {
                let data = |piece: &str| format!(r#"{{"{key}": {lane}, "event_id": "e@", "seq": @, "d": {piece:?}}}"#);
                cut(text, size, data).lines().map(str::to_owned).collect::<Vec<_>>()
            };
            let (rain, sun) = (lines(RAIN, a), lines(SUN, b));
            let mut all = format!("start {{\"{key}\": {a}}}\nstart {{\"{key}\": {b}}}\n");
            for at in 0..rain.len().max(sun.len()) {
                for line in [rain.get(at), sun.get(at)].into_iter().flatten() {
                    number += 1;
                    all.push_str(&line.replace('@', &number.to_string()));
                    all.push('\n');
                }
            }
            let expected = [format!("/d by /{key} = \"{RAIN}\""), format!("/d by /{key} = \"{SUN}\"")];
            check(&all, &[said(RAIN), said(SUN)], &expected.each_ref().map(String::as_str));
        }
    }
}

#[test]
fn what_is_no_text_is_not_held() {
    let times = "2026-11-23T04:36:21Z";
    let data = |piece: &str| {
        format!(
            r#"{{"text": {piece:?}, "obfuscation": "xK{}", "at": {times:?}, "run": "11111111-1111-4111-8111-111111111111", "role": "assistant", "model": "gpt-4o", "hash": "deadbeefdeadbeef"}}"#,
            piece.len()
        )
    };
    let text = "The assistant gpt-4o says: it rains.";
    check(&cut(text, 4, data), &[said(text)], &[r#"/text = "The assistant gpt-4o says: it rains.""#]);
    // Nor is the name of a tool, although the arguments of a call name it.
    let names = "c {\"tool\": \"Paris\", \"delta\": \"It rains\"}\nc {\"tool\": \"Paris\", \"delta\": \" in Paris.\"}";
    check(names, &[called(&["Paris"]), said(RAIN)], &[r#"/delta = "It rains in Paris.""#]);
}

#[test]
fn texts_that_were_not_recorded_are_held_by_the_usual_keys_and_otherwise_the_golden_says_that_they_are_not() {
    let data = |id: &str| format!(r#"{{{id}"text": "RAIN"}}"#);
    let lines = |id: &str| format!("c {}\nc {}\ntool {{}}\nc {}", data(id), data(id), data(id));
    check(&lines(r#""id": "abc", "#), &[said(RAIN)], &[r#"/text by /id = "RAINRAINRAIN""#, ""]);
    check(&lines(""), &[said(RAIN)], &["(text not held)", "(text not held)"]);
    check(&lines(""), &[], &["(text not held)", "(text not held)"]);
    // There is no text to hold.
    check("c {\"n\": 1, \"id\": \"11111111-1111-4111-8111-111111111111\"}\nc null\nc {\"type\": \"ping\"}", &[], &[""]);
}

#[test]
fn what_a_golden_names_stays_held() {
    let data = |piece: &str| format!(r#"{{"text": {piece:?}, "note": "n"}}"#);
    let recorded = known(&[said(RAIN)]);
    let golden = golden_of(&cut(RAIN, 4, data), &recorded);
    let committed = Golden::parse(&golden).unwrap();
    let known = Known { committed: Some(&committed), ..recorded.clone() };
    let of = |text: &str, size| texts_in(&golden_of(&cut(text, size, data), &known));
    for size in [1, 3, 100] {
        assert_eq!(golden_of(&cut(RAIN, size, data), &known), golden);
        // Nothing of this text was recorded.
        assert_eq!(of("IT RAINS IN PARIS.", size), [r#"/text = "IT RAINS IN PARIS.""#]);
    }
    assert_eq!(texts_in(&golden_of(&cut("IT RAINS IN PARIS.", 4, data), &recorded)), ["(text not held)"]);
    // What a golden does not hold stays so as well, although it could be found now.
    let golden = golden_of(&cut("IT RAINS IN PARIS.", 4, data), &recorded);
    let committed = Golden::parse(&golden).unwrap();
    let known = Known { committed: Some(&committed), ..recorded };
    assert_eq!(texts_in(&golden_of(&cut(RAIN, 4, data), &known)), ["(text not held)"]);
}

#[test]
fn another_recording_changes_nothing_but_the_texts() {
    let data = |piece: &str| format!(r#"{{"id": "m1", "text": {piece:?}, "title": "Weather"}}"#);
    let place = |text: &str, size| {
        let texts = texts_in(&golden_of(&cut(text, size, data), &known(&[said(text)])));
        texts[0].split(" = ").next().unwrap().to_owned()
    };
    for text in [RAIN, "1", "Yes.", "Weather", "{\"a\": 1}", "A text\nof two lines, with \"quotes\"."] {
        assert_eq!(place(text, 1).replace(" by /id", ""), "/text", "{text}");
        assert_eq!(place(text, 100), "/text", "{text}");
    }
}

#[test]
fn a_text_is_normalized_as_a_whole() {
    let text = "It is in /work/7/a.txt now.";
    for size in [3, 100] {
        let lines = cut(text, size, |piece| format!(r#"{{"text": {piece:?}}}"#));
        check(&lines, &[said(text)], &[r#"/text = "It is in <workdir>/a.txt now.""#]);
    }
}

#[test]
fn the_texts_of_providers_chunks_are_told_apart() {
    let openai = r#"
        c {"id": "chatcmpl-a", "choices": [{"index": 0, "delta": {"role": "assistant", "content": "It rains"}}], "p": "abc"}
        c {"id": "chatcmpl-a", "choices": [{"index": 0, "delta": {"content": " in Paris."}}], "p": "a"}
        c {"id": "chatcmpl-a", "choices": [], "usage": {"total_tokens": 7}}
        c {"id": "chatcmpl-b", "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "call_1", "function": {"name": "weather", "arguments": ""}}]}}]}
        c {"id": "chatcmpl-b", "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "{\"city\":"}}]}}]}
        c {"id": "chatcmpl-b", "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 1, "function": {"arguments": "{\"city\":\"Ro"}}]}}]}
        c {"id": "chatcmpl-b", "choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": "\"Paris\"}"}}, {"index": 1, "function": {"arguments": "me\"}"}}]}}]}"#;
    let arguments =
        "/choices/*/delta/tool_calls/*/function/arguments by /id and /choices/*/delta/tool_calls/*/index = ";
    let expected = [
        "/choices/*/delta/content by /id = \"It rains in Paris.\"".to_owned(),
        format!("{arguments}\"{{\\\"city\\\":\\\"Paris\\\"}}\""),
        format!("{arguments}\"{{\\\"city\\\":\\\"Rome\\\"}}\""),
    ];
    let answers = [said(RAIN), called(&["Paris", "Rome"])];
    check(openai, &answers, &expected.each_ref().map(String::as_str));
    let anthropic = r#"
        c {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}
        c {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "It rains"}}
        c {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " in Paris."}}
        c {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"city\": \"Pa"}}
        c {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "ris\"}"}}
        c {"type": "content_block_delta", "index": 2, "delta": {"type": "input_json_delta", "partial_json": "{\"city\": \"Rome\"}"}}"#;
    check(
        anthropic,
        &answers,
        &[
            r#"/delta/partial_json by /index = "{\"city\": \"Paris\"}""#,
            r#"/delta/partial_json by /index = "{\"city\": \"Rome\"}""#,
            r#"/delta/text = "It rains in Paris.""#,
        ],
    );
}

#[test]
fn the_texts_of_frameworks_are_found() {
    let langgraph = r#"
        c [{"id": "lc_run--1", "content": "It rains", "type": "AIMessageChunk"}, {"langgraph_node": "agent", "thread_id": "t1"}]
        c [{"id": "lc_run--1", "content": " in Paris.", "type": "AIMessageChunk"}, {"langgraph_node": "agent", "thread_id": "t1"}]
        c [{"id": "lc_run--2", "content": "The sun shines in Rome.", "type": "AIMessageChunk"}, {"langgraph_node": "agent", "thread_id": "t1"}]
        values {"ids": ["lc_run--2"]}"#;
    let answers = [said(RAIN), said(SUN)];
    let by_id = [r#"/*/content by /*/id = "It rains in Paris.""#, r#"/*/content by /*/id = "The sun shines in Rome.""#];
    check(langgraph, &answers, &by_id);
    // ADK: pieces, then the whole text.
    let adk = r#"
        c {"content": {"parts": [{"text": "It rains"}], "role": "model"}, "partial": true, "invocationId": "e-1", "author": "lead", "id": "p1"}
        c {"content": {"parts": [{"text": " in Paris."}], "role": "model"}, "partial": true, "invocationId": "e-1", "author": "lead", "id": "p2"}
        c {"content": {"parts": [{"text": "It rains in Paris."}], "role": "model"}, "invocationId": "e-1", "author": "lead", "id": "p3"}"#;
    check(adk, &answers, &[r#"/content/parts/*/text = "It rains in Paris.""#]);
    assert!(golden_of(adk, &known(&answers)).contains(", then whole)"));
    // pi: each event repeats the message so far.
    let pi = r#"
        c {"assistantMessageEvent": {"delta": "It"}, "message": {"role": "assistant", "content": [{"type": "text", "text": "It"}]}}
        c {"assistantMessageEvent": {"delta": " rains in Paris."}, "message": {"role": "assistant", "content": [{"type": "text", "text": "It rains in Paris."}]}}"#;
    let expected =
        [r#"/assistantMessageEvent/delta = "It rains in Paris.""#, r#"/message/content/*/text = "It rains in Paris.""#];
    check(pi, &answers, &expected);
    assert!(golden_of(pi, &known(&answers)).contains(", growing)"));
    // Mastra and A2A.
    let mastra = r#"
        c {"type": "text-delta", "runId": "r1", "from": "AGENT", "payload": {"id": "t1", "text": "It rains"}}
        c {"type": "text-delta", "runId": "r1", "from": "AGENT", "payload": {"id": "t1", "text": " in Paris."}}"#;
    check(mastra, &answers, &[r#"/payload/text by /payload/id = "It rains in Paris.""#]);
    let a2a = r#"
        c {"id": "q1", "result": {"kind": "artifact-update", "artifact": {"artifactId": "a1", "parts": [{"kind": "text", "text": "It rains"}]}}}
        c {"id": "q1", "result": {"kind": "artifact-update", "artifact": {"artifactId": "a1", "parts": [{"kind": "text", "text": " in Paris."}]}}}"#;
    check(a2a, &answers, &[r#"/result/artifact/parts/*/text by /id = "It rains in Paris.""#]);
    // OpenAI's agents over chat: all messages have the same id.
    let agents = r#"
        c {"type": "raw", "data": {"type": "delta", "item_id": "__fake_id__", "delta": "It rains"}}
        c {"type": "raw", "data": {"type": "delta", "item_id": "__fake_id__", "delta": " in Paris."}}
        item {}
        c {"type": "raw", "data": {"type": "delta", "item_id": "__fake_id__", "delta": "The sun shines in Rome."}}"#;
    check(agents, &answers, &[r#"/data/delta = "It rains in Paris.""#, r#"/data/delta = "The sun shines in Rome.""#]);
}

#[test]
fn a_text_at_several_places_is_written_once() {
    // OpenAI's agents over responses: the pieces, then the whole text at other places.
    let agents = r#"
        c {"data": {"type": "delta", "item_id": "msg_1", "delta": "It rains"}}
        c {"data": {"type": "delta", "item_id": "msg_1", "delta": " in Paris."}}
        c {"data": {"type": "done", "item_id": "msg_1", "text": "It rains in Paris."}}
        c {"data": {"type": "item", "item": {"id": "msg_1", "content": [{"text": "It rains in Paris."}]}}}"#;
    let places =
        "/data/delta by /data/item_id, /data/item/content/*/text by /data/item/id, /data/text by /data/item_id";
    check(agents, &[said(RAIN)], &[&format!("{places} = \"{RAIN}\"")]);
    let known = known(&[said(RAIN)]);
    let golden = golden_of(agents, &known);
    let committed = Golden::parse(&golden).unwrap();
    let named = Known { committed: Some(&committed), ..known };
    let other = golden_of(&agents.replace("\"text\": \"It rains in Paris.\"}}\n", "\"text\": \"IT\"}}\n"), &named);
    let changes = crate::events::changes(&committed, &Golden::parse(&other).unwrap());
    let expected =
        "the event `c` has a different text at `/data/text`: \"IT\" (2, f415), not \"It rains in Paris.\" (18, b78b)";
    assert_eq!(changes[0].words(), expected);
}

#[test]
fn arguments_that_were_parsed_piece_by_piece_are_not_held() {
    // LangChain: what of each piece can be parsed, and what cannot.
    let lines = r#"
        c {"id": "r1", "tool_call_chunks": [{"args": "{\"city\": \"Rio de Janeiro, B"}], "tool_calls": [{"args": {"city": "Rio de Janeiro, B"}}]}
        c {"id": "r1", "tool_call_chunks": [{"args": "razil\"}"}], "invalid_tool_calls": [{"args": "razil\"}"}]}"#;
    let expected = r#"/tool_call_chunks/*/args by /id = "{\"city\": \"Rio de Janeiro, Brazil\"}""#;
    check(lines, &[called(&["Rio de Janeiro, Brazil"])], &[expected]);
}

#[test]
fn a_stream_that_was_cut_off_is_held_as_far_as_it_came() {
    let lines = cut(&SUN[..15], 5, |piece| format!(r#"{{"id": "m1", "text": {piece:?}}}"#));
    check(&lines, &[said(RAIN), said(SUN)], &[r#"/text by /id = "The sun shines ""#]);
}

#[test]
fn arguments_that_come_parsed_beside_their_pieces_are_not_held_a_second_time() {
    // pi: with each piece, all arguments so far. They may come once or often, and there are counts beside them.
    let event = |delta: &str, city: &str, tokens: usize| {
        format!("c {{\"delta\": {delta:?}, \"partial\": {{\"args\": {{\"city\": {city:?}}}, \"input\": {tokens}}}}}\n")
    };
    let expected = r#"/delta = "{\"city\":\"Rome\"}""#;
    let often = [event("{\"city\":\"Ro", "Ro", 7), event("me", "Rome", 7), event("\"}", "Rome", 7)].concat();
    check(&often, &[called(&["Rome"])], &[expected]);
    check(&event("{\"city\":\"Rome\"}", "Rome", 7), &[called(&["Rome"])], &[expected]);
}

#[test]
fn a_text_of_events_that_take_their_names_from_the_data_is_held() {
    let lines = cut(RAIN, 4, |piece| {
        Json::object([("kind", Json::from("text")), ("piece", piece.into())]).print(Layout::Compact)
    });
    let (collapse, event_name) = (vec!["c/text".to_owned()], Some("/kind".to_owned()));
    let options = ShapeOptions { collapse, event_name, without_turns: true, ..ShapeOptions::default() };
    let golden = Shaped::of(&[captured(&lines)], &options, &known(&[said(RAIN)]), &str::to_owned).golden.to_string();
    assert!(golden.contains("c/text    …  /piece = \"It rains in Paris.\""), "{golden}");
}
