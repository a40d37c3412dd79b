use std::collections::BTreeMap;
use std::sync::mpsc;

use super::*;

fn slots(count: usize, scenarios: &[(&str, Option<&str>)]) -> Slots {
    let slots = Slots::new();
    let owned = |(name, alone): &(&str, Option<&str>)| ((*name).to_owned(), alone.map(|system| claim(system, false)));
    slots.open(count, scenarios.iter().map(owned).collect::<BTreeMap<_, _>>(), false);
    slots
}

fn claim(system: &str, passes_on: bool) -> Claim {
    Claim { system: system.to_owned(), passes_on }
}

fn has_turn(slots: &Slots, name: &str) -> bool {
    slots.state.lock().next() == Some(name)
}

#[test]
fn scenarios_run_in_order_even_if_a_later_one_asks_first() {
    let slots = slots(1, &[("a", None), ("b", None), ("c", None)]);
    let (tell, told) = mpsc::channel();
    std::thread::scope(|scope| {
        for name in ["c", "b", "a"] {
            let (slots, tell) = (&slots, tell.clone());
            scope.spawn(move || {
                let _turn = slots.turn(name, None);
                tell.send(name).unwrap();
            });
        }
    });
    assert_eq!(told.try_iter().collect::<Vec<_>>(), ["a", "b", "c"]);
}

#[tokio::test]
async fn a_lingering_scenario_passes_on_its_slot_and_keeps_its_system() {
    let slots = slots(1, &[("a", Some("shared")), ("b", Some("shared")), ("c", None)]);
    let turn = slots.turn("a", Some(claim("shared", false)));
    assert!(!has_turn(&slots, "c"));
    let place = slots.linger("a", false).await;
    assert!(!has_turn(&slots, "b") && has_turn(&slots, "c"));
    drop((turn, place));
    assert!(has_turn(&slots, "b"));
}

#[tokio::test]
async fn a_lingering_scenario_passes_on_its_system_where_both_share_it() {
    let slots = Slots::new();
    let scenarios = [("a", true), ("b", true), ("c", false)];
    slots.open(1, scenarios.map(|(name, passes)| (name.to_owned(), Some(claim("shared", passes)))).into(), false);
    let turn = slots.turn("a", Some(claim("shared", true)));
    assert!(["b", "c"].iter().all(|name| !has_turn(&slots, name)));
    let place = slots.linger("a", false).await;
    assert!(has_turn(&slots, "b"));
    let other = slots.turn("b", Some(claim("shared", true)));
    let other_place = slots.linger("b", false).await;
    // It wants the system for itself alone.
    assert!(!has_turn(&slots, "c"));
    drop((turn, place, other, other_place));
    assert!(has_turn(&slots, "c"));
}

#[tokio::test]
async fn a_scenario_without_a_place_to_linger_waits_for_one() {
    let slots = slots(1, &[("last", None)]);
    let places: Vec<_> = futures_util::future::join_all((0..COMMANDS).map(|_| slots.linger("earlier", true))).await;
    let turn = slots.turn("last", None);
    let lingering = slots.linger("last", true);
    tokio::pin!(lingering);
    assert!(futures_util::FutureExt::now_or_never(lingering.as_mut()).is_none());
    assert!(slots.state.lock().playing["last"].has_slot);
    drop(places);
    assert!(lingering.await.is_some());
    assert!(!slots.state.lock().playing["last"].has_slot);
    drop(turn);
}

#[test]
fn a_trial_that_ends_before_it_runs_delays_no_other() {
    let slots = slots(1, &[("a", None), ("b", None)]);
    drop(Turn { slots: &slots, name: "a" });
    assert!(has_turn(&slots, "b"));
}

#[tokio::test]
async fn a_scenario_can_keep_its_slot_until_it_is_judged() {
    let slots = Slots::new();
    slots.open(1, [("a".to_owned(), None), ("b".to_owned(), None)].into(), true);
    let turn = slots.turn("a", None);
    let place = slots.linger("a", false).await;
    slots.leave("a");
    assert!(!has_turn(&slots, "b"));
    drop((turn, place));
    assert!(has_turn(&slots, "b"));
}
