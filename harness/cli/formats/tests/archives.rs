//! Tests of formats other than cassettes: HTTP archives and aimock's fixtures.

use super::*;

#[test]
fn model_calls_are_read_from_an_http_archive_and_the_rest_is_reported() {
    let entry = |method: &str, url: &str, body: &str, content: &str| {
        format!(
            r#"{{"request": {{"method": "{method}", "url": "{url}", "headers": [{{"name": ":path", "value": "/"}}], "postData": {{"mimeType": "application/json", "text": {}}}}},
                "response": {{"status": 200, "headers": [{{"name": "Content-Type", "value": "application/json"}}], "content": {content}}}}}"#,
            quoted(body)
        )
    };
    let chat = "https://a/v1/chat/completions";
    let content = format!(r#"{{"mimeType": "application/json", "text": {}}}"#, quoted(ANSWER));
    let base64 = format!(r#"{{"encoding": "base64", "text": "{}"}}"#, to_base64(ANSWER.as_bytes()));
    let queued = r#"{"mimeType": "application/json", "text": "{\"status\": \"queued\"}"}"#.to_owned();
    let entries = [
        entry("GET", "https://a/app.js", "", r#"{"mimeType": "text/javascript", "text": "let a;"}"#),
        entry("GET", "https://a/session", "", &content),
        entry("POST", chat, REQUEST, &content),
        entry("POST", chat, REQUEST, &base64),
        entry("POST", "https://a/login", r#"{"password": "p"}"#, &content),
        entry("POST", "https://a/v1/embeddings", r#"{"model": "m", "input": "a"}"#, &content),
        entry("POST", chat, REQUEST, r#"{"_file": "1.json"}"#),
        entry("POST", chat, REQUEST, &content).replace("\"status\": 200", "\"status\": 0"),
        entry("GET", "https://a/v1/responses/resp_1", "", &queued),
        entry("GET", "https://a/v1/responses/resp_1", "", &queued),
        entry("GET", "https://a/v1/responses/resp_1", "", &content),
        entry("DELETE", "https://a/v1/responses/resp_1", "", &content),
    ];
    let text = format!(r#"{{"log": {{"version": "1.2", "entries": [{}]}}}}"#, entries.join(","));
    let found = import_files(Foreign::Har, &[("a.har", &text)], &["a.har"], false).unwrap();
    let apis: Vec<Api> = wires(&found).iter().map(|wire| wire.api).collect();
    // Polling twice with the same answer gives one turn.
    assert_eq!(apis, [Api::OpenAiChat, Api::OpenAiChat, Api::Opaque, Api::Opaque, Api::Opaque, Api::Opaque]);
    assert_eq!(wires(&found)[0], wires(&found)[1]);
    assert_eq!(
        found.left_out,
        [
            "a.har: entry 1: GET https://a/app.js: not a POST request, so not a model call",
            "a.har: entry 2: GET https://a/session: not a POST request, so not a model call",
            "a.har: entry 5: POST https://a/login: names no model, so not a model call",
            "a.har: entry 7: POST https://a/v1/chat/completions: the answer: it is in a separate file, 1.json: export the archive with its contents embedded",
            "a.har: entry 8: POST https://a/v1/chat/completions: it got no answer",
        ]
    );
}

/// Whatever its path is: a cassette and an archive of the same requests give the same turns.
#[test]
fn each_request_to_a_providers_own_host_is_a_turn_with_any_method() {
    let host = "https://api.openai.com";
    let requests =
        [("GET", "/v1/realtime/calls/c"), ("DELETE", "/v1/skills/s"), ("POST", "/v1/realtime/client_secrets")];
    let entries = requests.map(|(method, path)| {
        format!(
            r#"{{"request": {{"method": "{method}", "url": "{host}{path}", "headers": []}},
                "response": {{"status": 200, "headers": [], "content": {{"mimeType": "application/json", "text": "{{}}"}}}}}}"#
        )
    });
    let archive = format!(r#"{{"log": {{"version": "1.2", "entries": [{}]}}}}"#, entries.join(","));
    let found = import_files(Foreign::Har, &[("a.har", &archive)], &["a.har"], false).unwrap();
    assert_eq!((found.left_out, found.fixture.table.turns().len()), (vec![], 3));
    let cassette = |(method, path): (&str, &str)| {
        format!(
            "- request: {{method: {method}, uri: '{host}{path}', body: null}}\n  response: {{status: {{code: 200}}, body: {{string: '{{}}'}}}}\n"
        )
    };
    let found = import(Foreign::Vcr, &format!("interactions:\n{}version: 1\n", requests.map(cassette).concat()));
    assert_eq!((found.left_out, found.fixture.table.turns().len()), (vec![], 3));
}

#[test]
fn what_is_no_http_call_is_left_out_with_one_line_for_each_kind() {
    let entry = |method: &str, url: &str, kind: &str, status: u16, more: &str| {
        format!(
            r#"{{{more} "request": {{"method": "{method}", "url": "{url}", "headers": [{{"name": "content-type", "value": "{kind}"}}]}},
                "response": {{"status": {status}, "headers": [], "content": {{}}}}}}"#
        )
    };
    let socket =
        || entry("GET", "wss://api.openai.com/v1/realtime?model=m", "", 101, r#""_resourceType": "websocket","#);
    let grpc = || entry("POST", "https://api.x.ai/xai_api.Chat/GetCompletion", "application/grpc+proto", 200, "");
    let archive = format!(
        r#"{{"log": {{"version": "1.2", "entries": [{}]}}}}"#,
        [socket(), grpc(), socket(), grpc(), socket(), socket().replace("101", "0")].join(",")
    );
    let found = import_files(Foreign::Har, &[("a.har", &archive)], &["a.har"], false).unwrap();
    let of_grpc = "gRPC, which is not spoken: only HTTP with JSON is";
    assert_eq!(
        found.left_out,
        [
            "a.har: entry 1 and 3 more: a WebSocket, over which no API is spoken: only HTTP is".to_owned(),
            format!("a.har: entry 2 and 1 more: {of_grpc}"),
        ]
    );
    let socket = "- request: {method: GET, uri: 'wss://api.openai.com/v1/realtime', body: null}\n  response: {status: {code: 101}, body: null}\n";
    let upgraded = "- request: {method: GET, uri: 'https://api.openai.com/v1/realtime', headers: {Upgrade: [websocket]}, body: null}\n  response: {status: {code: 200}, body: null}\n";
    let grpc = "- request: {method: POST, uri: 'https://api.x.ai/c', headers: {content-type: [application/grpc]}, body: 'x'}\n  response: {status: {code: 200}, body: {string: x}}\n";
    let other = "- request: {proto: GetCompletion, body: aGk=}\n  response: {body: aGk=}\n";
    let list = [socket, grpc, other, upgraded, grpc, other, socket].concat();
    let found = import(Foreign::Vcr, &format!("interactions:\n{list}version: 1\n"));
    assert_eq!(
        found.left_out,
        [
            "a.yaml: interaction 1 (line 2) and 2 more: a WebSocket, over which no API is spoken: only HTTP is"
                .to_owned(),
            format!("a.yaml: interaction 2 (line 4) and 1 more: {of_grpc}"),
            "a.yaml: interaction 3 (line 6) and 1 more: no `request.uri`, and no `request.url`".to_owned(),
        ]
    );
}

/// An archive of one call. Its answer has these headers and this content.
fn archive(headers: &str, content: &str) -> String {
    format!(
        r#"{{"log": {{"entries": [{{"request": {{"method": "POST", "url": "https://a/v1/chat/completions", "headers": [], "postData": {{"text": {}}}}},
            "response": {{"status": 200, "headers": [{headers}], "content": {content}}}}}]}}}}"#,
        quoted(REQUEST)
    )
}

#[test]
fn pieces_of_a_packed_answer_are_joined_in_base64_and_in_hexadecimal() {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(ANSWER.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    let (first, rest) = gzip.split_at(gzip.len() / 3);
    let packed = r#"{"name": "Content-Encoding", "value": "gzip"}"#;
    let list = |pieces: &[String]| {
        quoted(&format!("[{}]", pieces.iter().map(|piece| quoted(piece)).collect::<Vec<_>>().join(", ")))
    };
    for (headers, content) in [
        (packed, format!(r#"{{"encoding": "base64", "text": {}}}"#, list(&[to_base64(&gzip)]))),
        (packed, format!(r#"{{"encoding": "base64", "text": {}}}"#, list(&[to_base64(first), to_base64(rest)]))),
        ("", format!(r#"{{"encoding": "base64", "text": {}}}"#, list(&[to_base64(first), to_base64(rest)]))),
        (packed, format!(r#"{{"text": {}}}"#, list(&[hex(first), hex(rest)]))),
        (packed, format!(r#"{{"text": "{}"}}"#, hex(&gzip))),
        ("", format!(r#"{{"_isBinary": true, "text": "{}"}}"#, hex(&gzip))),
        (packed, format!(r#"{{"text": {}}}"#, quoted(ANSWER))),
    ] {
        let text = archive(headers, &content);
        let found = import_files(Foreign::Har, &[("a.har", &text)], &["a.har"], false).unwrap();
        assert_eq!((found.left_out, found.fixture.table.turns().len()), (vec![], 1), "{text}");
        assert_eq!(found.fixture.table.turns()[0].output.text(), "yes", "{text}");
    }
    let text = archive(packed, r#"{"encoding": "base64", "text": "[\"H4sI\", 1]"}"#);
    let found = import_files(Foreign::Har, &[("a.har", &text)], &["a.har"], false).unwrap();
    assert!(found.left_out[0].ends_with("the answer: it is not base64"), "{:?}", found.left_out);
}

#[test]
fn a_body_that_was_not_kept_is_no_empty_answer() {
    let chat = "POST https://a/v1/chat/completions";
    for content in [
        r#"{"mimeType": "text/event-stream", "size": 812}"#,
        r#"{"mimeType": "text/event-stream", "size": 812, "text": ""}"#,
        r#"{"mimeType": "text/event-stream", "size": 0}"#,
        r#"{"mimeType": "application/json", "size": -1}"#,
        "{}",
    ] {
        let found = import_files(Foreign::Har, &[("a.har", &archive("", content))], &["a.har"], false).unwrap();
        assert_eq!(
            found.left_out,
            [format!("a.har: entry 1: {chat}: the answer: its body was not recorded")],
            "{content}"
        );
    }
    let posted = archive("", "{}").replace("https://a/v1/chat/completions", "https://a/models/m/upload");
    let found = import_files(Foreign::Har, &[("a.har", &posted)], &["a.har"], false).unwrap();
    assert_eq!((found.left_out, found.fixture.table.turns().len()), (vec![], 1), "an answer may be empty");
    for unsent in
        [r#""bodySize": 9, "_post":"#, r#""postData": {"params": [{"name": "model", "value": "m"}]}, "_post":"#]
    {
        let unsent = posted.replacen(r#""postData":"#, unsent, 1);
        let found = import_files(Foreign::Har, &[("a.har", &unsent)], &["a.har"], false).unwrap();
        let why = "upload: the request: its body was not recorded";
        assert!(found.left_out.first().is_some_and(|line| line.ends_with(why)), "{:?}", found.left_out);
    }
}

#[test]
fn aimock_entries_that_match_only_the_users_message_have_a_key() {
    let text = r#"{"fixtures": [
        {"match": {"userMessage": "hello", "sequenceIndex": 1}, "response": {"content": "second"}},
        {"match": {"userMessage": "hello", "sequenceIndex": 0, "turnIndex": 0, "hasToolResult": false, "model": null},
         "response": {"content": "first", "reasoning": "hm", "id": "x", "usage": {"input_tokens": 3, "output_tokens": 4}}},
        {"match": {"userMessage": "weather"}, "response": {"toolCalls": [{"name": "get", "arguments": {"city": "Rome"}, "id": "c"}], "webSearches": ["x"]}},
        {"match": {"userMessage": "blocks"}, "response": {"blocks": [{"type": "toolCall", "name": "f", "arguments": "{}"}, {"type": "text", "text": "after"}]}},
        {"match": {"userMessage": "form"}, "response": {"content": {"a": 1}}},
        {"match": {"toolCallId": "c"}, "response": {"content": "x"}},
        {"match": {"userMessage": "weather", "hasToolResult": true}, "response": {"content": "x"}},
        {"match": {"userMessage": "weather", "turnIndex": 2}, "response": {"content": "x"}},
        {"match": {"inputText": "a", "endpoint": "embedding"}, "response": {"embedding": [1]}},
        {"match": {}, "response": {"content": "x"}},
        {"match": {"model": "m"}, "response": {"content": "x"}},
        {"match": {"userMessage": "limit"}, "response": {"error": {"message": "slow down"}, "status": 429}},
        {"match": {"userMessage": "draw"}, "response": {"image": {"url": "u"}}},
        {"match": {"userMessage": "hello", "model": "m"}, "response": {"content": "x"}},
        {"match": {"userMessage": "hello", "systemMessage": "Be brief"}, "response": {"content": "x"}},
        {"match": {"userMessage": "hello", "responseFormat": "json_object"}, "response": {"content": "x"}},
        {"match": {"userMessage": "hello", "context": "c"}, "response": {"content": "x"}},
        {"match": {"userMessage": "hello", "toolName": "get"}, "response": {"content": "x"}}]}"#;
    let found = import_files(Foreign::Aimock, &[("a.json", text)], &["a.json"], false).unwrap();
    let turns = found.fixture.table.turns();
    let said: Vec<String> = turns.iter().map(|turn| turn.output.text()).collect();
    assert_eq!(said, ["first", "second", "", "after", "{\"a\":1}"]);
    let rules = Rules::default();
    let hello = rules.canonical(vec![retake_core::conversation::Message::new("human", "hello")]);
    assert_eq!(turns[0].key, rules.key(&hello, None));
    assert_eq!(turns[2].output.finish, Some(retake_core::conversation::Finish::ToolCalls));
    assert_eq!(found.left_out.len(), 13);
    for (i, says) in [
        "entry 6: matches on `toolCallId` \"c\": a turn answers any call whose only message is the user's",
        "entry 7: matches on `hasToolResult` true: a turn",
        "entry 8: matches on `turnIndex` 2: a turn",
        "entry 9: matches on `endpoint` \"embedding\": a turn",
        "entry 10: matches on no `userMessage`, so it has no key",
        "entry 11: matches on `model` \"m\": a turn",
        "entry 12: answers with an error: slow down",
        "entry 13: answers with `image`, which is not a chat",
        "entry 14: matches on `model` \"m\": a turn",
        "entry 15: matches on `systemMessage` \"Be brief\": a turn",
        "entry 16: matches on `responseFormat` \"json_object\": a turn",
        "entry 17: matches on `context` \"c\": a turn",
        "entry 18: matches on `toolName` \"get\": a turn",
    ]
    .into_iter()
    .enumerate()
    {
        assert!(found.left_out[i].contains(says), "{}", found.left_out[i]);
    }
    assert!(found.notes[0].contains("entry 3: `webSearches` is ignored"), "{:?}", found.notes);
    assert!(found.notes[1].contains("only the conversation of exactly that message"), "{:?}", found.notes);
}
