//! Where the model's words go is asked with a mark in them: short words are held where they come from the model, and equal ones of the
//! service's own are not.

use axum::extract::{Path, State};
use axum::routing::post;
use axum::{Json, Router};
use retake::Stage;
use retake_core::conversation::Message;
use retake_core::key::Rules;
use retake_wire::fixture::Recorded;
use serde_json::{Value, json};

use super::oddities::model;
use crate::support::fixtures::{self, turn};
use crate::support::tree::{Tree, undated};

tests! {
    short_words_of_the_model_are_held_and_a_change_of_them_is_red,
    equal_words_of_the_services_own_are_not_held,
    a_recording_in_other_short_words_changes_no_golden,
    a_service_that_reads_what_the_model_says_is_recorded_as_before,
    a_text_in_another_case_is_not_the_models_any_more,
    the_mark_comes_neither_into_goldens_nor_into_recordings,
}

/// The service `passing`: it asks the model for a capital, and for a sentence about what it said.
pub(crate) fn router(stage: Stage) -> Router {
    Router::new().route("/{how}", post(ask)).with_state(stage)
}

async fn ask(Path(how): Path<String>, State(stage): State<Stage>) -> Json<Value> {
    let mut messages = vec![json!({ "role": "user", "content": "The capital of France?" })];
    let said = model(&stage, json!(messages)).await;
    // A service that branches on what it got.
    if how == "reads" && !["Paris", "Rome"].contains(&said.as_str()) {
        return Json(json!({ "error": "no city" }));
    }
    messages.push(json!({ "role": "assistant", "content": said }));
    // In JSON in a text, too.
    messages.push(json!({ "role": "user", "content": format!("More about {}", json!({ "city": said })) }));
    let more = model(&stage, json!(messages)).await;
    let upper = |text: &str| text.to_uppercase();
    let case = if how == "upper" || std::env::var_os("RETAKE_IT_UPPER").is_some() { upper } else { str::to_owned };
    Json(json!({
        "answer": case(&said),
        "more": case(&more),
        "line": format!("it is {}, I think", case(&said)),
        "places": [{ "at": "Paris" }, { "at": case(&said) }],
        "own": "Paris",
        "list": ["Paris"],
    }))
}

/// Returns a project with a scenario that asks in some way, and a recording in which the model says this.
fn asked(how: &str, said: &str, more: &str) -> Tree {
    let tree = Tree::empty();
    tree.scenario("a", &format!("[[step]]\npost = \"/{how}\"\ngolden = true\n"));
    recorded(&tree, said, more);
    tree
}

fn recorded(tree: &Tree, said: &str, more: &str) {
    let first = turn(None, "The capital of France?", said);
    let answer = Message::new("ai", said);
    let human = Message::new("human", format!("More about {}", json!({ "city": said })));
    let conversation = Rules::default().canonical(vec![Message::new("human", "The capital of France?"), answer, human]);
    let second = Recorded { conversation, ..turn(None, "", more) };
    fixtures::write(tree, "a", vec![first, second]);
}

fn update(tree: &Tree) -> String {
    tree.runner("passing").env("UPDATE_GOLDEN", "1").run().green();
    let golden = tree.read("goldens/a.snap");
    tree.runner("passing").run().green();
    assert!(!golden.contains("own ="), "{golden}");
    golden
}

#[track_caller]
fn lines(golden: &str, expected: &[&str]) {
    let of_turns: Vec<&str> = golden.lines().filter(|line| line.contains("turn ")).map(str::trim).collect();
    assert_eq!(of_turns, expected, "{golden}");
}

fn short_words_of_the_model_are_held_and_a_change_of_them_is_red() {
    for (said, more) in [("Paris", "42"), ("Hi.", "Yes, it is"), ("42", "so")] {
        let tree = asked("plain", said, more);
        let golden = update(&tree);
        lines(&golden, &["/answer, /places/*/at = turn 1", "/line has turn 1", "/more = turn 2"]);
        if said == "Paris" {
            let run = tree.runner("passing").env("RETAKE_IT_UPPER", "1").run().exits(101);
            run.says(&[
                "`/answer` of the body of `POST /plain` is turn 1's text no more: \"PARIS\" in place of \"Paris\"",
            ]);
        }
    }
}

fn equal_words_of_the_services_own_are_not_held() {
    let tree = asked("plain", "Paris", "It is large and old.");
    // The words of both stand in a list of places, and only the service's own in two others.
    lines(&update(&tree), &["/answer, /places/*/at = turn 1", "/line has turn 1", "/more = turn 2"]);
}

fn a_recording_in_other_short_words_changes_no_golden() {
    let tree = asked("plain", "Rome", "42");
    let golden = update(&tree);
    recorded(&tree, "Oslo", "7");
    tree.runner("passing").run().green();
    assert_eq!(undated(&update(&tree)), undated(&golden));
}

fn a_service_that_reads_what_the_model_says_is_recorded_as_before() {
    let tree = asked("reads", "Paris", "It is large and old.");
    lines(&update(&tree), &["/more = turn 2"]);
}

fn a_text_in_another_case_is_not_the_models_any_more() {
    let tree = asked("upper", "Rome", "It is large and old.");
    lines(&update(&tree), &[]);
    let audit = tree.recorder("passing", "audit", "").run().exits(0);
    audit.says(&["a: the golden has no words of turn 1, \"Rome\", and of 1 more turn\n"]);
}

fn the_mark_comes_neither_into_goldens_nor_into_recordings() {
    let tree = asked("plain", "Rome", "It is large and old.");
    let fixture = tree.read("fixtures/a.json");
    let golden = update(&tree);
    assert_eq!(tree.read("fixtures/a.json"), fixture);
    assert!(golden.contains("turn 1"), "{golden}");
    let marked: Vec<String> =
        tree.files().into_iter().filter(|(_, text)| text.contains('ǀ')).map(|(name, _)| name).collect();
    assert_eq!(marked, [""; 0]);
}
