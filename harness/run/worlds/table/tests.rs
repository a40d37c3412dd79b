use super::super::places::{Spot, World};
use super::super::verdict::{Did, Verdict};
use super::*;
use crate::report::WorldData;
use retake_model::{Fault, FaultKind};

fn world(turn: usize, kind: FaultKind, after: Option<usize>) -> World {
    World::of(turn, Fault { kind, after, of: after.map_or(0, |_| 9) })
}

fn judged(turn: usize, kind: FaultKind, did: Did, why: &str) -> Judged {
    Judged {
        world: world(turn, kind, None),
        verdict: Verdict::new(did, why),
        attempts: 1,
        lines: Vec::new(),
        alone: true,
    }
}

fn matrix(judged: &[Judged]) -> Matrix {
    Matrix {
        lines: Vec::new(),
        judged: judged.to_vec(),
        found: None,
        unlike: None,
        unmet: Vec::new(),
        left_out: Vec::new(),
        callers: Vec::new(),
    }
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
    let table = print(&Matrix { found: Some(9), callers: callers.to_vec(), ..matrix(&all) });
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
    // A table that somebody edited.
    assert_eq!(unfolded("turns 1..4000000000  a  b").len(), 1);
}

#[test]
fn a_world_is_named_with_or_without_its_turn_and_its_place() {
    let world = world(0, FaultKind::CutClean, Some(3));
    for name in ["turn1/cut-clean/3", "turn1/cut-clean", "cut-clean", "turn1"] {
        assert!(WorldData::is_named(&world.id(), name), "{name}");
    }
    for name in ["turn1/cut-clean/4", "turn11/cut-clean", "turn1/cut", "cut-dirty", "turn"] {
        assert!(!WorldData::is_named(&world.id(), name), "{name}");
    }
}

#[test]
fn a_table_of_an_earlier_version_is_compared_in_the_worlds_that_it_has() {
    let all = [
        judged(0, FaultKind::RateLimit, Did::Recovered, "in 2 attempts"),
        judged(0, FaultKind::Stall, Did::Hung, "waits for the rest"),
        judged(0, FaultKind::Nothing, Did::Reported, "event `error`: \"no text\""),
    ];
    let holds = |table: &str| super::holds(table, &matrix(&all));
    let before = "turn 1  rate-limit  recovered  in 2 attempts\nturn 1  nothing  reported  event `error`\n";
    assert_eq!(holds(before), Some(1));
    assert_eq!(holds(&print(&matrix(&all))), Some(0));
    assert_eq!(holds(&before.replace("in 2", "in 1")), None);
    assert_eq!(holds(&before.replace("event `error`", "event `err")), None);
    // A world that the table has, and that is not there any more.
    assert_eq!(holds(&format!("{before}turn 2  nothing  reported  event `error`\n")), None);
    // A turn that the table does not have, of a fault that it knows.
    assert_eq!(holds("turn 1  nothing  reported  event `error`\nturn 2  rate-limit  recovered\n"), None);
    // Why a sick system cannot be told is said in other words now.
    let unlike = |unlike| print(&Matrix { unlike: Some(unlike), ..matrix(&all) });
    let now = Matrix { unlike: Some("asks something else"), ..matrix(&all) };
    assert_eq!(super::holds(&unlike("differs"), &now), Some(0));
    assert_eq!(super::holds(before, &now), None);
}

#[test]
fn the_places_of_an_answer_are_one_line_by_its_turn() {
    let at = |turn: usize, after: usize, did: Did| Judged {
        world: world(turn, FaultKind::CutClean, Some(after)),
        ..judged(turn, FaultKind::CutClean, did, "")
    };
    let all = [1, 4, 8].map(|after| {
        let last = if after == 8 { Did::Recovered } else { Did::Silent };
        [at(0, after, Did::Silent), at(1, after, last), at(2, after, last)]
    });
    let all = all.concat();
    let callers = ["lead", "lead", "lead"].map(|name| Some(name.to_owned()));
    let matrix = Matrix { callers: callers.to_vec(), ..matrix(&all) };
    let table = print(&matrix);
    assert_eq!(
        table,
        "turn 1 lead  cut-clean 1,4,8/9  SILENT\n\
         turns 2..3 lead  cut-clean 1,4/9  SILENT\n\
         turns 2..3 lead  cut-clean 8/9  recovered\n"
    );
    assert_eq!(holds(&table, &matrix), Some(0));
    // As it was written before, place by place.
    let before: Vec<String> = all.iter().map(|judged| line_of(judged, &callers)).collect();
    assert_eq!(holds(&before.join("\n"), &matrix), Some(0));
    assert_eq!(holds(&before[1..].join("\n"), &matrix), None);
}

#[test]
fn a_world_whose_fault_was_not_met_is_named_without_a_verdict() {
    let unmet = vec![world(1, FaultKind::Nothing, None)];
    let table = print(&Matrix { unmet, ..matrix(&[judged(0, FaultKind::Nothing, Did::Silent, "nothing")]) });
    assert_eq!(table, "turn 1  nothing  SILENT  nothing\nno verdict: no call met turn2/nothing\n");
}

#[test]
fn equal_places_are_one_line_and_unfold_again() {
    let at = |event: usize, did: Did| Judged {
        world: World { spot: Some(Spot::Event { step: 0, event }), ..world(0, FaultKind::Leave, Some(event)) },
        ..judged(0, FaultKind::Leave, did, "")
    };
    let recovered = [1, 2, 5, 6, 7].map(|event| at(event, Did::Recovered));
    let all = [&recovered[..], &[at(9, Did::Lost)]].concat();
    let table = print(&Matrix { callers: vec![Some("lead".to_owned())], ..matrix(&all) });
    assert_eq!(table, "client  leave 1,2,5..7/9  recovered\nclient  leave 9/9  LOST\n");
    assert_eq!(unfolded(&table), all.iter().map(|judged| line_of(judged, &[])).collect::<Vec<_>>());
    assert_eq!(holds(&table, &matrix(&all)), Some(0));
    // As it was written before there were ranges.
    assert_eq!(holds(&table.replace("5..7", "5,6,7"), &matrix(&all)), Some(0));
    assert_eq!(holds(&table.replace("5..7", "5,7"), &matrix(&all)), None);
    // What fails and is not accepted is marked, in a line of its own.
    let matrix = matrix(&all);
    let marked = lines(&matrix, |it| it.world.fault.after == Some(2));
    let cells = marked.iter().map(|line| (line.marked, line.cells()[1].clone()));
    let [first, second, third] = cells.collect::<Vec<_>>().try_into().unwrap();
    assert_eq!((first, second), ((false, "leave 1,5..7/9".to_owned()), (true, "leave 2/9".to_owned())));
    assert_eq!(third, (false, "leave 9/9".to_owned()));
    assert!(
        WorldData::is_named(&all[2].world.id(), "client/leave/5") && WorldData::is_named("client/leave/5", "leave")
    );
}
