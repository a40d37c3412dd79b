//! Tests with samples of each format, as its tool writes them.

mod archives;
mod dialects;
mod drift;
mod spoilt;

use std::path::{Path, PathBuf};

use std::collections::BTreeMap;

use super::*;
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_core::secrets::Scrub;
use retake_wire::fixture::{Fixture, Wire};
use retake_wire::{self as wire, Api, Response, to_base64};

/// Writes files into a folder and imports `inputs` from it.
fn import_files(form: Foreign, files: &[(&str, &str)], inputs: &[&str], errors: bool) -> Result<Imported, Vec<String>> {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let inputs: Vec<PathBuf> = inputs.iter().map(|name| folder.path().join(name)).collect();
    let rules = Rules::default();
    let options = Options { rules: &rules, caller: &|_, _| None, errors, scrub: &Scrub::known() };
    let here = |line: String| line.replace(&format!("{}/", folder.path().display()), "");
    let imported = to_fixture(form, &inputs, Path::new("out.json"), BTreeMap::new(), &options);
    let mut imported = imported.map_err(|errors| errors.iter().map(|e| here(e.to_string())).collect::<Vec<_>>())?;
    for lines in [&mut imported.left_out, &mut imported.notes] {
        *lines = std::mem::take(lines).into_iter().map(here).collect();
    }
    // The written fixture can be read again without changes.
    let text = imported.fixture.print();
    assert_eq!(Fixture::parse(Path::new("f"), text.as_bytes(), &rules).unwrap().print(), text);
    Ok(imported)
}

fn import(form: Foreign, text: &str) -> Imported {
    import_files(form, &[("a.yaml", text)], &["a.yaml"], false).unwrap()
}

fn wires(imported: &Imported) -> Vec<Wire> {
    imported.fixture.table.turns().iter().filter_map(|turn| turn.wire.clone()).collect()
}

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

const REQUEST: &str = r#"{"model": "m", "temperature": 0.0, "messages": [{"role": "user", "content": "on 1e3 é"}]}"#;
const ANSWER: &str = r#"{"id": "c1", "model": "m", "choices": [{"index": 0, "finish_reason": "stop",
 "message": {"role": "assistant", "content": "yes"}}], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}"#;

fn quoted(text: &str) -> String {
    Json::from(text).print(retake_core::json::Layout::Compact)
}

/// A cassette of one interaction with OpenAI's Chat Completions, with these lines for request and response.
fn cassette(request: &str, response: &str) -> String {
    let indented = |text: &str| format!("    {}\n", text.lines().collect::<Vec<_>>().join("\n    "));
    format!(
        "interactions:\n- request:\n{}    method: POST\n    uri: https://api.openai.com/v1/chat/completions\n  response:\n{}version: 1\n",
        indented(request),
        indented(response)
    )
}

#[test]
fn every_form_of_a_vcr_body_gives_the_same_call_and_answer() {
    use std::io::Write as _;
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(ANSWER.as_bytes()).unwrap();
    let gzip = to_base64(&gzip.finish().unwrap());
    let (request, answer) = (quoted(REQUEST), quoted(ANSWER));
    let base64 = to_base64(REQUEST.as_bytes());
    let head = "headers: {Content-Type: [application/json]}\nstatus: {code: 200, message: OK}";
    let parsed_request =
        "parsed_body:\n  temperature: 0.0\n  model: m\n  messages:\n  - role: user\n    content: on 1e3 é";
    let parsed_answer = "parsed_body:\n  id: c1\n  model: m\n  usage: {prompt_tokens: 1, completion_tokens: 2}\n  choices:\n  - index: 0\n    finish_reason: stop\n    message: {role: assistant, content: 'yes'}";
    let requests = [
        format!("body: {request}"),
        format!("body: {{string: {request}}}"),
        format!("body: {{encoding: UTF-8, base64_string: {base64}}}"),
        format!("body: !!binary |\n  {base64}"),
        format!("body: !!python/unicode {request}"),
        format!(
            "body: !!python/object/new:_io.BytesIO\n  state: !!python/tuple\n  - !!binary |\n    {base64}\n  - 0\n  - null"
        ),
        format!("body: {}", REQUEST.replace("on 1e3 é", "on 1e3 \\u00e9")),
        parsed_request.to_owned(),
    ];
    let answers = [
        format!("{head}\nbody: {{string: {answer}}}"),
        format!("{head}\nbody: {answer}"),
        format!("{head}\nbody:\n  string: !!binary |\n    {gzip}"),
        format!(
            "headers:\n  content-encoding: gzip\n  content-type: application/json\nstatus: {{code: 200}}\nbody:\n  string: !!binary |\n    {gzip}"
        ),
        format!("headers: {{content-encoding: [br]}}\nstatus: {{code: 200}}\nbody: {{string: {answer}}}"),
        format!("headers: null\nstatus: {{code: 200}}\nbody: {{string: {answer}}}"),
        format!("{head}\n{parsed_answer}"),
    ];
    let first = import(Foreign::Vcr, &cassette(&requests[0], &answers[0]));
    for (request, answer) in requests.iter().map(|r| (r, &answers[0])).chain(answers.iter().map(|a| (&requests[0], a)))
    {
        let text = cassette(request, answer);
        let found = import(Foreign::Vcr, &text);
        assert_eq!((&found.left_out, &found.notes), (&vec![], &vec![]), "{text}");
        let [Wire { api: Api::OpenAiChat, response, .. }] = &wires(&found)[..] else { panic!("{text}") };
        assert_eq!((response.status, &*response.content_type), (200, "application/json"), "{text}");
        assert_eq!(value_of(response), json(ANSWER), "{text}");
        assert_eq!(found.fixture.table.turns()[0].key, first.fixture.table.turns()[0].key, "{text}");
        assert_eq!(found.fixture.table.turns()[0].checks, first.fixture.table.turns()[0].checks, "{text}");
    }
}

/// The value of a JSON body, in any order of keys.
fn value_of(response: &Response) -> Json {
    let wire::Body::Json(body) = &response.body else { panic!("{response:?}") };
    body.json()
}

#[test]
fn the_form_of_a_call_is_kept_where_replay_offers_the_same_version() {
    let request = format!("body: {}", quoted(REQUEST));
    let answer = format!("status: {{code: 200}}\nbody: {{string: {}}}", quoted(ANSWER));
    for (path, has_form) in [("/v1/", true), ("/api/paas/v4/", false)] {
        let found = import(Foreign::Vcr, &cassette(&request, &answer).replace("/v1/", path));
        let checks = found.fixture.table.turns()[0].checks.unwrap();
        assert_eq!(checks.form.is_some(), has_form, "{path}");
    }
}

#[test]
fn old_cassettes_and_those_of_ruby_are_read() {
    let body = quoted(ANSWER);
    let call = format!("{{method: post, uri: 'https://a/v1/chat/completions', body: {}}}", quoted(REQUEST));
    let before_versions = format!("- request: {call}\n  response: {{status: {{code: 200}}, body: {body}}}\n");
    let ruby = format!(
        "---\nhttp_interactions:\n- request:\n    method: post\n    uri: https://a/v1/chat/completions\n    body:\n      encoding: UTF-8\n      string: {}\n    headers: {{}}\n  response:\n    status:\n      code: 200\n      message: OK\n    headers:\n      Content-Type:\n      - application/json\n    body:\n      encoding: ASCII-8BIT\n      string: !binary |-\n        {}\n    http_version: \n  recorded_at: Sat, 02 Aug 2025 10:00:00 GMT\nrecorded_with: VCR 6.1.0\n",
        quoted(REQUEST),
        to_base64(ANSWER.as_bytes())
    );
    let of_json = format!(
        r#"{{"version": 1, "interactions": [{{"request": {{"method": "POST", "uri": "https://a/v1/chat/completions", "body": {}}},
            "response": {{"status": {{"code": 200, "message": "OK"}}, "headers": {{}}, "body": {{"string": {body}}}}}}}]}}"#,
        quoted(REQUEST).replace("é", "\\ud83d\\ude00")
    );
    let aliased = format!(
        "interactions:\n- request: &call {call}\n  response: &answer {{headers: &h {{}}, status: {{code: 200}}, body: {{string: {body}}}}}\n- request: *call\n  response: *answer\nversion: 1\n"
    );
    for (text, turns) in [(before_versions, 1), (ruby, 1), (of_json, 1), (aliased, 2)] {
        let found = import(Foreign::Vcr, &text);
        assert_eq!((wires(&found).len(), &found.left_out), (turns, &vec![]), "{text}");
        assert_eq!(value_of(&wires(&found)[0].response), json(ANSWER), "{text}");
    }
}

#[test]
fn every_version_of_go_vcr_is_read_and_an_empty_content_type_is_guessed() {
    let stream = "data: {\"id\":\"c1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let call = r#"{"stream": true, "messages": [{"role": "user", "content": "q"}]}"#;
    let block = format!("            {}\n", stream.lines().collect::<Vec<_>>().join("\n            "));
    let version_1 = format!(
        "---\nversion: 1\ninteractions:\n- request:\n    body: '{call}'\n    form: {{}}\n    headers:\n      Content-Type:\n      - application/json\n    url: https://a/v1/chat/completions\n    method: POST\n  response:\n    body: {}\n    headers:\n      Content-Type:\n      - text/event-stream\n    status: 200 OK\n    code: 200\n    duration: \"\"\n",
        quoted(stream)
    );
    let version_2 = |status: &str| {
        format!(
            "---\nversion: 2\ninteractions:\n    - id: 0\n      request:\n        proto: HTTP/1.1\n        content_length: 12\n        transfer_encoding: []\n        trailer: {{}}\n        host: a\n        remote_addr: \"\"\n        body: '{call}'\n        form: {{}}\n        headers: {{}}\n        url: https://a/v1/chat/completions\n        method: POST\n      response:\n        proto: HTTP/2.0\n        transfer_encoding:\n            - chunked\n        content_length: -1\n        uncompressed: true\n        body: |+\n{block}        headers: {{}}\n{status}        duration: 1.2s\n"
        )
    };
    let texts = [
        version_1,
        version_2("        status: 200 OK\n        code: 200\n"),
        version_2("        status_code: 200\n"),
        version_2("        status: \"\"\n        code: 0\n"),
        version_2(""),
    ];
    for text in &texts {
        let found = import(Foreign::Vcr, text);
        let expected =
            Response { content_type: "text/event-stream".into(), ..Response::stream(wire::split_frames(stream)) };
        assert_eq!((&found.left_out, &found.notes), (&vec![], &vec![]), "{text}");
        assert_eq!(wires(&found), [Wire::of(Api::OpenAiChat, expected)], "{text}");
    }
    let failed = texts[0].replace("200 OK", "429 Too Many").replace("code: 200", "code: 429");
    assert!(import(Foreign::Vcr, &failed).left_out[0].contains("status 429"));
}

#[test]
fn every_providers_path_is_recognized_with_any_prefix() {
    let chat = r#"{"messages": [{"role": "user", "content": "q"}]}"#;
    let gemini =
        r#"{"contents": [{"role": "user", "parts": [{"text": "q", "odd": {"a": 1}}, {"unheardOf": {}}]}], "odd": 1}"#;
    let of_anthropic = r#"{"content": [{"type": "text", "text": "a"}], "stop_reason": "end_turn", "odd": {}}"#;
    let of_gemini = r#"{"candidates": [{"content": {"parts": [{"text": "a"}]}, "finishReason": "STOP"}]}"#;
    let of_responses = r#"{"id": "r", "status": "completed", "output": [{"type": "odd", "id": "x"}]}"#;
    let responses = r#"{"input": [{"type": "odd_call", "x": 1}, {"role": "user", "content": [{"type": "odd"}]}]}"#;
    let of_ollama = r#"{"message": {"role": "assistant", "content": "a"}, "done": true}"#;
    for (url, api, request, answer) in [
        (
            "https://x.openai.azure.com/openai/deployments/gpt/chat/completions?api-version=1",
            Api::OpenAiChat,
            chat,
            ANSWER,
        ),
        ("https://openrouter.ai/api/v1/chat/completions", Api::OpenAiChat, chat, ANSWER),
        ("https://api.groq.com/openai/v1/chat/completions", Api::OpenAiChat, chat, ANSWER),
        ("https://api.deepseek.com/chat/completions", Api::OpenAiChat, chat, ANSWER),
        ("https://api.mistral.ai/v1/chat/completions#stream", Api::OpenAiChat, chat, ANSWER),
        ("https://api.fireworks.ai/inference/v1/chat/completions", Api::OpenAiChat, chat, ANSWER),
        ("https://g.com/v1beta/openai/chat/completions", Api::OpenAiChat, chat, ANSWER),
        ("https://api.anthropic.com/v1/messages?beta=true", Api::Anthropic, chat, of_anthropic),
        ("https://api.anthropic.com/v1/messages/count_tokens", Api::Opaque, chat, r#"{"input_tokens": 1}"#),
        (
            "https://a/v1/projects/p/locations/l/publishers/anthropic/models/c:rawPredict",
            Api::from_name("vertex-raw-predict").unwrap(),
            chat,
            of_anthropic,
        ),
        ("https://b.amazonaws.com/model/us.anthropic.c-v1%3A0/invoke", Api::Opaque, chat, of_anthropic),
        (
            "https://b.amazonaws.com/model/us.anthropic.c-v1%3A0/converse",
            Api::Bedrock,
            r#"{"messages": [{"role": "user", "content": [{"text": "q"}]}]}"#,
            r#"{"output": {"message": {"role": "assistant", "content": [{"text": "a"}]}}, "stopReason": "end_turn"}"#,
        ),
        ("https://g.com/v1/models/g:generateContent?key=k", Api::Gemini, gemini, of_gemini),
        ("https://g.com/v1alpha/models/g:generateContent", Api::Gemini, gemini, of_gemini),
        (
            "https://a.com/v1/projects/p/locations/l/publishers/google/models/g:generateContent",
            Api::Gemini,
            gemini,
            of_gemini,
        ),
        ("https://g.com/v1beta/models/g:streamGenerateContent", Api::Gemini, gemini, &format!("[{of_gemini}]")),
        (
            "https://g.com/v1beta/models/g:streamGenerateContent?alt=sse",
            Api::Gemini,
            gemini,
            &format!("data: {of_gemini}\r\n\r\n"),
        ),
        ("https://g.com/v1beta/models/g:countTokens", Api::Opaque, gemini, r#"{"totalTokens": 1}"#),
        ("https://api.openai.com/v1/responses", Api::OpenAiResponses, responses, of_responses),
        ("http://localhost:11434/api/chat", Api::Ollama, chat, &format!("{of_ollama}\n")),
        (
            "http://localhost:11434/api/generate",
            Api::Opaque,
            r#"{"prompt": "q"}"#,
            r#"{"response": "a", "done": true}"#,
        ),
        ("https://api.cohere.com/v2/chat", Api::from_name("cohere").unwrap(), chat, r#"{"message": {}}"#),
        ("https://api.openai.com/v1/embeddings", Api::Opaque, r#"{"input": "a"}"#, r#"{"data": []}"#),
    ] {
        let text = cassette(
            &format!("body: {}", quoted(request)),
            &format!("status: {{code: 200}}\nbody: {{string: {}}}", quoted(answer)),
        );
        let text = text.replace("https://api.openai.com/v1/chat/completions", &format!("'{url}'"));
        let found = import(Foreign::Vcr, &text);
        assert_eq!((wires(&found).first().map(|wire| wire.api), &found.left_out), (Some(api), &vec![]), "{url}");
    }
}

#[test]
fn a_binary_body_stays_binary() {
    let frames = [0_u8, 0, 0, 0xaa, 0xff, 0x7b];
    let text = cassette(
        "body: '{}'",
        &format!(
            "status: {{code: 200}}\nheaders: {{content-type: [application/vnd.amazon.eventstream]}}\nbody:\n  string: !!binary |\n    {}",
            to_base64(&frames)
        ),
    );
    let text = text.replace("https://api.openai.com/v1/chat/completions", "https://b/some/stream");
    let body = wire::Body::Binary(frames.to_vec());
    let content_type = "application/vnd.amazon.eventstream".to_owned();
    assert_eq!(wires(&import(Foreign::Vcr, &text))[0].response, Response::of(200, &content_type, body));
}

#[test]
fn what_is_not_a_turn_is_reported_with_file_interaction_and_reason() {
    let answer = format!("response: {{status: {{code: 200}}, body: {{string: {}}}}}", quoted(ANSWER));
    let call =
        |method: &str, url: &str, body: &str| format!("request: {{method: {method}, uri: '{url}', body: {body}}}");
    let chat = "https://a/v1/chat/completions";
    let interactions = [
        (call("GET", "https://b/kiwi.png?sig=s", "null"), answer.clone()),
        (call("POST", chat, "''"), answer.clone()),
        (call("POST", chat, "'{\"messages\": '"), answer.clone()),
        (call("POST", chat, "'{\"messages\": 1}'"), answer.clone()),
        (call("POST", chat, &quoted(REQUEST)), answer.replace("200", "429")),
        (
            call("POST", "https://oauth2.googleapis.com/token", "'grant_type=refresh_token&refresh_token=s'"),
            answer.clone(),
        ),
        (call("POST", chat, &quoted(REQUEST)).replace("uri:", "href:"), answer.clone()),
        ("response: 1".to_owned(), "recorded: 2".to_owned()),
        (call("POST", chat, &quoted(REQUEST)), answer.replace("200", "fine")),
    ];
    let list: String =
        interactions.iter().flat_map(|(request, response)| ["- ", request, "\n  ", response, "\n"]).collect();
    let files = [("a.yaml", format!("interactions:\n{list}version: 1\n"))];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let found = import_files(Foreign::Vcr, &files, &["a.yaml"], false).unwrap();
    let chat = format!("POST {chat}");
    let expected = [
        "a.yaml: interaction 1 (line 2): GET https://b/kiwi.png: not a POST request, so not a model call".to_owned(),
        format!("a.yaml: interaction 2 (line 4): {chat}: the request: its body was not recorded"),
        format!("a.yaml: interaction 3 (line 6): {chat}: the request: not JSON: expected a JSON value, found the end of the text at line 1, column 14"),
        format!("a.yaml: interaction 4 (line 8): {chat}: the request: messages: expected an array, found number"),
        format!("a.yaml: interaction 5 (line 10): {chat}: status 429; with --errors, failed answers become turns, too"),
        "a.yaml: interaction 6 (line 12): POST https://oauth2.googleapis.com/token: asks for an OAuth token, which must not be in a fixture".to_owned(),
        "a.yaml: interaction 7 (line 14): no `request.uri`, and no `request.url`".to_owned(),
        "a.yaml: interaction 8 (line 16): no `request`".to_owned(),
        "a.yaml: interaction 9 (line 18): `response.status`: expected an HTTP status".to_owned(),
    ];
    assert_eq!(found.left_out, expected);
    assert!(found.fixture.table.turns().is_empty());
    let with_errors = import_files(Foreign::Vcr, &files, &["a.yaml"], true).unwrap();
    assert_eq!((with_errors.left_out.len(), wires(&with_errors)[0].response.status), (8, 429));
}

#[test]
fn an_answer_that_cannot_be_decoded_is_replayed_only_through_its_own_api() {
    let cut = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\n";
    let text = cassette(
        &format!("body: {}", quoted(&REQUEST.replace("\"model\"", "\"stream\": true, \"model\""))),
        &format!("status: {{code: 200}}\nbody: {{string: {}}}", quoted(cut)),
    );
    let found = import(Foreign::Vcr, &text);
    assert_eq!(
        found.notes,
        ["a.yaml: interaction 1 (line 2): POST https://api.openai.com/v1/chat/completions: the answer is \
        replayed unchanged and only through this API: an incomplete answer: the stream ended before a finish_reason"]
    );
    let (turn, recorded) = (&found.fixture.table.turns()[0], &wires(&found)[0]);
    let call =
        |api, stream| wire::RenderFor { api, stream, array: false, include_usage: true, model: "m", seed: "5eed" };
    let respond = |call| wire::respond(&turn.output, Some((recorded.api, &recorded.response)), &call);
    assert_eq!(respond(call(Api::OpenAiChat, true)).unwrap().body, wire::Body::Frames([cut].into_iter().collect()));
    for (api, stream) in [(Api::OpenAiChat, false), (Api::Anthropic, true), (Api::Gemini, false)] {
        let error = respond(call(api, stream)).unwrap_err().to_string();
        assert!(error.contains("the block `answer that could not be read` of the recording"), "{error}");
    }
    let odd = cassette(
        &format!("body: {}", quoted(&REQUEST.replace("\"model\"", "\"stream\": true, \"model\""))),
        &format!("status: {{code: 200}}\nbody: {{string: {}}}", quoted(ANSWER)),
    );
    assert!(
        import(Foreign::Vcr, &odd).notes[0]
            .ends_with("asked for a stream and got another form; replay sends the form that is asked for")
    );
}

#[test]
fn folders_are_read_in_name_order_and_skipped_files_are_reported() {
    let of = |text: &str| {
        cassette(
            &format!("body: {}", quoted(REQUEST)),
            &format!("status: {{code: 200}}\nbody: {{string: {}}}", quoted(&ANSWER.replace("yes", text))),
        )
    };
    let (a, b, c, named) = (of("a"), of("b"), of("c"), of("named"));
    let files = [
        ("of/b.yaml", &*b),
        ("of/a/z.yml", &*a),
        ("of/c.yaml", &*c),
        ("of/notes.md", "x"),
        ("of/settings.yaml", "a: 1\n"),
        ("of/.hidden.yaml", "a: ["),
        ("of/empty.yaml", "interactions: []\nversion: 1\n"),
        ("named.txt", &*named),
    ];
    let found = import_files(Foreign::Vcr, &files, &["named.txt", "of"], false).unwrap();
    let texts: Vec<String> = found.fixture.table.turns().iter().map(|turn| turn.output.text()).collect();
    assert_eq!(texts, ["named", "a", "b", "c"]);
    assert_eq!(
        found.notes,
        [
            "of: skipped 1 file without the ending .yaml, .yml, .json",
            "of/settings.yaml: skipped: not a VCR cassette: expected a list under `interactions`",
            "of/empty.yaml: contains no interactions",
        ]
    );
    let broken = [("a.yaml", "a: ["), ("b.yaml", &*b), ("c.yaml", "c: 1"), ("d.yaml", "\u{feff}"), ("none/x.md", "")];
    let found = import_files(Foreign::Vcr, &broken, &["a.yaml", "b.yaml", "c.yaml", "gone.yaml"], false).unwrap();
    assert_eq!((found.fixture.table.turns().len(), found.unread.len()), (1, 3));
    let errors = import_files(Foreign::Vcr, &broken, &["a.yaml", "c.yaml", "gone.yaml"], false).unwrap_err();
    assert_eq!(errors.len(), 3, "{errors:?}");
    assert!(errors[0].starts_with("a.yaml:1:4: not YAML"), "{errors:?}");
    assert_eq!(errors[1], "c.yaml: not a VCR cassette: expected a list under `interactions`");
    assert!(errors[2].contains("gone.yaml: failed to read it: no such file"), "{errors:?}");
    let none = import_files(Foreign::Vcr, &broken, &["none"], false).unwrap_err();
    assert!(none[0].ends_with("none: the folder contains no file that ends in .yaml, .yml, .json"), "{none:?}");
}

#[test]
fn a_request_may_refer_to_an_earlier_response() {
    let of = |request: &str, id: &str| {
        let answer = format!(
            r#"{{"id": "{id}", "status": "completed", "output": [{{"type": "message", "id": "m_{id}", "role": "assistant", "content": [{{"type": "output_text", "text": "a"}}]}}]}}"#
        );
        format!(
            "- request: {{method: POST, uri: 'https://a/v1/responses', body: {}}}\n  response: {{status: {{code: 200}}, body: {{string: {}}}}}\n",
            quoted(request),
            quoted(&answer)
        )
    };
    let text = format!(
        "interactions:\n{}{}",
        of(r#"{"input": "q"}"#, "r1"),
        of(r#"{"previous_response_id": "r1", "input": "and?"}"#, "r2")
    );
    let found = import(Foreign::Vcr, &text);
    let conversation = found.fixture.conversation(1, &Rules::default()).unwrap();
    let said: Vec<&str> = conversation.iter().filter_map(|message| message.str_of("content")).collect();
    assert_eq!(said, ["q", "a", "and?"]);
}

#[test]
fn an_interaction_whose_status_is_not_an_answers_is_left_out() {
    let text = cassette(
        &format!("body: {}\nheaders: {{content-type: [application/json]}}", quoted(REQUEST)),
        &format!("status: {{code: 101, message: x}}\nheaders: {{}}\nbody: {{string: {}}}", quoted(ANSWER)),
    );
    let found = import_files(Foreign::Vcr, &[("a.yaml", &text)], &["a.yaml"], true).unwrap();
    assert_eq!(found.fixture.table.turns().len(), 0);
    assert!(found.left_out[0].ends_with("the answer's status is 101, expected 200 to 599"), "{:?}", found.left_out);
}

#[test]
fn an_incomplete_answer_without_a_status_is_not_a_turn() {
    let cassette = |body: &str| {
        format!(
            "---\nversion: 2\ninteractions:\n    - request:\n        body: '{}'\n        url: https://a/v1/chat/completions\n        method: POST\n      response:\n        body: {}\n",
            r#"{"stream": true, "messages": [{"role": "user", "content": "q"}]}"#,
            quoted(body)
        )
    };
    let piece = |finish: &str| {
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"hi\"}},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let cut = import(Foreign::Vcr, &cassette(&piece("null")));
    assert_eq!(
        cut.left_out,
        [
            "a.yaml: interaction 1 (line 4): POST https://a/v1/chat/completions: its status was not recorded, and its answer \
          cannot be read: an incomplete answer: the stream ended before a finish_reason"
        ]
    );
    assert_eq!(cut.fixture.table.turns().len(), 0);
    let whole = import(Foreign::Vcr, &cassette(&piece("\"stop\"")));
    assert_eq!((whole.left_out.len(), wires(&whole)[0].response.status), (0, 200));
}
