//! `retake serve` as a model for load tests: slow answers, limits, sessions, metrics.

use std::time::{Duration, Instant};

use retake_core::conversation::Usage;
use retake_wire::fixture::Recorded;
use retake_wire::{Api, Body, Frames, Response};
use serde_json::{Value, json};

use super::serve::{Serving, greeting, said};
use crate::support::fixtures::{self, turn};
use crate::support::loopback::{Reply, chat, client, runtime, send};
use crate::support::tree::Tree;

tests! { answers_are_held_back_as_ttft_and_tps_say,
    recorded_delays_can_be_shortened,
    delays_that_were_never_recorded_are_refused_before_the_first_call,
    a_rate_is_answered_by_the_429_of_each_provider,
    calls_at_once_are_limited_until_an_answer_ends,
    each_session_is_served_the_turns_from_the_first_one_on,
    metrics_and_report_count_each_call_once,
    a_reset_begins_the_counts_and_limits_anew,
    an_option_that_cannot_be_meant_is_refused_with_the_ways_to_write_it,
}

/// A turn whose answer is a stream of this many frames, with these delays, and said to have this many tokens.
fn streamed(question: &str, frames: usize, delays: &[u32], tokens: u64) -> Recorded {
    let mut turn = turn(None, question, "An answer");
    let frame = |at: usize| {
        let finish = if at + 1 == frames { json!("stop") } else { json!(null) };
        let text = if at == 0 { "An answer" } else { "" };
        let choice = json!({ "index": 0, "delta": { "content": text }, "finish_reason": finish });
        let usage = if at + 1 == frames {
            json!({ "prompt_tokens": 1, "completion_tokens": tokens, "total_tokens": tokens + 1 })
        } else {
            json!(null)
        };
        let chunk = json!({ "id": "c", "object": "chat.completion.chunk", "created": 0, "model": "gpt-4o-mini", "choices": [choice], "usage": usage });
        format!("data: {chunk}\n\n")
    };
    let pieces: Frames = (0..frames).map(frame).chain(["data: [DONE]\n\n".to_owned()]).collect();
    let response = &mut turn.wire.as_mut().unwrap().response;
    *response = Response::of(200, "text/event-stream", Body::Frames(pieces.with_delays(delays)));
    turn.output = retake_wire::decode_response(Api::OpenAiChat, response).unwrap();
    assert_eq!(turn.output.usage.map(|usage: Usage| usage.output), Some(tokens));
    turn
}

fn timed(serving: &Serving, question: &str) -> (Reply, Duration) {
    let start = Instant::now();
    let reply = serving.ask(&[], &said(question), true);
    (reply, start.elapsed())
}

/// What is measured here is at least as long as it says; how much longer is up to the machine.
fn answers_are_held_back_as_ttft_and_tps_say() {
    let tree = Tree::empty();
    fixtures::write(&tree, "slow", vec![streamed("Long", 3, &[], 30), turn(None, "Short", "Yes")]);
    let serving = Serving::start(tree.retake().args(&["serve", "slow", "--delays", "ttft=150ms,tps=100"]));
    let (reply, took) = timed(&serving, "Long");
    assert!(reply.body.ends_with("data: [DONE]\n\n"), "{}", reply.body);
    assert!(took >= Duration::from_millis(450), "30 tokens at 100 a second, after 150 ms, came in {took:?}");
    // Delayed pieces are counted: three frames and the end of the stream.
    let metrics = serving.asked("metrics", None).body;
    assert!(metrics.contains("retake_frame_lateness_seconds_count 4\n"), "{metrics}");
    let start = Instant::now();
    assert_eq!(serving.ask(&[], &said("Short"), false).status, 200);
    assert!(start.elapsed() >= Duration::from_millis(150), "a whole answer waits for its first token too");
    assert!(serving.asked("metrics", None).body.contains("retake_frame_lateness_seconds_count 5\n"));
}

fn recorded_delays_can_be_shortened() {
    let tree = Tree::empty();
    // Hours, so that a server that replays all of it never ends, and one that replays nothing is at once.
    fixtures::write(&tree, "slow", vec![streamed("Long", 2, &[3_600_000, 0, 3_600_000], 3)]);
    let serving = Serving::start(tree.retake().args(&["serve", "slow", "--delays", "0.00002x"]));
    let (reply, took) = timed(&serving, "Long");
    assert!(reply.body.ends_with("data: [DONE]\n\n"), "{}", reply.body);
    assert!(took >= Duration::from_millis(144), "{took:?}");
    // The suite asks for the whole of it, and the command for nothing.
    tree.write("scenarios/suite.toml", "delays = \"recorded\"\n");
    let serving = Serving::start(tree.retake().args(&["serve", "slow", "--delays", "none"]));
    assert_eq!(timed(&serving, "Long").0.status, 200);
}

fn delays_that_were_never_recorded_are_refused_before_the_first_call() {
    let tree = greeting();
    for delays in ["recorded", "0.5x"] {
        tree.retake().args(&["serve", "greeting", "--delays", delays]).run().exits(2).says(&[
            "error: greeting was recorded without delays, so they cannot be replayed",
            "record again with delays = \"recorded\" in the suite or the scenario, or serve it with --delays ttft=400ms,tps=60",
        ]);
    }
}

fn a_rate_is_answered_by_the_429_of_each_provider() {
    let tree = greeting();
    let args = ["serve", "greeting", "--repeat", "--rate", "2/h", "--report", "out/report.json"];
    let mut serving = Serving::start(tree.retake().args(&args));
    let first = serving.ask(&[], &said("Hello"), false);
    assert_eq!((first.status, &*first.headers["x-ratelimit-remaining-requests"]), (200, "1"));
    assert_eq!(serving.ask(&[], &said("Hello"), false).headers["x-ratelimit-remaining-requests"], "0");
    let key = serving.ready("key").to_owned();
    let user = json!([{ "role": "user", "content": "Hello" }]);
    let contents = json!([{ "role": "user", "parts": [{ "text": "Hello" }] }]);
    let call = |path: &str, body: Value| {
        let url = format!("{}{path}", serving.ready("url"));
        send(&url, &[("authorization", &format!("Bearer {key}"))], Some(&body))
    };
    let refused = [
        call("/v1/chat/completions", json!({ "model": "m", "messages": user })),
        call("/v1/responses", json!({ "model": "m", "input": "Hello" })),
        call("/v1/messages", json!({ "model": "m", "max_tokens": 9, "messages": user })),
        call("/v1beta/models/m:generateContent", json!({ "contents": contents })),
        call("/v1beta/models/m:streamGenerateContent", json!({ "contents": contents })),
        call("/api/chat", json!({ "model": "m", "messages": user })),
    ];
    let errors = refused.each_ref().map(|reply| (reply.status, reply.json()));
    assert!(errors.iter().all(|(status, _)| *status == 429), "{errors:?}");
    for openai in [0, 1] {
        assert_eq!(errors[openai].1["error"]["code"], "rate_limit_exceeded");
        assert!(refused[openai].headers["retry-after-ms"].parse::<u64>().unwrap() > 3_500_000);
    }
    assert_eq!(errors[2].1["error"]["type"], "rate_limit_error");
    let wait: u64 = refused[2].headers["retry-after"].parse().unwrap();
    assert!((3_500..=3_600).contains(&wait), "{wait}");
    assert!(refused[2].headers["anthropic-ratelimit-requests-reset"].ends_with('Z'));
    assert_eq!(errors[3].1["error"]["status"], "RESOURCE_EXHAUSTED");
    assert_eq!(errors[4].1[0]["error"]["code"], 429, "without alt=sse, the error is in an array");
    assert_eq!(errors[5].1["error"], "you've reached your limit of 2 requests per hour");
    // A call that is refused is no miss, and takes no turn.
    let (code, printed) = serving.end_and_read("-TERM");
    assert_eq!(code, Some(0), "{printed}");
    assert!(printed.contains("note: 6 calls exceeded the limit and got a 429"), "{printed}");
    let report: Value = serde_json::from_str(&tree.read("out/report.json")).unwrap();
    assert_eq!((report["served"].as_array().unwrap().len(), &report["limited"]), (2, &json!(6)));
    assert_eq!(report["missed"], json!([]));
}

fn calls_at_once_are_limited_until_an_answer_ends() {
    let tree = Tree::empty();
    fixtures::write(&tree, "slow", vec![streamed("Long", 2, &[0, 3_600_000, 0], 3), turn(None, "Hello", "Hi")]);
    let args = ["serve", "slow", "--repeat", "--limit", "1", "--delays", "recorded"];
    let serving = Serving::start(tree.retake().args(&args));
    let (url, key) = (format!("{}/chat/completions", serving.ready("openai")), serving.ready("key").to_owned());
    runtime().block_on(async {
        let client = client();
        let ask = |question: &str| {
            let body = chat(&said(question), question == "Long").to_string();
            let call = client.post(&url).header("authorization", format!("Bearer {key}"));
            call.header("content-type", "application/json").body(body).send()
        };
        let mut long = ask("Long").await.unwrap();
        assert!(long.chunk().await.unwrap().is_some(), "the first frame came, and the next one takes an hour");
        let refused = ask("Hello").await.unwrap();
        assert_eq!((refused.status().as_u16(), refused.headers()["retry-after"].to_str().unwrap()), (429, "1"));
        drop(long);
        // The place is free once the server has noticed that the client left.
        let answered = async { while ask("Hello").await.unwrap().status() != 200 {} };
        tokio::time::timeout(Duration::from_secs(60), answered).await.unwrap();
    });
    let metrics = serving.asked("metrics", None).body;
    assert!(metrics.contains("retake_calls_left_total 1\n"), "{metrics}");
    assert!(metrics.contains("retake_calls_in_flight 0\n"), "{metrics}");
}

fn each_session_is_served_the_turns_from_the_first_one_on() {
    let tree = Tree::empty();
    fixtures::write(&tree, "counting", vec![turn(None, "More", "One"), turn(None, "More", "Two")]);
    let args = ["serve", "counting", "--repeat", "--session-by", "header:x-session"];
    let mut serving = Serving::start(tree.retake().args(&args));
    let more = |session: &str| {
        let headers: &[(&str, &str)] = if session.is_empty() { &[] } else { &[("x-session", session)] };
        serving.ask(headers, &said("More"), false).json()["choices"][0]["message"]["content"].clone()
    };
    assert_eq!(["a", "b", "c", "a", "b", "a"].map(more), ["One", "One", "One", "Two", "Two", "One"]);
    assert_eq!(["", "", "c"].map(more), ["One", "Two", "Two"]);
    let (code, printed) = serving.end_and_read("-TERM");
    assert_eq!(code, Some(0), "{printed}");
    let told =
        "note: 2 calls named no session (header:x-session); they were answered as if they were all of one session";
    assert!(printed.contains(told), "{printed}");
}

fn metrics_and_report_count_each_call_once() {
    let tree = greeting();
    let serving = Serving::start(tree.retake().args(&["serve", "greeting", "--repeat", "--rate", "5/h"]));
    for _ in 0..3 {
        assert_eq!(serving.ask(&[], &said("Hello"), false).status, 200);
    }
    assert_eq!(serving.ask(&[], &said("Hallo"), false).status, 404);
    assert_eq!(serving.ask(&[], &said("Hello"), true).status, 200);
    for _ in 0..2 {
        assert_eq!(serving.ask(&[], &said("Hello"), false).status, 429);
    }
    // A request that is no call counts neither for the limit nor among the calls.
    assert_eq!(send(&format!("{}/health", serving.ready("url")), &[], None).status, 200);
    // With another key, it is a miss; without any, it is none of ours.
    let url = format!("{}/v1/messages", serving.ready("url"));
    assert_eq!(send(&url, &[("x-api-key", "sk-another")], Some(&json!({}))).status, 401);
    assert_eq!(send(&url, &[], Some(&json!({}))).status, 401);
    let metrics = serving.asked("metrics", None);
    assert_eq!(metrics.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    let samples: Vec<&str> =
        metrics.body.lines().filter(|line| line.starts_with("retake_calls") && !line.ends_with(" 0")).collect();
    assert_eq!(
        samples,
        [
            "retake_calls_total{api=\"openai-chat\",outcome=\"served\"} 4",
            "retake_calls_total{api=\"openai-chat\",outcome=\"missed\"} 1",
            "retake_calls_total{api=\"openai-chat\",outcome=\"limited\"} 2",
            "retake_calls_total{api=\"anthropic\",outcome=\"missed\"} 1",
        ]
    );
    let report = serving.asked("report", None).json();
    let count = |name: &str| report[name].as_array().unwrap().len();
    assert_eq!((count("served"), count("missed"), &report["limited"]), (4, 2, &json!(2)));
}

fn a_reset_begins_the_counts_and_limits_anew() {
    let tree = greeting();
    let serving = Serving::start(tree.retake().args(&["serve", "greeting", "--repeat", "--rate", "1/h"]));
    for _ in 0..2 {
        let answered = [(); 2].map(|()| serving.ask(&[], &said("Hello"), false).status);
        assert_eq!(answered, [200, 429]);
        assert_eq!(serving.asked("report", None).json()["limited"], 1);
        assert_eq!(serving.asked("reset", Some(&json!({}))).status, 200);
        assert_eq!(serving.asked("report", None).json()["limited"], 0);
        assert!(!serving.asked("metrics", None).body.contains("outcome="));
    }
}

fn an_option_that_cannot_be_meant_is_refused_with_the_ways_to_write_it() {
    let tree = greeting();
    for (option, value, says) in [
        ("--delays", "fast", "write recorded, none, 0.5x (half of what was recorded) or ttft=400ms,tps=60,jitter=10%"),
        ("--delays", "ttft=400", "`400` is not a time: write 400ms, 1.5s or 1m"),
        ("--rate", "100", "write calls per second, minute or hour, as in 100/s, 600/min or 1000/h"),
        ("--limit", "0", "0 is not in 1.."),
        ("--session-by", "x-session", "write header:NAME, json:/POINTER or first-message"),
    ] {
        tree.retake().args(&["serve", "greeting", option, value]).run().exits(2).says(&[says]);
    }
}
