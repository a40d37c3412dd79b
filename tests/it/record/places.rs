//! A coding agent says its folder to the model, and the model answers with absolute paths: what was recorded in one folder is green in
//! another one, on another machine.

use std::path::{Path, PathBuf};

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use axum::routing::post;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::loopback::Service;
use crate::support::program::{Program, retake};

tests! { a_coding_agent_is_green_in_another_folder,
what_was_recorded_in_a_folder_directly_below_the_root_is_green_elsewhere, }

const SUITE: &str = r#"settle = "100ms"
[systems.agent]
command = ["python3", "-u", "agent.py", "{{ port }}"]
env = { OPENAI_BASE_URL = "{{ model.openai }}", OPENAI_API_KEY = "{{ model.key }}" }
ready = { http = "/health" }
"#;

const SCENARIO: &str = r#"
[[step]]
post = "/chat"
json = { message = "Write a note. <retake:root> is only a word." }
stream = { last = "end" }
"#;

/// A folder that no rule of the key takes for a temporary one.
fn folder() -> TempDir {
    let outside = |folder: &PathBuf| folder.is_dir() && !folder.starts_with("/tmp");
    let home = || std::env::home_dir().filter(outside);
    let base = Some(PathBuf::from("/dev/shm")).filter(outside).or_else(home).unwrap();
    tempfile::Builder::new().prefix("places-").tempdir_in(base).unwrap()
}

fn write(root: &Path, file: &str, text: &str) {
    let path = root.join(file);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// A project with the agent.
fn project(root: &Path) {
    write(root, "agent.py", include_str!("../data/coding_agent/agent.py"));
    write(root, "scenarios/suite.toml", SUITE);
    write(root, "scenarios/note/scenario.toml", SCENARIO);
}

/// What was written of a project's own, apart from the journal, which stays on its machine.
fn written(root: &Path) -> Vec<(String, String)> {
    ["fixtures/note.json", "goldens/note.snap"]
        .map(|file| (file.to_owned(), std::fs::read_to_string(root.join(file)).unwrap()))
        .into()
}

/// The model: it answers with the path of a file in the folder that it is told, in pieces.
async fn model(body: Bytes) -> axum::response::Response {
    let body: Value = serde_json::from_slice(&body).unwrap();
    let messages = body["messages"].as_array().unwrap();
    let system = messages[0]["content"].as_str().unwrap();
    let cwd = system.lines().find_map(|line| line.strip_prefix("Working directory: ")).unwrap();
    let deltas: Vec<Value> = if messages.len() == 2 {
        let escaped = format!("{cwd}/out/note.txt").replace('/', "\\/");
        let arguments = format!(r#"{{"path": "{escaped}", "content": "see file://{cwd}/src"}}"#);
        let call = |piece: &str| json!({"tool_calls": [{"index": 0, "function": {"arguments": piece}}]});
        let first = json!({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": {"name": "write_file", "arguments": ""}}]});
        [first].into_iter().chain(pieces(&arguments).iter().map(|piece| call(piece))).collect()
    } else {
        pieces(&format!("I wrote {cwd}/out/note.txt for you.")).iter().map(|piece| json!({"content": piece})).collect()
    };
    let finish = if messages.len() == 2 { "tool_calls" } else { "stop" };
    let chunk = |delta: &Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        format!(
            "data: {}\n\n",
            json!({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "small", "choices": [choice]})
        )
    };
    let mut text: String = deltas.iter().map(|delta| chunk(delta, Value::Null)).collect();
    text += &(chunk(&json!({}), finish.into()) + "data: [DONE]\n\n");
    ([(CONTENT_TYPE, "text/event-stream")], text).into_response()
}

/// A text in pieces of seven characters.
fn pieces(text: &str) -> Vec<String> {
    text.chars().collect::<Vec<_>>().chunks(7).map(|piece| piece.iter().collect()).collect()
}

fn provider() -> Service {
    Service::start(Router::new().route("/v1/chat/completions", post(model)))
}

fn record(command: Program, provider: &Service) {
    let command = command.env("RETAKE_UPSTREAM_OPENAI", provider.openai()).env("OPENAI_API_KEY", "sk-of-the-provider");
    command.run().exits(0).says(&["recorded to fixtures/note.json, two replays agree"]);
}

fn copied(from: &Path, to: &Path) {
    for file in
        ["agent.py", "scenarios/suite.toml", "scenarios/note/scenario.toml", "fixtures/note.json", "goldens/note.snap"]
    {
        write(to, file, &std::fs::read_to_string(from.join(file)).unwrap());
    }
}

fn has_python() -> bool {
    Program::new(Path::new("python3")).arg("--version").starts()
}

fn a_coding_agent_is_green_in_another_folder() {
    if !has_python() {
        return;
    }
    let (here, temp, provider) = (folder(), folder(), provider());
    let root = here.path().canonicalize().unwrap();
    project(&root);
    record(retake().args(&["record", "note"]).in_folder(&root).env("TMPDIR", temp.path()), &provider);
    for (file, text) in written(&root) {
        for place in [&root.display().to_string(), &temp.path().display().to_string(), "127.0.0.1"] {
            assert!(!text.contains(place), "{place} is in {file}:\n{text}");
        }
    }
    let fixture = std::fs::read_to_string(root.join("fixtures/note.json")).unwrap();
    for said in [
        "cwd: <retake:root>\\n",
        "file://<retake:root>/src",
        "<retake:lt>retake:root> is only",
        "<retake:home>",
        "<retake:tmp>/scratch",
    ] {
        assert!(fixture.contains(said), "{said} is not in:\n{fixture}");
    }
    let (other, other_temp) = (folder(), folder());
    let there = other.path().canonicalize().unwrap().join("a longer name of a folder");
    copied(&root, &there);
    let test = |root: &Path, temp: &Path| {
        let command = retake().args(&["test"]).in_folder(root).env("TMPDIR", temp).env("USER", "somebody-else");
        command.env("LOGNAME", "somebody-else").env("HOSTNAME", "another-machine").run()
    };
    std::fs::remove_dir_all(root.join("out")).unwrap();
    test(&root, temp.path()).green();
    test(&there, other_temp.path()).green();
    assert!(there.join("out/note.txt").is_file());
    assert_eq!(
        std::fs::read_to_string(there.join("out/note.txt")).unwrap(),
        format!("see file://{}/src", there.display().to_string().replace(' ', "%20"))
    );
    // And in a folder directly below the root of a machine with another name.
    if let Some(machine) = machine(other_temp.path()) {
        let app = folder();
        copied(&root, app.path());
        machine(app.path(), &["test"]).run().green();
    }
}

fn what_was_recorded_in_a_folder_directly_below_the_root_is_green_elsewhere() {
    let temp = folder();
    let Some(machine) = machine(temp.path()).filter(|_| has_python()) else { return };
    let (app, provider) = (folder(), provider());
    project(app.path());
    write(app.path(), "src/main.py", "");
    record(machine(app.path(), &["record", "note"]), &provider);
    let fixture = std::fs::read_to_string(app.path().join("fixtures/note.json")).unwrap();
    assert!(fixture.contains("\"root\": \"/app\"") && fixture.contains("<retake:root>/out/note.txt"), "{fixture}");
    machine(app.path(), &["test"]).run().green();
    let other = folder();
    copied(app.path(), other.path());
    retake().args(&["test"]).in_folder(other.path()).env("TMPDIR", temp.path()).run().green();
    assert!(other.path().join("out/note.txt").is_file());
}

/// Runs `retake` where a project is `/app`, on a machine with another name; `None` where this machine does not allow it.
fn machine(temp: &Path) -> Option<impl Fn(&Path, &[&str]) -> Program> {
    const SCRIPT: &str = r#"set -e
        root=$1; temp=$2; shift 2
        hostname another-machine
        new=$temp/machine; mkdir -p "$new"
        mount -t tmpfs none "$new"
        for each in /*; do
            name=${each#/}
            if [ -L "$each" ]; then cp -P "$each" "$new/$name"
            elif [ -d "$each" ] && [ "$name" != app ]; then mkdir "$new/$name"; mount --rbind "$each" "$new/$name"; fi
        done
        mkdir "$new/app"
        mount --bind "$root" "$new/app"
        exec chroot "$new" sh -c 'cd /app && exec "$@"' sh "$@""#;
    let start = |program: &str| Program::new(Path::new("unshare")).args(&["-rmu", program]);
    let temp = temp.to_owned();
    let run = move |root: &Path, args: &[&str]| {
        let program = start("sh").args(&["-c", SCRIPT, "sh"]).arg(root).arg(&temp);
        program.arg(env!("CARGO_BIN_EXE_retake")).args(args).env("TMPDIR", &temp).env("USER", "nobody-here")
    };
    let tried = ["-rmu", "sh", "-c", "mount -t tmpfs none /mnt && hostname a"];
    let allowed = || start("true").starts() && Program::new(Path::new("unshare")).args(&tried).run().code == Some(0);
    (cfg!(target_os = "linux") && allowed()).then_some(run)
}
