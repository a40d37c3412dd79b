//! `retake show`: prints a fixture for a person.

use crate::support::tree::Tree;

tests! { a_fixture_is_shown_as_a_conversation_with_each_message_once,
    one_turn_is_shown_with_everything_that_was_sent_to_the_model,
    callers_with_the_same_conversation_are_distinguished,
    an_unknown_fixture_is_reported_with_the_nearest_name,
}

fn show(tree: &Tree, args: &[&str]) -> crate::support::program::Program {
    tree.retake().arg("show").args(args).env("COLUMNS", "80")
}

fn a_fixture_is_shown_as_a_conversation_with_each_message_once() {
    let tree = Tree::of(&["write_read_file"]);
    let shown = show(&tree, &["write_read_file"]).run().exits(0).says(&[
        "fixtures/write_read_file.json",
        "4 turns by lead_agent (3), middleware:title (1); 475 tokens read, 95 written",
        "recorded from gpt-4o-mini over openai-chat",
        "replayed in write_read_file",
        "turn 1 · lead_agent",
        "66 + 40 tokens",
        "system        You are a helpful assistant.",
        "tools         write_file, read_file, ls",
        "human         Create note.txt",
        "→ calls       write_file {\"content\": \"hi from replay.\", \"path\": \"note.txt\"}",
        "continues from turn 1, with the result of `write_file`",
        "← write_file  Wrote 15 bytes to note.txt",
        "→ ai          I wrote note.txt and read it back.",
        "turn 4 · middleware:title",
        "begins a conversation",
    ]);
    assert_eq!(shown.stdout.matches("Wrote 15 bytes").count(), 1);
    assert_eq!(shown.stdout.matches("You are a helpful").count(), 1);
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 80), "{}", shown.stdout);
    // The fixture can also be named by its file.
    let of_file = show(&tree, &["fixtures/write_read_file.json"]).run().exits(0);
    assert_eq!(of_file.stdout, shown.stdout);
}

fn one_turn_is_shown_with_everything_that_was_sent_to_the_model() {
    let tree = Tree::of(&["write_read_file"]);
    show(&tree, &["write_read_file", "--turn", "3"]).run().exits(0).says(&[
        "turn 3",
        "You are a helpful",
        "Create note.txt",
        "ai            calls write_file",
        "Wrote 15 bytes",
        "→ ai",
        "wire          openai-chat, 200 ",
        "key           ",
    ]);
    show(&tree, &["write_read_file", "--turn", "5"])
        .run()
        .exits(2)
        .says(&["there is no turn 5", "the fixture has 4 turns"]);
}

fn callers_with_the_same_conversation_are_distinguished() {
    let tree = Tree::of(&["two_callers"]);
    show(&tree, &["two_callers"]).run().exits(0).says(&["the conversation of turn 1, by a different caller"]);
}

fn an_unknown_fixture_is_reported_with_the_nearest_name() {
    let tree = Tree::of(&["two_callers"]);
    show(&tree, &["two_caller"])
        .run()
        .exits(2)
        .says(&["`two_caller` is neither a scenario nor a fixture", "did you mean `two_callers`?"]);
}
