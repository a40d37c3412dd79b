use std::path::PathBuf;

use super::*;
use crate::report::{Failure, RunAction};
use retake_base::cause::{Cause, CauseKind};

fn run(scenario: &str, headline: &str, fixture: &str, advice: Option<(&str, Deed)>) -> RunData {
    let mut failure = Failure::new(headline);
    failure.advice.extend(advice.map(|(command, deed)| Advice::new("if it is intended", command).does(deed)));
    let file = PathBuf::from("scenarios/x/scenario.toml");
    let passed = RunData::passed(scenario, file, RunAction::Test, String::new());
    RunData { failure: Some(failure.data()), fixture: Some(fixture.into()), ..passed }
}

#[test]
fn scenarios_that_fail_alike_are_one_group_and_share_a_recording() {
    let mut runs = vec![
        run("b", "the prompt differs", "shared", Some(("retake record b", Deed::Record))),
        run("a", "the prompt differs", "shared", Some(("retake record a", Deed::Record))),
        run("d", "golden: new", "d", Some(("retake test d --update", Deed::Update))),
        run("e", "golden: new", "e", Some(("retake test e --update", Deed::Update))),
    ];
    runs.push(RunData { failure: None, ..runs[0].clone() });
    let failed = Failed::of(&runs);
    assert_eq!((failed.first_like("a"), failed.first_like("b"), failed.first_like("none")), (Some("b"), None, None));
    assert_eq!(
        failed.lines(),
        [
            "4 scenarios failed, for 2 causes:",
            "  a, b: the prompt differs",
            "  d, e: golden: new",
            "if it is intended:",
            "    retake record a",
            "if it is intended:",
            "    retake test d e --update",
        ]
    );
}

#[test]
fn scenarios_that_fail_otherwise_for_what_is_behind_it_are_one_group() {
    let rooted = |name: &str, headline: &str| {
        let mut run = run(name, headline, name, None);
        let causes = &mut run.failure.as_mut().unwrap().causes;
        causes[0].root = Some("POST /chat answered 500".to_owned());
        run
    };
    let page = rooted("page", "nothing on the page matches");
    let failed =
        Failed::of([&rooted("hello", "found 500"), &page, &run("x", "nothing on the page matches", "x", None)]);
    assert_eq!(failed.first_like("page"), Some("hello"));
    let lines = ["  hello, page: POST /chat answered 500", "  x: nothing on the page matches"];
    assert_eq!(
        (&*failed.lines()[0], &failed.lines()[1..]),
        ("3 scenarios failed, for 2 causes:", &lines.map(String::from)[..])
    );
    // Alone, it is told by its first line.
    let failed = Failed::of([&page, &run("x", "other", "x", None)]);
    assert_eq!(failed.lines()[1], "  page: nothing on the page matches");
}

#[test]
fn one_failure_is_told_once_and_its_own_command_stays() {
    let only = run("b", "x", "b", Some(("UPDATE_GOLDEN=1 cargo test --test scenarios b", Deed::Update)));
    let failed = Failed::of([&only]);
    assert!(failed.lines().is_empty());
    assert_eq!(failed.advice()[0].command, "UPDATE_GOLDEN=1 cargo test --test scenarios b");
}

#[test]
fn what_has_no_recording_is_recorded_once_for_all_that_share_it() {
    let missing = |name: &str| {
        let failure = Failure { does: Some(Deed::Record), ..Failure::new("no fixture") };
        RunData { failure: Some(failure.data()), ..run(name, "", "shared", None) }
    };
    let failed = Failed::of(&[missing("a"), missing("b")]);
    assert_eq!(failed.lines()[1..], ["  a, b: no fixture", "to record what has no recording:", "    retake record a"]);
}

#[test]
fn what_is_behind_a_cause_is_shown_like_its_other_texts() {
    let cause =
        Cause { root: Some("POST /chat?key=abc answered 500".to_owned()), ..Cause::new(CauseKind::Other, "abc") };
    let shown = Failure::of(vec![cause]).with_texts(|text| text.replace("abc", "…"));
    assert_eq!(shown.causes[0].what, "…");
    assert_eq!(shown.causes[0].root.as_deref(), Some("POST /chat?key=… answered 500"));
}
