//! Goldens and fixtures that wait for a person's decision: they are shown, accepted with a proof, or rejected.

use crate::support::program::{Program, Ran};
use crate::support::tree::Tree;
use crate::systems::described::{CHAT, READY, system};
use crate::systems::provider::record;

tests! { a_pending_golden_is_shown_and_accepted_with_a_proof,
    a_rejected_golden_is_removed_and_a_skipped_one_keeps_waiting,
    a_pending_golden_that_the_service_no_longer_sends_is_not_accepted,
    a_golden_that_varies_is_not_accepted,
    one_letter_shows_the_golden_side_by_side_or_whole,
    nothing_is_accepted_in_ci,
    a_name_with_nothing_pending_is_an_error,
    a_runner_with_routers_can_accept_a_golden,
    a_proposed_fixture_waits_with_its_golden_and_replaces_the_old_one,
}

const PENDING: &str = "goldens/chat.snap.new";
const GOLDEN: &str = "goldens/chat.snap";

/// Returns a recorded project whose golden differs from what the service sends, so a pending golden waits.
fn waiting() -> Tree {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", CHAT);
    record(&tree, &["chat"]).green();
    tree.replace(GOLDEN, "answer    {answer}", "answer    {reply}");
    tree.retake().arg("test").run().red(&["to look at it first:\n    retake review"]);
    assert!(tree.has(PENDING));
    tree
}

fn review(tree: &Tree, answers: &str) -> Program {
    tree.retake().arg("review").env("COLUMNS", "80").input(answers)
}

#[track_caller]
fn is_accepted(tree: &Tree) {
    assert!(tree.read(GOLDEN).contains("answer    {answer}") && !tree.has(PENDING), "{:?}", tree.files().keys());
    tree.retake().arg("test").run().green();
}

fn a_pending_golden_is_shown_and_accepted_with_a_proof() {
    let tree = waiting();
    let reviewed = review(&tree, "a\n").run().exits(0);
    let says = [
        "1 of 1 · golden chat",
        "goldens/chat.snap: - committed, + what waits",
        "- answer    {reply}\n+ answer    {answer}\n",
    ];
    let reviewed = reviewed.says(&says).says(&["[a]ccept", "1 accepted, 0 rejected, 0 left"]);
    assert!(reviewed.stderr.contains("chat: accepted, two replays agree: goldens/chat.snap"), "{}", reviewed.stderr);
    is_accepted(&tree);
    review(&tree, "").run().exits(0).says(&["nothing waits for a decision"]);
    // `retake accept` asks no questions.
    let tree = waiting();
    tree.retake().arg("accept").run().exits(0).says(&["chat: accepted, two replays agree"]);
    is_accepted(&tree);
}

fn a_rejected_golden_is_removed_and_a_skipped_one_keeps_waiting() {
    let tree = waiting();
    let before = tree.read(GOLDEN);
    for left in ["s\n", "q\n", ""] {
        review(&tree, left).run().exits(0).says(&["0 accepted, 0 rejected, 1 left"]);
        assert!(tree.has(PENDING));
    }
    review(&tree, "what?\nr\n").run().exits(0).says(&["0 accepted, 1 rejected, 0 left"]);
    assert!(!tree.has(PENDING) && tree.read(GOLDEN) == before);
    let tree = waiting();
    tree.retake().args(&["reject", "chat"]).run().exits(0).says(&["chat: rejected, goldens/chat.snap stays as it is"]);
    assert!(!tree.has(PENDING));
}

fn a_pending_golden_that_the_service_no_longer_sends_is_not_accepted() {
    let tree = waiting();
    let before = tree.read(GOLDEN);
    tree.replace(PENDING, "answer    {answer}", "answer    {other}");
    tree.retake().args(&["accept", "chat"]).run().exits(1).says(&[
        "error: chat: not accepted: the golden that waited is not what the service sends now",
        "- answer    {other}\n+ answer    {answer}\n",
        "retake review",
    ]);
    assert_eq!(tree.read(GOLDEN), before);
    // The golden that waits is replaced by what the service sends now.
    assert!(tree.read(PENDING).contains("answer    {answer}"));
    review(&tree, "a\n").run().exits(0).says(&["1 accepted"]);
    is_accepted(&tree);
}

fn a_golden_that_varies_is_not_accepted() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("pid", "fixture = \"none\"\n[[step]]\nget = \"/pid\"\ngolden = true\n[golden]\nshow = [\"/pid\"]\n");
    tree.retake().arg("test").run().exits(1);
    assert!(tree.has("goldens/pid.snap.new"));
    tree.retake().args(&["accept", "pid"]).run().exits(1).says(&["error: pid: not accepted: ", "unstable"]);
    assert!(!tree.has("goldens/pid.snap"));
}

fn one_letter_shows_the_golden_side_by_side_or_whole() {
    let tree = waiting();
    let ran: Ran = review(&tree, "b\nw\nu\nq\n").run().exits(0);
    let beside = "- answer    {reply}                    │ + answer    {answer}\n";
    let ran = ran.says(&[
        "- answer    {reply}\n+ answer",
        beside,
        "  POST /chat\n  200 text/event-stream",
        "- answer    {reply}\n+ answer",
    ]);
    assert!(ran.stdout.lines().all(|line| line.chars().count() <= 80), "{}", ran.stdout);
}

fn nothing_is_accepted_in_ci() {
    let tree = waiting();
    let before = tree.files();
    tree.retake().arg("accept").env("CI", "true").run().exits(2).says(&["with CI set"]);
    assert_eq!(tree.files(), before);
}

fn a_name_with_nothing_pending_is_an_error() {
    let tree = waiting();
    for command in ["accept", "reject"] {
        let says = ["nothing waits for a decision on `chatt`", "did you mean `chat`?"];
        tree.retake().args(&[command, "chatt"]).run().exits(2).says(&says);
    }
}

fn a_runner_with_routers_can_accept_a_golden() {
    let tree = Tree::of(&["write_read_file"]);
    let golden = "goldens/write_read_file.snap";
    tree.replace(golden, "run_id     id\n", "run_id     number\n");
    tree.runner("gateway").run().exits(101);
    tree.recorder("gateway", "accept", "").run().exits(0).says(&["write_read_file: accepted, two replays agree"]);
    assert!(tree.read(golden).contains("run_id     id\n") && !tree.has(&format!("{golden}.new")));
}

fn a_proposed_fixture_waits_with_its_golden_and_replaces_the_old_one() {
    let tree = Tree::with_suite(&system("agent", "", READY));
    tree.scenario("chat", CHAT);
    record(&tree, &["chat"]).green();
    let (fixture, golden) = (tree.read("fixtures/chat.json"), tree.read(GOLDEN));
    tree.replace("scenarios/chat/scenario.toml", "hello", "hello there");
    let proposed = record(&tree, &["chat", "--propose"]);
    proposed.green();
    proposed.tells(&["fixtures/chat.json.new", "retake review"]);
    assert_eq!((tree.read("fixtures/chat.json"), tree.read(GOLDEN)), (fixture, golden));
    let ran = review(&tree, "a\n").run().exits(0);
    ran.says(&["fixture chat", "human", "hello there", "1 accepted, 0 rejected, 0 left"]);
    assert!(tree.read("fixtures/chat.json").contains("hello there") && !tree.has("fixtures/chat.json.new"));
    tree.retake().arg("test").run().green();
}
