//! The comment of `packages/action` in a pull request, against a stand-in of GitHub's API.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::support::program::{Program, Ran};
use crate::support::tree::{Tree, repository};

tests! {
    one_comment_is_written_and_then_kept_up_to_date,
    a_fork_without_a_token_that_writes_is_told_in_the_summary,
    the_action_runs_the_commands_that_there_are,
}

/// The comments of the one pull request, and what was asked in order.
#[derive(Default)]
struct GitHub {
    may_write: bool,
    comments: Vec<Value>,
    asked: Vec<String>,
}

fn github(may_write: bool) -> (SocketAddr, Arc<Mutex<GitHub>>) {
    let person = json!({"id": 1, "body": "<!-- retake: scenarios -->\nI quote it", "user": {"type": "User"}});
    let state = Arc::new(Mutex::new(GitHub { may_write, comments: vec![person], asked: Vec::new() }));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let (address, of_server) = (listener.local_addr().unwrap(), state.clone());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let service = Router::new().fallback(answer).with_state(of_server);
            axum::serve(tokio::net::TcpListener::from_std(listener).unwrap(), service).await.unwrap();
        });
    });
    (address, state)
}

async fn answer(State(github): State<Arc<Mutex<GitHub>>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let body = || serde_json::from_slice::<Value>(&body).unwrap()["body"].clone();
    let mut github = github.lock().unwrap();
    github.asked.push(format!("{} {}", parts.method, parts.uri.path()));
    let is_known = parts.headers.get("authorization").is_some_and(|token| token == "Bearer t0ken");
    let reads = parts.method == Method::GET;
    if !is_known || (!reads && !github.may_write) {
        return (StatusCode::FORBIDDEN, "{\"message\": \"Resource not accessible by integration\"}").into_response();
    }
    let answer = match (parts.method, parts.uri.path()) {
        (Method::GET, "/repos/acme/shop/pulls/7/files") => {
            json!([{"filename": "app.py"}, {"filename": "goldens/hello.snap"}, {"filename": "a/fixtures/<b>.json"}])
        }
        (Method::GET, "/repos/acme/shop/issues/7/comments") => json!(github.comments),
        (Method::POST, "/repos/acme/shop/issues/7/comments") => {
            let comment = json!({"id": 2, "body": body(), "user": {"type": "Bot"}});
            github.comments.push(comment.clone());
            comment
        }
        (Method::PATCH, "/repos/acme/shop/issues/comments/2") => {
            github.comments[1]["body"] = body();
            github.comments[1].clone()
        }
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    axum::Json(answer).into_response()
}

/// Runs the scenario, writes its report as the action does, and the comment.
fn commented(tree: &Tree, api: SocketAddr) -> Option<Ran> {
    let node = || Program::new("node".as_ref());
    if !node().arg("--version").starts() {
        return None;
    }
    tree.retake().arg("test").run();
    tree.retake().args(&["report", "--form", "markdown", "--out", ".retake/comment.md"]).run().exits(0);
    tree.write("event.json", "{\"pull_request\": {\"number\": 7}}");
    let script = repository().join("packages/action/comment.mjs");
    let ran = node().in_folder(tree.root()).arg(script.to_str().unwrap()).arg(".retake/comment.md");
    let ran = ran.env("GITHUB_API_URL", format!("http://{api}")).env("GITHUB_REPOSITORY", "acme/shop");
    let ran = ran.env("GITHUB_EVENT_PATH", tree.path("event.json")).env("RETAKE_COMMENT_TOKEN", "t0ken");
    Some(ran.env("GITHUB_STEP_SUMMARY", tree.path("summary.md")).run().exits(0))
}

fn tree() -> Tree {
    let tree = Tree::with_suite("");
    tree.scenario(
        "hello",
        "fixture = \"none\"\n[[step]]\nrun = [\"sh\", \"-c\", \"echo '{\\\"type\\\":\\\"end\\\"}'\"]\n",
    );
    tree.retake().args(&["test", "--update"]).run().green();
    tree
}

fn one_comment_is_written_and_then_kept_up_to_date() {
    let tree = tree();
    let (api, github) = github(true);
    let scenario = tree.read("scenarios/hello/scenario.toml");
    tree.scenario("hello", &scenario.replace("\"end", "\"done").replace("\\\"end", "\\\"done"));
    if commented(&tree, api).is_none() {
        return;
    }
    let body = |github: &GitHub| github.comments[1]["body"].as_str().unwrap().to_owned();
    let red = body(&github.lock().unwrap());
    assert!(red.starts_with("<!-- retake: scenarios -->\n### 1 of 1 scenario failed\n"), "{red}");
    assert!(red.contains("- end ") || red.contains("-end"), "why it is red: {red}");
    assert!(red.contains("- <code>goldens/hello.snap</code>\n- <code>a/fixtures/&#60;b&#62;.json</code>\n"), "{red}");
    assert!(!red.contains("app.py"), "{red}");
    tree.scenario("hello", &scenario);
    commented(&tree, api);
    commented(&tree, api);
    let github = github.lock().unwrap();
    assert!(body(&github).contains("### The scenario passed"), "{}", body(&github));
    assert_eq!(github.comments.len(), 2, "what a person wrote stays, and there is one comment of ours");
    let wrote: Vec<&str> = github.asked.iter().filter(|asked| !asked.starts_with("GET")).map(String::as_str).collect();
    let expected = ["POST /repos/acme/shop/issues/7/comments", "PATCH /repos/acme/shop/issues/comments/2"];
    assert_eq!(wrote, expected, "a comment that says the same is left as it is");
    assert!(!tree.has("summary.md"));
}

fn a_fork_without_a_token_that_writes_is_told_in_the_summary() {
    let tree = tree();
    let (api, github) = github(false);
    if commented(&tree, api).is_none() {
        return;
    }
    assert_eq!(github.lock().unwrap().comments.len(), 1);
    let told = "No comment in the pull request: this job's token may not write comments here, as in pull requests of forks. \
        The result of the scenarios stands above.";
    assert_eq!(tree.read("summary.md").trim(), told);
}

/// What the action calls by name: the commands with their options, and the script.
fn the_action_runs_the_commands_that_there_are() {
    let action = crate::support::tree::project("packages/action/action.yml");
    for said in [
        "--form markdown --out .retake/comment.md",
        "default: retake test\n",
        "default: retake report\n",
        "comment.mjs",
    ] {
        assert!(action.contains(said), "{said}");
    }
    assert!(!action.contains("uvx retake") && !action.contains("pip install retake"), "nothing that is not published");
}
