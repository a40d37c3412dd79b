use super::*;
use crate::Replay;
use crate::tests::{lookup, replay_of, turn};

/// Two turns of one conversation, and one of another.
fn counting() -> Replay {
    replay_of(vec![
        turn(Some("a"), "p", "More", "One"),
        turn(Some("a"), "p", "More", "Two"),
        turn(Some("a"), "p", "Enough", ""),
    ])
}

fn ask(replay: &Replay, session: Option<&str>, question: &str) -> Option<String> {
    let served = replay.take(session, &lookup(Some("a"), "p", question), None);
    served.ok().map(|served| served.turn().output.text())
}

#[test]
fn each_session_is_served_the_turns_from_the_first_one_on() {
    let replay = counting();
    let said = |session: &str| ask(&replay, Some(session), "More");
    assert_eq!([said("a"), said("b"), said("b"), said("a")].map(Option::unwrap), ["One", "One", "Two", "Two"]);
    assert_eq!([said("a"), said("b")], [None, None], "without repeat, each session gets a turn once");
    assert_eq!(replay.unused(), [2], "a turn that any session was served is not unused");
    assert_eq!(said("c").as_deref(), Some("One"));
}

#[test]
fn with_repeat_a_session_begins_again_for_itself() {
    let replay = counting().with_repeat(true);
    let said = |session: &str| ask(&replay, Some(session), "More").unwrap();
    assert_eq!(["a", "a", "b", "a", "b", "b"].map(said), ["One", "Two", "One", "One", "Two", "One"]);
}

#[test]
fn calls_without_a_session_share_the_turns_of_the_replay() {
    let replay = counting();
    assert_eq!(ask(&replay, None, "More").as_deref(), Some("One"));
    assert_eq!(ask(&replay, Some("a"), "More").as_deref(), Some("One"));
    assert_eq!(ask(&replay, None, "More").as_deref(), Some("Two"));
}

#[test]
fn the_sessions_that_made_no_call_for_longest_are_forgotten_first() {
    let replay = counting().with_repeat(true);
    let table = &replay.fixture().table;
    assert_eq!(ask(&replay, Some("old"), "More").as_deref(), Some("One"));
    let most = most(table);
    for number in 0..most {
        assert_eq!(ask(&replay, Some(&number.to_string()), "More").as_deref(), Some("One"), "{number}");
        if number == most / 4 {
            assert_eq!(ask(&replay, Some("busy"), "More").as_deref(), Some("One"));
        }
        if number == most - 10 {
            assert_eq!(ask(&replay, Some("busy"), "More").as_deref(), Some("Two"));
        }
    }
    assert_eq!(ask(&replay, Some(&(most - 1).to_string()), "More").as_deref(), Some("Two"));
    assert_eq!(ask(&replay, Some("old"), "More").as_deref(), Some("One"), "forgotten, so it begins again");
    assert_eq!(ask(&replay, Some("busy"), "More").as_deref(), Some("One"), "it had got both, and goes on from there");
    assert_eq!(ask(&replay, Some("busy"), "More").as_deref(), Some("Two"));
}
