//! Faults that a test plants in a project, and that `retake audit` finds.

use retake_core::key::Check;
use retake_wire::fixture::Recorded;

use super::printed::audited;
use crate::support::fixtures::{self, reworded};
use crate::support::tree::Tree;

tests! { a_rule_that_gives_two_calls_the_same_key_is_found_and_both_are_shown,
    a_rule_that_changes_nothing_is_found,
    a_rule_that_hides_changes_of_tool_results_is_named,
    a_secret_in_a_fixture_is_found_at_its_place,
    a_changed_prompt_is_found_even_if_drift_is_ignored,
    two_callers_with_the_same_name_are_found,
    callers_that_say_the_same_are_found,
    a_collapse_that_is_too_wide_is_found,
    turns_without_the_recorded_response_are_found,
}

const NAME: &str = "write_read_file";

/// Returns a turn for the service `oddities`, which passes each question to the model as JSON.
fn turn(said: &str, answer: &str) -> Recorded {
    fixtures::turn(None, &format!("{said:?}"), answer)
}

/// Returns a project with a scenario that asks these questions one after another, and its fixture.
fn asking(questions: &[&str], turns: Vec<Recorded>) -> Tree {
    let tree = Tree::with_suite("settle = \"100ms\"\nlinger = \"0s\"\n");
    let step = |question: &&str| {
        format!(
            "[[step]]\npost = \"/ask\"\nheaders = {{ content-type = \"text/plain\" }}\njson = {question:?}\nstream = {{ last = \"end\" }}\n"
        )
    };
    tree.scenario("asking", &questions.iter().map(step).collect::<String>());
    fixtures::write(&tree, "asking", turns);
    tree
}

/// Adds a `[[normalize]]` rule to the suite.
fn add_rule(tree: &Tree, pattern: &str, replace: &str) {
    let suite = tree.read("scenarios/suite.toml");
    let rule = format!("\n[[normalize]]\npattern = '{pattern}'\nreplace = '{replace}'\n");
    tree.write("scenarios/suite.toml", &(suite + &rule));
}

/// Computes the keys of a fixture by the current rules, and writes its golden.
fn settle(tree: &Tree, fixture: &str, system: &str) {
    tree.retake().args(&["key", "--write", &format!("fixtures/{fixture}.json")]).run().green();
    tree.runner(system).env("UPDATE_GOLDEN", "1").run().green();
}

fn a_rule_that_gives_two_calls_the_same_key_is_found_and_both_are_shown() {
    let turns = [("Where is order 12?", "On its way."), ("Where is order 17?", "It was lost.")];
    let recorded = turns.map(|(said, answer)| turn(said, answer)).to_vec();
    let tree = asking(&turns.map(|(said, _)| said), recorded);
    add_rule(&tree, "order [a-z]+", "order <WORD>");
    add_rule(&tree, r"\d+", "<NUMBER>");
    settle(&tree, "asking", "oddities");
    audited(&tree, "oddities", "audit").exits(0).says(&[
        "rule 2 of [[normalize]], `\\d+`, makes the calls of turn 1 and turn 2 in asking equal:",
        "Where is order 12?",
        "Where is order 17?",
    ]);
    // A rule that keeps the calls apart is not reported.
    let tree = asking(&turns.map(|(said, _)| said), turns.map(|(s, a)| turn(s, a)).to_vec());
    add_rule(&tree, "Where is", "<WHERE>");
    settle(&tree, "asking", "oddities");
    audited(&tree, "oddities", "audit").exits(0).never_says("[[normalize]]");
}

fn a_rule_that_changes_nothing_is_found() {
    let tree = Tree::of(&[NAME]);
    add_rule(&tree, r"ticket-\d+", "<TICKET>");
    let run = audited(&tree, "gateway", "audit").exits(0);
    run.says(&["rule 1 of [[normalize]], `ticket-\\d+`, changed no text in any scenario"]);
    let tree = Tree::of(&[NAME]);
    add_rule(&tree, r"\b15 bytes\b", "<SIZE>");
    settle(&tree, NAME, "gateway");
    audited(&tree, "gateway", "audit").exits(0).never_says("changed no text");
}

fn a_rule_that_hides_changes_of_tool_results_is_named() {
    let tree = Tree::of(&[NAME]);
    let before = audited(&tree, "gateway", "audit").exits(0);
    assert!(!before.stdout.contains("hidden by"), "{}", before.stdout);
    add_rule(&tree, r"Wrote \d+ bytes.*", "<WROTE>");
    settle(&tree, NAME, "gateway");
    audited(&tree, "gateway", "audit").exits(0).says(&["tool result", "hidden by rule 1 of [[normalize]], `Wrote"]);
}

fn a_secret_in_a_fixture_is_found_at_its_place() {
    let tree = Tree::of(&[NAME]);
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8");
    tree.replace(
        &format!("fixtures/{NAME}.json"),
        "  \"format\": \"retake/2\",\n",
        &format!("  \"context\": {{\"note\": \"as {secret}\"}},\n  \"format\": \"retake/2\",\n"),
    );
    let run = audited(&tree, "gateway", "audit").exits(0);
    run.says(&[&format!("fixtures/{NAME}.json: context.note contains a secret: ")]).never_says(&secret);
    audited(&Tree::of(&[NAME]), "gateway", "audit").exits(0).never_says("secret");
}

fn a_changed_prompt_is_found_even_if_drift_is_ignored() {
    let tree = Tree::of(&[NAME]);
    fixtures::edit(&tree, NAME, |turns| {
        for turn in turns.iter_mut().filter(|turn| turn.caller.as_deref() == Some("lead_agent")) {
            reworded(turn, Check::Prompt, |prompt| format!("{prompt} Whistle."));
        }
    });
    let suite = tree.read("scenarios/suite.toml");
    tree.write("scenarios/suite.toml", &format!("drift = {{ prompt = \"ignore\" }}\n{suite}"));
    let run = audited(&tree, "gateway", "audit").exits(0);
    run.says(&["write_read_file: drift: prompt changed in the call by `lead_agent`", "Whistle."]);
    audited(&Tree::of(&[NAME]), "gateway", "audit").exits(0).never_says("drift");
}

fn two_callers_with_the_same_name_are_found() {
    let mut turns = [("Hello", "Good day"), ("Hello", "Good day")].map(|(s, a)| turn(s, a)).to_vec();
    *turns[1].text(Check::Prompt) = Some("Rate the answer.".into());
    let tree = asking(&["Hello", "Hello"], turns);
    audited(&tree, "oddities", "audit").says(&[
        "fixtures/asking.json: turn 1 and turn 2 of `nobody` have the same key:",
        "they differ in prompt",
        "[[callers]]",
    ]);
    let tree = asking(&["Hello", "Hello"], [(); 2].map(|()| turn("Hello", "Good day")).to_vec());
    settle(&tree, "asking", "oddities");
    audited(&tree, "oddities", "audit").exits(0).never_says("have the same key");
}

fn callers_that_say_the_same_are_found() {
    audited(&Tree::of(&["two_callers"]), "gateway", "audit").exits(0).says(&[
        "fixtures/two_callers.json: turn 1 and turn 2 have the same conversation:",
        "`subagent:critic` and `subagent:optimist`",
    ]);
}

fn a_collapse_that_is_too_wide_is_found() {
    let tree = Tree::of(&[NAME]);
    let file = format!("scenarios/{NAME}/scenario.toml");
    tree.replace(&file, "collapse = [\"messages\"]", "collapse = [\"messages\", \"values\"]");
    tree.runner("gateway").env("UPDATE_GOLDEN", "1").run().green();
    let run = audited(&tree, "gateway", "audit").exits(0);
    let wide = |line: &&str| line.contains("collapse = [\"values\"] hides ") && line.ends_with("it is too wide");
    assert_eq!(run.stdout.lines().filter(wide).count(), 1, "{}", run.stdout);
    run.says(&["noticed without \"values\" in `collapse`", "drop an event"]);
}

fn turns_without_the_recorded_response_are_found() {
    let tree = Tree::of(&[NAME]);
    let file = format!("fixtures/{NAME}.json");
    let mut fixture: serde_json::Value = serde_json::from_str(&tree.read(&file)).unwrap();
    let turns = fixture["turns"].as_array_mut().unwrap();
    let title = turns.last_mut().unwrap().as_object_mut().unwrap();
    title.remove("wire").unwrap();
    let said = serde_json::json!({"blocks": [{"type": "text", "text": "Writing and reading a note"}]});
    title.insert("output".to_owned(), said);
    let all = turns.len();
    tree.write(&file, &serde_json::to_string_pretty(&fixture).unwrap());
    let run = audited(&tree, "gateway", "audit");
    run.says(&[format!("{file}: 1 of {all} turns without the recorded response")]);
}
