use super::*;
use crate::events::{Capture, golden};

const TASK: &str = r#"{"result": {"kind": "task", "id": "t", "status": {"state": "submitted"}}}"#;
const WORKS: &str = r#"{"result": {"kind": "status-update", "status": {"state": "working"}, "final": false}}"#;
const GIVES: &str = r#"{"result": {"kind": "artifact-update", "artifact": {"parts": []}}}"#;
const ENDS: &str = r#"{"result": {"kind": "status-update", "status": {"state": "completed"}, "final": true}}"#;

fn captured(name: &str, payloads: &[&str]) -> Captured {
    let events: Vec<String> = payloads.iter().map(|data| format!("{name}data: {data}\n\n")).collect();
    Captured::stream("POST /", Capture::new().push(events.concat().as_bytes()))
}

fn found(payloads: &[&str]) -> Option<String> {
    deeper_name(&[captured("", payloads)], &ShapeOptions::default())
}

#[test]
fn the_word_that_tells_events_apart_is_found() {
    assert_eq!(found(&[TASK, WORKS, GIVES, ENDS]).as_deref(), Some("/result/kind"));
    assert_eq!(found(&[WORKS, ENDS, ENDS]), None, "they are all of one kind");
    assert_eq!(found(&[TASK, ENDS]), None, "too few");
    assert_eq!(found(&[TASK, WORKS, r#"{"error": {"code": 1}}"#]), None, "one says nothing");
    let named = ShapeOptions { event_name: Some("/x".into()), ..ShapeOptions::default() };
    assert_eq!(deeper_name(&[captured("", &[TASK, WORKS, GIVES])], &named), None);
}

#[test]
fn events_take_their_names_from_there() {
    let options = ShapeOptions { event_name: Some("/result/kind".into()), ..ShapeOptions::default() };
    let text = |name: &str| golden(&[captured(name, &[TASK, WORKS, ENDS])], &options, &str::to_owned).to_string();
    assert!(text("").contains("\ntask      {result}\nstatus-update     {result} ×2\n"), "{}", text(""));
    // A changed `event:` line is noticed too.
    assert!(text("event: update\n").contains("\nupdate/task       {result}\n"), "{}", text("event: update\n"));
}
