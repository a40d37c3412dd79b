use super::super::plan::World;
use super::super::verdict::{Did, Verdict};
use super::*;
use crate::report::WorldData;
use retake_model::{Fault, FaultKind};

fn judged(turn: usize, kind: FaultKind, did: Did, why: &str) -> Judged {
    let world = World { turn, fault: Fault { kind, after: None, of: 0 }, order: Vec::new() };
    Judged { world, verdict: Verdict::new(did, why), lines: Vec::new() }
}

#[test]
fn neighbours_that_differ_only_in_their_turn_are_one_line_and_unfold_again() {
    let callers = ["lead", "lead", "lead", "title"].map(|name| Some(name.to_owned()));
    let all = [
        judged(0, FaultKind::RateLimit, Did::Recovered, "in 2 attempts"),
        judged(1, FaultKind::RateLimit, Did::Recovered, "in 2 attempts"),
        judged(2, FaultKind::RateLimit, Did::Recovered, "in 3 attempts"),
        judged(3, FaultKind::RateLimit, Did::Recovered, "in 3 attempts"),
        judged(0, FaultKind::Nothing, Did::Silent, "200, ends, nothing of 3 characters"),
        judged(2, FaultKind::Nothing, Did::Silent, "200, ends, nothing of 3 characters"),
        judged(0, FaultKind::FramingBytes, Did::Recovered, ""),
    ];
    let table = print(&all, &callers, Some(9), true);
    assert_eq!(
        table,
        "turns 1..2 lead  rate-limit  recovered  in 2 attempts\n\
         turn 3 lead  rate-limit  recovered  in 3 attempts\n\
         turn 4 title  rate-limit  recovered  in 3 attempts\n\
         turn 1 lead  nothing  SILENT  200, ends, nothing of 3 characters\n\
         turn 3 lead  nothing  SILENT  200, ends, nothing of 3 characters\n\
         turn 1 lead  framing-bytes  recovered\n\
         7 of 9 worlds, chosen evenly\n"
    );
    let lines = unfolded(&table);
    assert!(all.iter().all(|judged| lines.contains(&line_of(judged, &callers))), "{lines:?}");
    // A line of nobody's has no caller.
    assert_eq!(line_of(&all[0], &[]), "turn 1  rate-limit  recovered  in 2 attempts");
    assert_eq!(unfolded("turns 1..2  a  b"), ["turn 1  a  b", "turn 2  a  b"]);
}

#[test]
fn a_world_is_named_with_or_without_its_turn_and_its_place() {
    let fault = Fault { kind: FaultKind::CutClean, after: Some(3), of: 7 };
    let world = World { turn: 0, fault, order: Vec::new() };
    for name in ["turn1/cut-clean/3", "turn1/cut-clean", "cut-clean", "turn1"] {
        assert!(WorldData::is_named(&world.id(), name), "{name}");
    }
    for name in ["turn1/cut-clean/4", "turn11/cut-clean", "turn1/cut", "cut-dirty", "turn"] {
        assert!(!WorldData::is_named(&world.id(), name), "{name}");
    }
}
