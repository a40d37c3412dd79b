use super::*;

fn worlds(kinds: &[FaultKind], max: usize) -> Worlds {
    Worlds { kinds: kinds.to_vec(), max, ..Worlds::default() }
}

#[test]
fn worlds_are_in_the_order_of_their_faults_then_places_then_turns() {
    use FaultKind::{CutClean, Nothing};
    let cut = |after| Fault { kind: CutClean, after: Some(after), of: 9 };
    let faults = [vec![cut(1), cut(4), Nothing.whole()], vec![cut(1), Nothing.whole()], vec![Nothing.whole()]];
    let possible = (0..).zip(faults).collect();
    let (all, found) = plan(&worlds(&[Nothing, CutClean], 100), &possible, &[], &[], |_| true);
    let ids = all.iter().map(World::id).collect::<Vec<_>>().join(" ");
    let expected = "turn1/cut-clean/1 turn2/cut-clean/1 turn1/cut-clean/4 turn1/nothing turn2/nothing turn3/nothing";
    assert_eq!((&*ids, found), (expected, None));
    assert_eq!(all[2].said(), "cut-clean 4/9");
    let (one, _) = plan(&worlds(&[Nothing], 100), &possible, &[], &[], |world| world.turn == 1);
    assert_eq!(one.len(), 1);
}

#[test]
fn of_too_many_worlds_some_are_chosen_evenly() {
    let all = (0..10).map(|turn| (turn, vec![FaultKind::Nothing.whole()])).collect();
    let (chosen, found) = plan(&worlds(&[FaultKind::Nothing], 4), &all, &[], &[], |_| true);
    assert_eq!(chosen.iter().map(|world| world.turn).collect::<Vec<_>>(), [0, 2, 5, 7]);
    assert_eq!(found, Some(10));
}

#[test]
fn answers_of_calls_that_were_together_come_in_each_other_order() {
    let orders = |turns: &[usize]| {
        let group: BTreeSet<usize> = turns.iter().copied().collect();
        plan(&worlds(&[FaultKind::Order], 100), &BTreeMap::new(), &[group], &[], |_| true).0
    };
    assert_eq!(orders(&[1, 2]).iter().map(World::said).collect::<Vec<_>>(), ["order 3 2"]);
    assert_eq!(orders(&[0, 1, 2]).len(), 5);
    assert_eq!(orders(&[0, 1, 2, 3]).len(), 23);
    let many = orders(&[0, 1, 2, 3, 4]);
    assert_eq!(many.len(), 9);
    assert!(many.iter().all(World::is_invisible));
}

#[test]
fn places_are_the_ends_and_the_middle_of_runs_of_like_events() {
    let names = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(places(&names("a t t t t t b t e")), [1, 2, 4, 6, 7, 8, 9]);
    assert_eq!(places(&names("a")), [1]);
}
