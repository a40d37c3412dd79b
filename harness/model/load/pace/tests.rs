use super::*;
use crate::tests::{replay_of, turn};
use retake_core::conversation::Usage;
use retake_wire::{Frames, Response};

fn pace(text: &str) -> Pace {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// A turn with an answer of this many tokens, and a stream of this many frames with these delays.
fn streamed(tokens: u64, frames: usize, delays: &[u32]) -> (Turn, Response) {
    let mut recorded = turn(Some("a"), "p", "q", &"word ".repeat(10));
    recorded.output.usage = Some(Usage { output: tokens, ..Usage::default() });
    let frames: Frames = (0..frames).map(|at| format!("data: {at}\n\n")).collect();
    recorded.wire.as_mut().unwrap().response =
        Response::of(200, "text/event-stream", Body::Frames(frames.with_delays(delays)));
    let turn = replay_of(vec![recorded]).fixture().table.turns()[0].clone();
    let response = turn.wire.clone().unwrap().response;
    (turn, response)
}

fn millis(pace: &Pace, turn: &Turn, response: &Response) -> Vec<u128> {
    pace.due(0, turn, response).iter().map(Duration::as_millis).collect()
}

#[test]
fn a_stream_begins_after_ttft_and_its_tokens_come_at_tps() {
    let (turn, response) = streamed(60, 4, &[]);
    assert_eq!(millis(&pace("ttft=400ms,tps=20"), &turn, &response), [400, 1400, 2400, 3400]);
    assert_eq!(millis(&pace("ttft=400ms"), &turn, &response), [400; 4]);
    assert_eq!(millis(&pace("tps=50"), &turn, &response), [0, 400, 800, 1200]);
}

#[test]
fn a_body_that_is_no_stream_comes_when_its_last_token_would_have_come() {
    let (turn, _) = streamed(60, 4, &[]);
    let whole = Response::json(200, retake_core::json::Json::Null);
    assert_eq!(millis(&pace("ttft=0.4s,tps=20"), &turn, &whole), [3400]);
    // An error has no tokens.
    let mut refused = turn.clone();
    refused.wire.as_mut().unwrap().response.status = 429;
    assert_eq!(millis(&pace("ttft=400ms,tps=20"), &refused, &whole), [400]);
}

#[test]
fn without_a_report_a_token_is_four_characters() {
    let (turn, response) = streamed(0, 2, &[]);
    assert_eq!(millis(&pace("tps=1"), &turn, &response), [0, 13_000]);
}

#[test]
fn recorded_delays_add_up_from_the_moment_of_the_call() {
    let (turn, response) = streamed(60, 4, &[100, 0, 50, 30]);
    assert_eq!(millis(&pace("recorded"), &turn, &response), [100, 100, 150, 180]);
    assert_eq!(millis(&pace("0.5x"), &turn, &response), [50, 50, 75, 90]);
    assert_eq!(millis(&pace("3x"), &turn, &response), [300, 300, 450, 540]);
    assert!(millis(&pace("none"), &turn, &response).is_empty());
    let (turn, response) = streamed(60, 4, &[]);
    assert!(millis(&pace("recorded"), &turn, &response).is_empty(), "nothing is known, so nothing is held back");
}

#[test]
fn jitter_changes_each_wait_within_its_part_and_follows_from_the_seed() {
    let (turn, response) = streamed(1000, 101, &[]);
    let waits = |pace: &Pace| {
        let due = pace.due(0, &turn, &response);
        due.windows(2).map(|two| two[1].saturating_sub(two[0]).as_secs_f64()).collect::<Vec<_>>()
    };
    let steady = pace("tps=100,jitter=10%,seed=7");
    let (first, second) = (waits(&steady), waits(&steady));
    assert!(first.iter().all(|wait| (0.0899..=0.1101).contains(wait)), "{first:?}");
    let spread = first.iter().fold(0.0_f64, |most, wait| most.max((wait - 0.1).abs()));
    assert!(spread > 0.008, "the waits vary by {spread} of 0.01");
    assert_ne!(first, second, "the second time, a turn gets other waits");
    let again = pace("tps=100,jitter=10%,seed=7");
    assert_eq!([waits(&again), waits(&again)], [first.clone(), second]);
    steady.reset();
    assert_eq!(waits(&steady), first);
    assert_ne!(waits(&pace("tps=100,jitter=10%,seed=8")), first);
    assert_ne!(waits(&pace("tps=100,jitter=10%")), first);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (text, says) in [
        ("", "`` is unknown: write recorded, none, 0.5x"),
        ("fast", "`fast` is unknown: write recorded"),
        ("0x", "`0x`: write a number above 0"),
        ("nanx", "`nanx`: write a number above 0"),
        ("tps=0", "`tps=0`: write a number above 0"),
        ("tps=inf", "`tps=inf`: write a number above 0"),
        ("ttft=400", "`400` is not a time"),
        ("ttft=-1s", "`-1s` is not a time"),
        ("ttft=1s,ttft=2s", "is given twice"),
        ("jitter=10,tps=3", "write a part from 0% to 100%"),
        ("jitter=101%,tps=3", "write a part from 0% to 100%"),
        ("jitter=10%", "write recorded, none"),
        ("none,jitter=10%", "no delays to vary"),
        ("recorded,seed=3", "only with jitter"),
        ("recorded,tps=3", "either as they were recorded"),
        ("speed=3", "`speed` is unknown; known are ttft, tps, jitter and seed"),
    ] {
        let said = text.parse::<Pace>().expect_err(text);
        assert!(said.contains(says), "{text}: {said}");
    }
    for text in ["recorded,jitter=5%", "0.5x,jitter=5%,seed=3", "ttft=1m, tps=0.5", "ttft=0s", "jitter=0%,tps=9"] {
        pace(text);
    }
}
