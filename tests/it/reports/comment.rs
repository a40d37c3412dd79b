//! `packages/action` in a pull request: its steps as GitHub runs them, and its comment, against a stand-in of GitHub's API.

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::record::cassettes::document;
use crate::support::program::Program;
use crate::support::tree::{Tree, project, repository};

tests! {
    one_comment_is_written_and_then_kept_up_to_date,
    a_fork_without_a_token_that_writes_is_told_in_the_summary,
    a_comment_does_not_stay_green_when_nothing_ran,
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

/// A job of GitHub in a pull request: the inputs that it gives the action, and where the API is.
struct Job<'a> {
    tree: &'a Tree,
    api: SocketAddr,
    given: &'a [(&'a str, &'a str)],
}

/// What became of a job: whether it is green, what its steps printed, and what those that are other actions were given.
struct Done {
    green: bool,
    printed: String,
    used: Vec<Value>,
}

impl Job<'_> {
    /// Runs the steps of the action as GitHub does. `None` without Node, which GitHub's machines have.
    fn run(&self) -> Option<Done> {
        if !Program::new("node".as_ref()).arg("--version").starts() {
            return None;
        }
        let action = document(&project("packages/action/action.yml"));
        let mut done = Done { green: true, printed: String::new(), used: Vec::new() };
        self.tree.write("event.json", "{\"pull_request\": {\"number\": 7}}");
        for step in action["runs"]["steps"].as_array().unwrap() {
            let asked = step["if"].as_str().unwrap_or_default();
            // A step without a status function runs only while the job is green.
            let goes_on = done.green || asked.contains("always()");
            if !goes_on || !asked.split(" && ").all(|term| self.holds(&action, term)) {
                continue;
            }
            if let Some(other) = step["uses"].as_str() {
                let given = step["with"].as_object().unwrap().iter();
                let given = given.map(|(name, value)| (name.clone(), self.rendered(&action, value).into()));
                done.used.push(json!({ "uses": other, "with": given.collect::<serde_json::Map<_, _>>() }));
                continue;
            }
            assert_eq!(step["shell"], "bash");
            let ran = self.script(&action, step).run();
            done.green &= ran.code == Some(0);
            done.printed += &(ran.stdout + &ran.stderr);
        }
        Some(done)
    }

    /// A step that is a script, with GitHub's environment and that of the step.
    fn script(&self, action: &Value, step: &Value) -> Program {
        let root = self.tree.root();
        self.tree.write("step.sh", &self.rendered(action, &step["run"]));
        let folder = root.join(self.rendered(action, &step["working-directory"]));
        let bash = Program::new("bash".as_ref()).args(&["--noprofile", "--norc", "-eo", "pipefail"]);
        let of_retake = std::path::Path::new(env!("CARGO_BIN_EXE_retake")).parent().unwrap();
        let path = format!("{}:{}", of_retake.display(), std::env::var("PATH").unwrap());
        let mut bash =
            bash.arg(root.join("step.sh")).in_folder(&folder).env("PATH", path).env("TMPDIR", self.tree.temp());
        for (name, value) in [
            ("CI", "true"),
            ("GITHUB_ACTIONS", "true"),
            ("GITHUB_ACTION_PATH", repository().join("packages/action").to_str().unwrap()),
            ("GITHUB_API_URL", &format!("http://{}", self.api)),
            ("GITHUB_EVENT_PATH", root.join("event.json").to_str().unwrap()),
            ("GITHUB_REPOSITORY", "acme/shop"),
            ("GITHUB_STEP_SUMMARY", root.join("summary.md").to_str().unwrap()),
        ] {
            bash = bash.env(name, value);
        }
        let own = step["env"].as_object().into_iter().flatten();
        own.fold(bash, |bash, (name, value)| bash.env(name, self.rendered(action, value)))
    }

    /// A text with what stands in `${{ }}`.
    fn rendered(&self, action: &Value, text: &Value) -> String {
        let Some(text) = text.as_str() else { return text.to_string() };
        let known = |found: &regex::Captures<'_>| self.known(action, &found[1]);
        regex::Regex::new(r"\$\{\{ ([\w.-]+) \}\}").unwrap().replace_all(text, known).into_owned()
    }

    /// A part of a condition.
    fn holds(&self, action: &Value, term: &str) -> bool {
        let sides = |sign| term.split_once(sign).map(|(of, is)| self.known(action, of) == is.trim_matches('\''));
        term.is_empty() || term == "always()" || sides(" == ").unwrap_or_else(|| !sides(" != ").unwrap())
    }

    fn known(&self, action: &Value, name: &str) -> String {
        if let Some(input) = name.strip_prefix("inputs.") {
            let given = self.given.iter().find(|(name, _)| *name == input).map(|(_, value)| (*value).to_owned());
            let declared = &action["inputs"][input];
            assert!(declared.is_object(), "no input {input}");
            return given.unwrap_or_else(|| self.rendered(action, &declared["default"]));
        }
        let known = match name {
            "github.event_name" => "pull_request",
            "github.token" => "t0ken",
            "runner.os" => "Linux",
            "steps.kept.outputs.artifact-url" => "https://example.org/runs/1/artifacts/2",
            other => panic!("{other}"),
        };
        known.to_owned()
    }
}

/// A project in the folder `shop` of a repository.
fn tree() -> Tree {
    let tree = Tree::empty();
    tree.write("shop/scenarios/suite.toml", "settle = \"100ms\"\n");
    tree.write(SCENARIO, &told("end"));
    tree.retake().in_folder(&tree.path("shop")).args(&["test", "--update"]).run().green();
    tree
}

const SCENARIO: &str = "shop/scenarios/hello/scenario.toml";

fn told(word: &str) -> String {
    format!("fixture = \"none\"\n[[step]]\nrun = [\"sh\", \"-c\", \"echo '{{\\\"type\\\":\\\"{word}\\\"}}'\"]\n")
}

fn one_comment_is_written_and_then_kept_up_to_date() {
    let tree = tree();
    let (api, github) = github(true);
    let given = [("working-directory", "shop"), ("install", "echo it >installed"), ("cache", "~/.cargo/bin")];
    let job = Job { tree: &tree, api, given: &given };
    tree.write(SCENARIO, &told("done"));
    let Some(done) = job.run() else { return };
    let body = |github: &GitHub| github.comments[1]["body"].as_str().unwrap().to_owned();
    let red = body(&github.lock().unwrap());
    assert!(!done.green && tree.has("shop/installed"), "{}", done.printed);
    assert!(done.printed.contains("::error file=scenarios/hello/scenario.toml,title=hello::"), "{}", done.printed);
    let kept = [
        json!({"uses": "actions/cache@v4", "with": {"path": "~/.cargo/bin", "key": "Linux-retake"}}),
        json!({"uses": "actions/upload-artifact@v4", "with": {"name": "retake", "path": "shop/.retake",
            "include-hidden-files": "true", "if-no-files-found": "ignore", "overwrite": "true"}}),
    ];
    assert_eq!(done.used, kept);
    assert!(red.starts_with("<!-- retake: scenarios -->\n### 1 of 1 scenario failed\n"), "{red}");
    assert!(red.contains("- end ") || red.contains("-end"), "why it is red: {red}");
    assert!(red.contains("- <code>goldens/hello.snap</code>\n- <code>a/fixtures/&#60;b&#62;.json</code>\n"), "{red}");
    assert!(red.contains("with pictures of its pages](https://example.org/runs/1/artifacts/2)\n"), "{red}");
    assert!(!red.contains("app.py"), "{red}");
    tree.write(SCENARIO, &told("end"));
    let passed = job.run().unwrap();
    assert!(passed.green, "{}", passed.printed);
    job.run();
    let at_the_end = body(&github.lock().unwrap());
    assert!(at_the_end.contains("### The scenario passed"), "{at_the_end}");
    let github = github.lock().unwrap();
    assert_eq!(github.comments.len(), 2, "what a person wrote stays, and there is one comment of ours");
    let wrote: Vec<&str> = github.asked.iter().filter(|asked| !asked.starts_with("GET")).map(String::as_str).collect();
    let expected = ["POST /repos/acme/shop/issues/7/comments", "PATCH /repos/acme/shop/issues/comments/2"];
    assert_eq!(wrote, expected, "a comment that says the same is left as it is");
}

fn a_fork_without_a_token_that_writes_is_told_in_the_summary() {
    let tree = tree();
    let (api, github) = github(false);
    let job = Job { tree: &tree, api, given: &[("working-directory", "shop")] };
    let Some(green) = job.run() else { return };
    tree.write(SCENARIO, &told("done"));
    let red = job.run().unwrap();
    assert!(green.green && !red.green, "the result is that of the scenarios: {}{}", green.printed, red.printed);
    assert_eq!(github.lock().unwrap().comments.len(), 1);
    let summary = tree.read("summary.md");
    let told = "No comment in the pull request: this job's token may not write comments here, as in pull requests of forks. \
        The result of the scenarios stands above.";
    let at = ["### The scenario passed", told, "### 1 of 1 scenario failed"].map(|text| summary.find(text));
    assert!(at.iter().all(Option::is_some) && at.is_sorted() && summary.trim_end().ends_with(told), "{summary}");
}

fn a_comment_does_not_stay_green_when_nothing_ran() {
    let tree = tree();
    let (api, github) = github(true);
    let Some(green) = (Job { tree: &tree, api, given: &[("working-directory", "shop")] }).run() else { return };
    assert!(green.green, "{}", green.printed);
    // Each job begins with a checkout, in which no run has left anything.
    std::fs::remove_dir_all(tree.path("shop/.retake")).unwrap();
    let given = [("working-directory", "shop"), ("install", "exit 3")];
    let red = Job { tree: &tree, api, given: &given }.run().unwrap();
    assert!(!red.green, "{}", red.printed);
    let github = github.lock().unwrap();
    let body = github.comments[1]["body"].as_str().unwrap();
    assert!(body.contains("\n### The scenarios did not run: the log of the job says why\n"), "{body}");
}
