use super::*;
use retake_core::events::{Capture, Captured};

/// What a service sent: a stream with these events, each with its name and its payload.
fn sent(events: &[(&str, &str)]) -> WhatWasSent {
    let text =
        events.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n")).collect::<Vec<_>>().concat();
    let captured = Captured::stream("POST /", Capture::new().push(text.as_bytes()));
    WhatWasSent::of(&[captured], &[], &str::to_owned)
}

const RECORDED: [(&str, &str); 4] = [
    ("chunk", r#"{"text": "I wrote ", "type": "delta"}"#),
    ("chunk", r#"{"text": "note.txt.", "type": "delta"}"#),
    ("state", r#"{"said": [{"role": "user", "text": "Write!"}, {"role": "ai", "text": "I wrote note.txt."}]}"#),
    ("end", "null"),
];

fn verdict(now: &[(&str, &str)]) -> (Did, String) {
    verdict_with(now, &[])
}

fn verdict_with(now: &[(&str, &str)], error_words: &[String]) -> (Did, String) {
    let (recorded, now) = (sent(&RECORDED), sent(now));
    let noise = BTreeSet::new();
    let compared = Compared {
        recorded: &recorded,
        now: &now,
        status: "200".to_owned(),
        noise: &noise,
        error_words,
        changed: None,
    };
    let Verdict { did, why } = compared.verdict();
    (did, why)
}

#[test]
fn half_a_text_that_ends_well_is_silent() {
    let state = r#"{"said": [{"role": "user", "text": "Write!"}, {"role": "ai", "text": "I wrote "}]}"#;
    let half = verdict(&[RECORDED[0], ("state", state), RECORDED[3]]);
    assert_eq!(half, (Did::Silent, "200, ends, \"I wrote\" of 17 characters".to_owned()));
    // In other pieces, which no rule forbids.
    let pieces = [("chunk", r#"{"text": "I ", "type": "delta"}"#), ("chunk", r#"{"text": "wro", "type": "delta"}"#)];
    assert_eq!(verdict(&[pieces[0], pieces[1], RECORDED[3]]).0, Did::Silent);
    let nothing = verdict(&[("state", r#"{"said": [{"role": "user", "text": "Write!"}]}"#), RECORDED[3]]);
    assert_eq!(nothing, (Did::Silent, "200, ends, nothing of 17 characters".to_owned()));
}

#[test]
fn what_says_that_something_failed_is_reported() {
    let reported = |event: (&str, &str)| {
        let (did, why) = verdict(&[RECORDED[0], event, RECORDED[3]]);
        assert_eq!(did, Did::Reported, "{why}");
        why
    };
    assert_eq!(reported(("run.failed", "{}")), "event `run.failed`");
    assert_eq!(reported(("state", r#"{"status": "incomplete"}"#)), "status \"incomplete\"");
    assert_eq!(reported(("state", r#"{"error": {"message": "no"}}"#)), "an `error`");
    // ADK's events have a code and no word that says so.
    assert_eq!(reported(("chunk", r#"{"errorCode": "MAX_TOKENS"}"#)), "an `errorCode`");
    assert_eq!(verdict(&[RECORDED[0], ("chunk", r#"{"errorCode": null}"#), RECORDED[3]]).0, Did::Silent);
    // Without its last event, the stream breaks off.
    assert_eq!(verdict(&RECORDED[..2]), (Did::Reported, "breaks off after `chunk`, before `end`".to_owned()));
    let own = [RECORDED[0], ("state", r#"{"status": "degraded"}"#), RECORDED[3]];
    assert_eq!(verdict(&own).0, Did::Other);
    assert_eq!(verdict_with(&own, &["DEGRADED".to_owned()]).0, Did::Reported);
}

#[test]
fn another_text_is_something_other() {
    let sorry = verdict(&[("chunk", r#"{"text": "Sorry, not today.", "type": "delta"}"#), RECORDED[3]]);
    assert_eq!(sorry, (Did::Other, "200, ends, \"Sorry, not today.\"".to_owned()));
    // A text at a place where there was none, a new word and a new event are something other too.
    assert_eq!(verdict(&[RECORDED[0], ("chunk", r#"{"more": "I wrote "}"#), RECORDED[3]]).0, Did::Other);
    assert_eq!(verdict(&[RECORDED[0], ("chunk", r#"{"type": "stop"}"#), RECORDED[3]]).1, "200, type \"stop\"");
    assert_eq!(verdict(&[RECORDED[0], ("note", "{}"), RECORDED[3]]).1, "200, event `note`");
    // All texts came, so what differs is something else.
    assert_eq!(verdict(&RECORDED).0, Did::Other);
}
