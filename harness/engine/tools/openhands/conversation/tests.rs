use std::path::PathBuf;

use super::*;
use crate::tools::openhands::{Speaker, find};

/// The folder of a conversation with these files.
fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
    let base = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = base.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let path = base.path().to_owned();
    (base, path)
}

fn message(id: &str, parent: Option<&str>) -> String {
    let parent = parent.map_or(String::new(), |parent| format!(r#""parent_id": "{parent}","#));
    format!(
        r#"{{"kind": "MessageEvent", "id": "{id}", {parent} "source": "user", "llm_message": {{"content": "{id}"}}}}"#
    )
}

fn ids(conversation: &Conversation) -> Vec<String> {
    let id = |event: &Event| match event {
        Event::Message { event, by: Speaker::User } => event.str_of("id").map(str::to_owned),
        _ => None,
    };
    conversation.events.iter().filter_map(id).collect()
}

fn read(files: &[(&str, &str)]) -> Result<Conversation> {
    let (_base, path) = folder(files);
    Conversation::read(&path)
}

#[test]
fn the_active_branch_leads_from_the_leaf_to_the_root() {
    let files = [
        ("events/event-00000-aaaaaaaa.json", message("a", None)),
        ("events/event-00001-bbbbbbbb.json", message("b", Some("a"))),
        ("events/event-00002-cccccccc.json", message("c", Some("a"))),
        ("events/event-00003-dddddddd.json", message("d", Some("b"))),
        ("base_state.json", r#"{"leaf_event_id": "c"}"#.to_owned()),
    ];
    let files: Vec<(&str, &str)> = files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    let conversation = read(&files).unwrap();
    assert_eq!(ids(&conversation), ["a", "c"]);
    assert_eq!(conversation.warnings, ["ignored 2 events on other branches"]);
    // Without a leaf, the last event is the leaf.
    assert_eq!(ids(&read(&files[..4]).unwrap()), ["a", "b", "d"]);
}

#[test]
fn events_without_parents_form_a_single_branch() {
    let files = [
        ("events/event-00000-aaaaaaaa.json", message("a", None)),
        ("events/event-00001-bbbbbbbb.json", message("b", None)),
    ];
    let conversation = read(&files.each_ref().map(|(name, text)| (*name, text.as_str()))).unwrap();
    assert_eq!(ids(&conversation), ["a", "b"]);
}

#[test]
fn a_damaged_conversation_is_an_error_that_names_the_file() {
    let (a, b) = (message("a", None), message("b", Some("gone")));
    let first = ("events/event-00000-aaaaaaaa.json", &*a);
    let cases: [(&[(&str, &str)], &str); 9] = [
        (
            &[first, ("events/event-00002-bbbbbbbb.json", "{}")],
            "event-00002-bbbbbbbb.json: the event with the number 1 is missing",
        ),
        (&[first, ("events/event-00000-bbbbbbbb.json", "{}")], "there are two events with the number 0"),
        (&[first, ("events/event-00001-bbbbbbbb.json", "{")], "event-00001-bbbbbbbb.json:1:2: not JSON"),
        (
            &[first, ("events/event-00001-bbbbbbbb.json", &a)],
            "event-00001-bbbbbbbb.json: its id `a` is also that of events/event-00000",
        ),
        (
            &[first, ("events/event-00001-bbbbbbbb.json", &b)],
            "event-00001-bbbbbbbb.json: there is no event `gone`, its parent",
        ),
        (
            &[first, ("events/event-00001-bbbbbbbb.json", r#"{"kind": "ActionEvent", "id": "b"}"#)],
            "event-00001-bbbbbbbb.json: `tool_name`: expected a string, found nothing",
        ),
        (
            &[first, ("base_state.json", r#"{"leaf_event_id": "z"}"#)],
            "there is no event `z`, which `leaf_event_id` names",
        ),
        (&[first, ("base_state.json", "no")], "base_state.json:1:1: not JSON"),
        (&[("events/.eventlog.lock", "")], "the conversation is empty"),
    ];
    for (files, expected) in cases {
        let error = read(files).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn unknown_kinds_and_names_are_warnings_that_name_the_file() {
    let a = message("a", None);
    let files = [
        ("events/event-00000-aaaaaaaa.json", &*a),
        ("events/event-00001-bbbbbbbb.json", r#"{"kind": "Novelty", "id": "b"}"#),
        ("events/notes.txt", ""),
        ("events/.eventlog.lock", ""),
    ];
    let conversation = read(&files).unwrap();
    assert_eq!(
        conversation.warnings,
        [
            "events/notes.txt: ignored, its name is not event-NNNNN-<id>.json",
            "events/event-00001-bbbbbbbb.json: ignored an event of the unknown kind \"Novelty\""
        ]
    );
}

#[test]
fn a_cycle_of_parents_is_an_error() {
    let events = [message("a", Some("b")), message("b", Some("a"))];
    let events = events.iter().map(|text| Json::parse(text.as_bytes()).unwrap()).collect();
    assert!(Conversation::of_events(events).unwrap_err().to_string().contains("its parents form a cycle"));
}

#[test]
fn a_conversation_is_found_by_its_id_and_never_guessed() {
    let (id, other) = ("6f2d7a4e-9f3b-4c1d-8e5a-0b1c2d3e4f50", "00000000000000000000000000000001");
    let hex = id.replace('-', "");
    let a = message("a", None);
    let nested = format!("deep/er/{hex}/events/event-00000-aaaaaaaa.json");
    let direct = format!("{other}/events/event-00000-aaaaaaaa.json");
    let (_base, base) = folder(&[(&nested, &a), (&direct, &a)]);
    assert_eq!(find(&base, Some(id)).unwrap(), base.join("deep/er").join(&hex));
    assert_eq!(find(&base, Some(&hex)).unwrap(), base.join("deep/er").join(&hex));
    assert_eq!(find(&base, Some(other)).unwrap(), base.join(other));
    let absent = find(&base, Some("11111111-1111-1111-1111-111111111111")).unwrap_err().to_string();
    assert!(absent.contains("there is no conversation `11111111-") && absent.contains(other), "{absent}");
    let several = find(&base, None).unwrap_err().to_string();
    assert!(several.contains("there are 2 conversations") && several.contains("--conversation ID"), "{several}");
    assert!(several.contains(&format!("deep/er/{hex}")), "{several}");
    assert_eq!(find(&base.join("deep"), None).unwrap(), base.join("deep/er").join(&hex));
    assert_eq!(find(&base.join(other), None).unwrap(), base.join(other));
    assert!(
        find(&base.join("deep/er").join(&hex).join("events"), None)
            .unwrap_err()
            .to_string()
            .contains("no conversation")
    );
}
