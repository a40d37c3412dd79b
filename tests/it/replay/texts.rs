//! The texts of collapsed events are held, whatever their keys and ids are, and however they are cut.

use retake::__private::run::{Action, AuditOptions};

use crate::replay::mutation::Mutation::{self, All, Cut, DropKey, RenameKey, UpperCase};
use crate::runner::routers::mutated;
use crate::support::program::{Program, Ran};
use crate::support::tree::{Tree, undated};

tests! { a_text_without_ids_is_held_and_its_place_stays_in_the_golden,
    a_text_that_was_never_the_models_is_said_not_to_be_held,
    a_golden_that_names_no_places_is_red_and_an_update_names_them,
    the_audit_changes_texts_without_ids_too,
}

const NAME: &str = "write_read_file";
const GOLDEN: &str = "goldens/write_read_file.snap";

fn messages() -> String {
    "messages".to_owned()
}

/// Chunks without an id, under a key that nobody knows.
fn tokens() -> Vec<Mutation> {
    let at = "/content".to_owned();
    vec![
        DropKey { event: messages(), at: "/id".to_owned() },
        RenameKey { event: messages(), at, to: "piece".to_owned() },
    ]
}

fn upper_case() -> Mutation {
    UpperCase { event: messages(), at: "/piece".to_owned() }
}

fn with(more: Vec<Mutation>) -> Mutation {
    All([tokens(), more].concat())
}

fn updated(tree: &Tree, mutation: &Mutation) -> Ran {
    let program: Program = mutated(tree, mutation);
    program.env("UPDATE_GOLDEN", "1").run().exits(0)
}

fn a_text_without_ids_is_held_and_its_place_stays_in_the_golden() {
    let tree = Tree::of(&[NAME]);
    updated(&tree, &with(vec![]));
    assert!(tree.read(GOLDEN).contains("\nmessages  …  /piece = turn 3\n"), "{}", tree.read(GOLDEN));
    mutated(&tree, &with(vec![])).run().green();
    // Cut in another way.
    mutated(&tree, &with(vec![Cut { event: messages(), at: "/piece".to_owned() }])).run().green();
    // Nothing that was recorded is at that place now, but the golden names it.
    mutated(&tree, &with(vec![upper_case()])).run().exits(101).says(&[
        "golden: `/piece` of the event `messages` is turn 3's text no more: \"I WROTE NOTE.TXT",
        "if the change is intended:",
    ]);
}

fn a_text_that_was_never_the_models_is_said_not_to_be_held() {
    let tree = Tree::of(&[NAME]);
    updated(&tree, &with(vec![upper_case()]));
    assert!(tree.read(GOLDEN).contains("\nmessages  …  (text not held)\n"), "{}", tree.read(GOLDEN));
    mutated(&tree, &with(vec![upper_case()])).run().green();
}

fn a_golden_that_names_no_places_is_red_and_an_update_names_them() {
    let tree = Tree::of(&[NAME]);
    let new = tree.read(GOLDEN);
    tree.replace(GOLDEN, "messages  …  /content by /id = ", "messages  …  ");
    tree.runner("gateway").run().exits(101).says(&["UPDATE_GOLDEN=1 cargo test --test scenarios write_read_file"]);
    tree.runner("gateway").env("UPDATE_GOLDEN", "1").run().green();
    // A golden that could not be read says nothing of which numbers are open.
    let others = |golden: &str| -> Vec<String> {
        undated(golden).lines().filter(|line| !line.contains("_tokens ")).map(str::to_owned).collect()
    };
    assert_eq!(others(&tree.read(GOLDEN)), others(&new));
}

fn the_audit_changes_texts_without_ids_too() {
    let tree = Tree::of(&[NAME]);
    updated(&tree, &with(vec![]));
    let all = Action::Audit(Vec::new(), AuditOptions { all: true, ..AuditOptions::default() });
    let audit = |mutation: &Mutation| mutated(&tree, mutation).handed_over(&all).run().exits(0);
    audit(&with(vec![])).says(&["change a streamed text"]).never_says("messages /piece");
    updated(&tree, &with(vec![upper_case()]));
    audit(&with(vec![upper_case()])).says(&["change a streamed text", "messages /piece"]);
}
