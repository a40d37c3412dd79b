//! Faults that only a page can show, such as a reversed order or a text that never appears.

use axum::body::Body;
use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use retake::Stage;

use crate::support::fixtures;
use crate::support::loopback::client;
use crate::support::tree::{SCENARIOS, Tree, project, standalone};

tests!(
    a_history_shown_backwards_is_noticed_on_the_page_and_nowhere_else,
    a_changed_word_in_the_title_turn_is_noticed_as_a_miss_and_on_the_page,
    a_miss_never_renders_as_a_recorded_answer,
    a_turn_that_the_fixture_lacks_is_an_error_and_not_a_skipped_act,
);

/// The variable that holds a replacement in the page's scripts: `FROM → TO`.
const CHANGE: &str = "RETAKE_IT_PAGE";

/// Returns the gateway with its page and its routes for tests.
pub(crate) fn router(stage: &Stage) -> Result<axum::Router, gateway::Error> {
    let config = gateway::Config::new(stage.workdir(), &stage.model().openai, stage.key());
    let gateway = gateway::router(gateway::Config { seeding: true, http: Some(client()), ..config })?;
    Ok(gateway.layer(from_fn(change)))
}

async fn change(request: Request, next: Next) -> Response {
    let is_script = std::path::Path::new(request.uri().path()).extension().is_some_and(|ending| ending == "js");
    let response = next.run(request).await;
    let Some((from, to)) = std::env::var(CHANGE)
        .ok()
        .filter(|_| is_script)
        .and_then(|change| change.split_once(" → ").map(|(from, to)| (from.to_owned(), to.to_owned())))
    else {
        return response;
    };
    let (mut parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    parts.headers.remove(axum::http::header::CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(String::from_utf8_lossy(&bytes).replace(&from, &to)))
}

/// Returns a project with some of Retake's own scenarios, each with the other files that it needs.
fn tree_of(scenarios: &[(&str, &[&str])]) -> Tree {
    let tree = Tree::of(&[]);
    for (name, files) in scenarios {
        tree.write(&format!("scenarios/{name}/scenario.toml"), &standalone(name));
        for file in *files {
            tree.write(file, &project(file));
        }
    }
    tree
}

const ANSWER: (&str, &[&str]) = ("page_answer", &["fixtures/whole_run.json", "goldens/page_answer.snap"]);

fn a_history_shown_backwards_is_noticed_on_the_page_and_nowhere_else() {
    let tree = Tree::of(&SCENARIOS);
    tree.write("scenarios/page_history/scenario.toml", &standalone("page_history"));
    tree.runner("page").run().green();

    let backwards = "const element = list.appendChild(document.createElement(\"li\")); → \
        const element = document.createElement(\"li\"); list.prepend(element);";
    let ran = tree.runner("page").env(CHANGE, backwards).run();
    let ran = ran.exits(101).says(&[
        "---- page_history ----",
        "failed to take step 4 (browser /chat/",
        "above `text:ALPHA-FIRST-QUESTION`, `text:The first answer.`",
        "ends at",
        "the accessibility tree near it",
    ]);
    ran.tells(&["test page_history       ... FAILED", &format!("{} passed; 1 failed", SCENARIOS.len() + 1)]);
    assert!(tree.has(".retake/browser/page_history/step-4-above/failure.png"));
}

fn a_changed_word_in_the_title_turn_is_noticed_as_a_miss_and_on_the_page() {
    let tree = tree_of(&[ANSWER]);
    tree.runner("page").env("UPDATE_GOLDEN", "1").run().green();
    fixtures::edit(&tree, "whole_run", |turns| {
        let title = turns.iter_mut().find(|turn| turn.caller.as_deref() == Some("middleware:title")).unwrap();
        fixtures::change_word(&mut title.conversation[0], "concise", "precise");
    });
    let ran = tree.runner("page").run().exits(101);
    ran.tells(&[
        "replay miss: message 1 (human) of `middleware:title` says different text than recorded (\"precise\" → \"concise\")",
        "after that: scenarios/page_answer/scenario.toml",
        "see `role:heading Writing and reading a note`: waited 10s, but nothing on the page matches",
    ]);
}

fn a_miss_never_renders_as_a_recorded_answer() {
    let tree = tree_of(&[ANSWER]);
    fixtures::edit(&tree, "whole_run", |turns| {
        let answer = turns.iter_mut().rfind(|turn| turn.caller.as_deref() == Some("lead_agent")).unwrap();
        fixtures::change_word(&mut answer.conversation[0], "note.txt", "node.txt");
    });
    // Without this line, the first thing that the scenario looks for is the answer.
    tree.replace(
        "scenarios/page_answer/scenario.toml",
        "  { see = \"role:heading {{ turn('middleware:title').text }}\" },\n",
        "",
    );
    let ran = tree.runner("page").run().exits(101);
    ran.tells(&[
        "replay miss: message 1 (human) of `lead_agent` says different text than recorded (\"node.txt\" → \"note.txt\")",
        "`text:I wrote note.txt and read it back.",
        "nothing on the page matches",
    ]);
    // The page shows the error that the service sends in place of the answer.
    let shown = tree.read(".retake/browser/page_answer/step-2-once/failure.txt");
    assert!(shown.contains("text \"I'm sorry, something went wrong on my side. Please try again.\""), "{shown}");
}

fn a_turn_that_the_fixture_lacks_is_an_error_and_not_a_skipped_act() {
    let tree = tree_of(&[ANSWER]);
    let file = "scenarios/page_answer/scenario.toml";
    for (from, to, says) in [
        ("turn('suggest_agent').json[0]", "turn('suggest_agents').json[0]", "no turn of `suggest_agents`"),
        ("turn('suggest_agent').json[0]", "turn('suggest_agent').json[7]", "is not defined"),
        (
            "  { see = \"role:heading {{ turn('middleware:title').text",
            "  { see = \"role:heading {{ turn('lead_agent').text",
            "the fixture has 3 turns of `lead_agent`: say which",
        ),
    ] {
        let tree_file = tree.read(file);
        tree.replace(file, from, to);
        tree.runner("page").run().exits(101).tells(&[says]);
        tree.write(file, &tree_file);
    }
}
