use super::super::places::{Spot, World};
use super::super::verdict::Did;
use super::*;
use crate::report::WorldData;
use retake_model::{Fault, FaultKind};

/// What was done in a world of the model, at a turn of `lead`'s and after so many of its nine frames.
fn judged(turn: usize, kind: FaultKind, after: Option<usize>, did: Did, why: &str) -> Judged {
    let world = World::of(turn, Fault { kind, after, of: after.map_or(0, |_| 9) });
    let (caller, verdict) = (Some("lead".to_owned()), did.since(why));
    Judged { world, caller, verdict, attempts: 1, lines: Vec::new(), alone: true, late: false }
}

fn matrix(judged: &[Judged]) -> Matrix {
    let (lines, unmet, left_out) = (Vec::new(), Vec::new(), Vec::new());
    Matrix { lines, judged: judged.to_vec(), found: None, unlike: None, unmet, left_out }
}

/// Worlds are printed as this table, which holds, and which says each of them when it is unfolded.
fn is_printed(all: &[Judged], table: &str) -> Matrix {
    let matrix = matrix(all);
    assert_eq!(print(&matrix), table);
    let lines = unfolded(table);
    assert!(all.iter().all(|judged| lines.contains(&line_of(judged))) && lines.len() == all.len(), "{lines:?}");
    assert_eq!(holds(table, &matrix), Some(0));
    matrix
}

#[test]
fn neighbours_that_differ_only_in_their_turn_are_one_line_and_unfold_again() {
    let recovered = |turn: usize, times: usize| {
        judged(turn, FaultKind::RateLimit, None, Did::Recovered, &format!("in {times} attempts"))
    };
    let nothing = |turn: usize| {
        judged(turn, FaultKind::Nothing, None, Did::Silent, "the client saw 0 of 3 characters, and no error")
    };
    let all = [
        recovered(0, 2),
        recovered(1, 2),
        recovered(2, 3),
        Judged { caller: Some("title".to_owned()), ..recovered(3, 3) },
        nothing(0),
        nothing(2),
        Judged { caller: None, ..judged(0, FaultKind::FramingBytes, None, Did::Recovered, "") },
    ];
    let matrix = is_printed(
        &all,
        "turns 1..2 lead  rate-limit  recovered  in 2 attempts\n\
         turn 3 lead  rate-limit  recovered  in 3 attempts\n\
         turn 4 title  rate-limit  recovered  in 3 attempts\n\
         turn 1 lead  nothing  SILENT  the client saw 0 of 3 characters, and no error\n\
         turn 3 lead  nothing  SILENT  the client saw 0 of 3 characters, and no error\n\
         turn 1  framing-bytes  recovered\n",
    );
    // What no call met has no verdict, and is named.
    let unmet = vec![World::of(1, FaultKind::Nothing.whole())];
    let table = print(&Matrix { found: Some(9), unmet, ..matrix });
    assert!(table.ends_with("8 of 9 worlds, chosen evenly\nno verdict: no call met turn2/nothing\n"), "{table}");
    assert_eq!(unfolded("turns 1..2  a  b"), ["turn 1  a  b", "turn 2  a  b"]);
    // A table that somebody edited.
    assert_eq!(unfolded("turns 1..4000000000  a  b").len(), 1);
}

#[test]
fn a_world_is_named_with_or_without_its_turn_and_its_place() {
    let id = judged(0, FaultKind::CutClean, Some(3), Did::Silent, "").world.id();
    for name in ["turn1/cut-clean/3", "turn1/cut-clean", "cut-clean", "turn1"] {
        assert!(WorldData::is_named(&id, name), "{name}");
    }
    for name in ["turn1/cut-clean/4", "turn11/cut-clean", "turn1/cut", "cut-dirty", "turn"] {
        assert!(!WorldData::is_named(&id, name), "{name}");
    }
}

#[test]
fn a_table_of_an_earlier_version_is_compared_in_the_worlds_that_it_has() {
    let all = [
        judged(0, FaultKind::RateLimit, None, Did::Recovered, "in 2 attempts"),
        judged(0, FaultKind::Stall, None, Did::Hung, "waits for the rest"),
        judged(0, FaultKind::Nothing, None, Did::Reported, "event `error`: \"no text\""),
    ];
    let holds = |table: &str| super::holds(table, &matrix(&all));
    let before = "turn 1 lead  rate-limit  recovered  in 2 attempts\nturn 1 lead  nothing  reported  event `error`\n";
    assert_eq!(holds(before), Some(1));
    assert_eq!(holds(&print(&matrix(&all))), Some(0));
    assert_eq!(holds(&before.replace("recovered  in 2 attempts", "went on  asked \"Hi\"")), Some(1));
    assert_eq!(holds(&before.replace("in 2", "in 1")), None);
    assert_eq!(holds(&before.replace("event `error`", "event `err")), None);
    // A world that the table has, and that is not there any more.
    assert_eq!(holds(&format!("{before}turn 2 lead  nothing  reported  event `error`\n")), None);
    // A turn that the table does not have, of a fault that it knows.
    assert_eq!(holds("turn 1 lead  nothing  reported  event `error`\nturn 2 lead  rate-limit  recovered\n"), None);
    // Why a sick system cannot be told is said in other words now.
    let unlike = |unlike| print(&Matrix { unlike: Some(unlike), ..matrix(&all) });
    let now = Matrix { unlike: Some("asks something else"), ..matrix(&all) };
    assert_eq!(super::holds(&unlike("differs"), &now), Some(0));
    assert_eq!(super::holds(before, &now), None);
}

#[test]
fn the_places_of_an_answer_are_one_line_by_its_turn() {
    let at = |turn: usize, after: usize, did: Did| judged(turn, FaultKind::CutClean, Some(after), did, "");
    let all = [1, 4, 8].map(|after| {
        let last = if after == 8 { Did::Recovered } else { Did::Silent };
        [at(0, after, Did::Silent), at(1, after, last), at(2, after, last)]
    });
    let all = all.concat();
    let matrix = is_printed(
        &all,
        "turn 1 lead  cut-clean 1,4,8/9  SILENT\n\
         turns 2..3 lead  cut-clean 1,4/9  SILENT\n\
         turns 2..3 lead  cut-clean 8/9  recovered\n",
    );
    // As it was written before, place by place.
    let before: Vec<String> = all.iter().map(line_of).collect();
    assert_eq!(holds(&before.join("\n"), &matrix), Some(0));
    assert_eq!(holds(&before[1..].join("\n"), &matrix), None);
}

#[test]
fn equal_places_are_one_line_and_unfold_again() {
    let at = |event: usize, did: Did| {
        let mut judged = Judged { caller: None, ..judged(0, FaultKind::Leave, Some(event), did, "") };
        judged.world.spot = Some(Spot::Event { step: 0, event });
        judged
    };
    let recovered = [1, 2, 5, 6, 7].map(|event| at(event, Did::Recovered));
    let all = [&recovered[..], &[at(9, Did::Lost)]].concat();
    let table = "client  leave 1,2,5..7/9  recovered\nclient  leave 9/9  LOST\n";
    let matrix = is_printed(&all, table);
    // As it was written before there were ranges.
    assert_eq!(holds(&table.replace("5..7", "5,6,7"), &matrix), Some(0));
    assert_eq!(holds(&table.replace("5..7", "5,7"), &matrix), None);
    // What fails and is not accepted is marked, in a line of its own.
    let marked = lines(&matrix, |it| it.world.fault.after == Some(2));
    let cells = marked.iter().map(|line| (line.marked, line.cells()[1].clone()));
    let expected = [(false, "leave 1,5..7/9"), (true, "leave 2/9"), (false, "leave 9/9")];
    assert_eq!(cells.collect::<Vec<_>>(), expected.map(|(marked, fault)| (marked, fault.to_owned())));
    assert!(
        WorldData::is_named(&all[2].world.id(), "client/leave/5") && WorldData::is_named("client/leave/5", "leave")
    );
}
