//! What a call asks of the form of its answer: compared with the recording, and heeded where the recording shows how.

use super::over_wires::recorded;
use super::{on_a_server, post};
use crate::*;
use retake_core::key::{Check, Rules};
use retake_wire::fixture::{Recorded, Wire};
use retake_wire::{self as wire, Api, Known, Response};

const PATH: &str = "/v1/chat/completions";
const CHUNK: &str = r#"data: {"id": "c", "choices": [{"index": 0, "delta": {"content": "hi"}}], "usage": null}"#;
const LAST: &str =
    r#"data: {"id": "c", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": null}"#;
const USAGE: &str = r#"data: {"id": "c", "choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}"#;
const BOTH: &str =
    r#"data: {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 3}}"#;

fn stream(frames: &[&str]) -> Response {
    Response::stream(frames.iter().chain(&["data: [DONE]"]).map(|frame| format!("{frame}\n\n")).collect())
}

/// A request with more fields.
fn asking(more: &str) -> String {
    format!(r#"{{"model": "gpt", "messages": [{{"role": "user", "content": "q"}}]{more}}}"#)
}

const STREAM: &str = r#", "stream": true"#;
const WITH_USAGE: &str = r#", "stream": true, "stream_options": {"include_usage": true}"#;

/// A turn as recording makes it now, with the check `form`.
fn turn(request: &str, response: Response) -> Recorded {
    let body = wire::request_body(request.as_bytes());
    let checks =
        wire::decode(Api::OpenAiChat, PATH, &body, &Known::default()).unwrap().checks(&Rules::default().normalizer);
    Recorded { texts: Some(checks.0), ..recorded(Api::OpenAiChat, PATH, request, response) }
}

fn drift_of_form(server: &ModelServer) -> Vec<String> {
    let drift = server.seat().drift().into_iter().filter(|(_, drift)| drift.check == Check::Form);
    drift.map(|(turn, drift)| format!("{turn}: {}", drift.in_words(""))).collect()
}

#[test]
fn the_usage_of_a_stream_is_left_out_if_it_was_asked_for_and_the_call_does_not_ask() {
    let recorded = stream(&[CHUNK, LAST, USAGE]);
    let turns = vec![turn(&asking(WITH_USAGE), recorded.clone()), turn(&asking(WITH_USAGE), stream(&[CHUNK, BOTH]))];
    on_a_server(turns, async |server, _| {
        let (status, _, body) = post(server, PATH, server.key(), &asking(STREAM)).await;
        assert_eq!((status, body), (200, String::from_utf8(stream(&[CHUNK, LAST]).bytes().into()).unwrap()));
        let (_, _, body) = post(server, PATH, server.key(), &asking(STREAM)).await;
        assert!(body.contains("\"finish_reason\":\"stop\"") && !body.contains("prompt_tokens"), "{body}");
        let word = "the form of answer that calls ask for changed (`usage`: true → nothing)";
        assert_eq!(drift_of_form(server), [format!("0: {word}"), format!("1: {word}")]);
    });
    // The wire stays as it was recorded if the call asks too, and if the recording does not say what its call asked for.
    let with_form = turn(&asking(WITH_USAGE), recorded.clone());
    let unknown = super::over_wires::recorded(Api::OpenAiChat, PATH, &asking(WITH_USAGE), recorded.clone());
    let unasked = turn(&asking(STREAM), recorded.clone());
    for (turn, call) in [(with_form, WITH_USAGE), (unknown, STREAM), (unasked, STREAM)] {
        on_a_server(vec![turn], async |server, _| {
            let (_, _, body) = post(server, PATH, server.key(), &asking(call)).await;
            assert_eq!(body.as_bytes(), recorded.bytes(), "{call}");
            assert!(drift_of_form(server).is_empty());
        });
    }
}

#[test]
fn what_came_in_another_framing_goes_so_to_a_call_that_asks_as_the_recorded_one_asked() {
    let whole = Response::json(
        200,
        retake_core::json::Json::parse(
            br#"{"id":"c","model":"gpt","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}"#,
        )
        .unwrap(),
    );
    for (response, asked, other) in [(whole, STREAM, ""), (stream(&[CHUNK, LAST]), "", STREAM)] {
        let came = Wire::to(Api::OpenAiChat, response.clone(), asked == STREAM);
        let turn = || Recorded { wire: Some(came.clone()), ..turn(&asking(asked), response.clone()) };
        on_a_server(vec![turn(), turn()], async |server, _| {
            let (_, _, body) = post(server, PATH, server.key(), &asking(asked)).await;
            assert_eq!(body.as_bytes(), response.bytes(), "as it came");
            let (_, _, body) = post(server, PATH, server.key(), &asking(other)).await;
            assert_eq!(body.starts_with("data: "), other == STREAM, "rendered: {body}");
        });
    }
}

#[test]
fn a_call_that_asks_for_another_form_or_version_is_noted_unless_the_turn_does_not_know_its_form() {
    let whole = || {
        let text = r#"{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}"#;
        Response::json(200, retake_core::json::Json::parse(text.as_bytes()).unwrap())
    };
    for (path, more, words) in [
        ("/v2/chat/completions", "", "`version`: \"v1\" → \"v2\""),
        (PATH, r#", "n": 3"#, "`choices`: nothing → true"),
        (PATH, r#", "stop": ["END"]"#, "`stop`: nothing → true"),
        (PATH, r#", "response_format": {"type": "json_object"}"#, "`format`: nothing → \"json\""),
        (PATH, r#", "logprobs": true"#, "`logprobs`: nothing → true"),
    ] {
        let old = super::over_wires::recorded(Api::OpenAiChat, PATH, &asking(""), whole());
        for (turn, is_noted) in [(turn(&asking(""), whole()), true), (old, false)] {
            on_a_server(vec![turn], async |server, _| {
                assert_eq!(post(server, path, server.key(), &asking(more)).await.0, 200, "{more}");
                let wanted = format!("0: the form of answer that calls ask for changed ({words})");
                assert_eq!(drift_of_form(server), if is_noted { vec![wanted] } else { Vec::new() });
            });
        }
    }
    // Over another API a form is asked for in another way.
    on_a_server(vec![turn(&asking(""), whole())], async |server, _| {
        let gemini = r#"{"contents": [{"parts": [{"text": "q"}]}], "generationConfig": {"stopSequences": ["END"]}}"#;
        assert_eq!(post(server, "/v1beta/models/m:generateContent", server.key(), gemini).await.0, 200);
        assert!(drift_of_form(server).is_empty());
    });
}

#[test]
fn a_caller_that_is_no_longer_declared_is_noted() {
    let whole = r#"{"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}"#;
    let whole = Response::json(200, retake_core::json::Json::parse(whole.as_bytes()).unwrap());
    for (caller, said) in [(Some("lead_agent"), 1), (None, 0)] {
        let turn = Recorded { caller: caller.map(str::to_owned), ..turn(&asking(""), whole.clone()) };
        on_a_server(vec![turn], async |server, _| {
            assert_eq!(post(server, PATH, server.key(), &asking("")).await.0, 200);
            let flaws = server.seat().flaws();
            assert_eq!(flaws.len(), said, "{flaws:?}");
            assert!(
                flaws.iter().all(|flaw| (flaw.kind, &*flaw.what) == (FlawKind::Caller, "it is no longer declared")),
                "{flaws:?}"
            );
        });
    }
}
