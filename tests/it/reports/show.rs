//! `retake show`: a fixture as a person reads it.

use crate::support::tree::Tree;

tests! { a_fixture_is_shown_as_a_conversation_in_which_each_message_stands_once,
    one_turn_is_shown_whole_with_all_that_the_model_was_sent,
    callers_of_one_conversation_are_told_apart_by_what_differs,
    what_is_no_fixture_is_named_with_the_nearest,
}

fn show(tree: &Tree, args: &[&str]) -> crate::support::program::Program {
    tree.retake().arg("show").args(args).env("COLUMNS", "80")
}

fn a_fixture_is_shown_as_a_conversation_in_which_each_message_stands_once() {
    let tree = Tree::of(&["write_read_file"]);
    let shown = show(&tree, &["write_read_file"]).run().exits(0).says(&[
        "fixtures/write_read_file.json",
        "4 turns by lead_agent (3), middleware:title (1); 475 tokens read, 95 written",
        "recorded from gpt-4o-mini over openai-chat",
        "replayed in write_read_file",
        "turns[0] · lead_agent",
        "66 + 40 tokens",
        "system        You are a helpful assistant.",
        "tools         write_file, read_file, ls",
        "human         Create note.txt",
        "→ calls       write_file {\"content\": \"hi from replay.\", \"path\": \"note.txt\"}",
        "continues from turns[0], with the result of `write_file`",
        "← write_file  Wrote 15 bytes to note.txt",
        "→ ai          I wrote note.txt and read it back.",
        "turns[3] · middleware:title",
        "begins a conversation",
    ]);
    assert_eq!(shown.stdout.matches("Wrote 15 bytes").count(), 1);
    assert_eq!(shown.stdout.matches("You are a helpful").count(), 1);
    assert!(shown.stdout.lines().all(|line| line.chars().count() <= 80), "{}", shown.stdout);
    // By its file too, from anywhere.
    let of_file = show(&tree, &["fixtures/write_read_file.json"]).run().exits(0);
    assert_eq!(of_file.stdout, shown.stdout);
}

fn one_turn_is_shown_whole_with_all_that_the_model_was_sent() {
    let tree = Tree::of(&["write_read_file"]);
    show(&tree, &["write_read_file", "--turn", "2"]).run().exits(0).says(&[
        "turns[2]",
        "You are a helpful",
        "Create note.txt",
        "ai            calls write_file",
        "Wrote 15 bytes",
        "→ ai",
        "wire          openai-chat, 200 ",
        "key           ",
    ]);
    show(&tree, &["write_read_file", "--turn", "4"])
        .run()
        .exits(2)
        .says(&["there is no turns[4]", "the fixture has 4 turns, counted from 0"]);
}

fn callers_of_one_conversation_are_told_apart_by_what_differs() {
    let tree = Tree::of(&["two_callers"]);
    show(&tree, &["two_callers"]).run().exits(0).says(&["the conversation of turns[0], by a different caller"]);
}

fn what_is_no_fixture_is_named_with_the_nearest() {
    let tree = Tree::of(&["two_callers"]);
    show(&tree, &["two_caller"])
        .run()
        .exits(2)
        .says(&["`two_caller` is neither a scenario nor a fixture", "did you mean `two_callers`?"]);
}
