//! Run data that another CI job wrote, and links where Retake writes: whoever made them, nothing outside the project is read or
//! written, and nothing waits.

use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};

use crate::support::program::{Program, Ran};
use crate::support::tree::{COMMAND_SUITE, Tree};

/// What may not be read.
const PRIVATE: &str = "this is private, whatever names it";

/// A job's folder, the project into which it is taken, and a folder that belongs to neither.
struct Case {
    tree: Tree,
    job: Tree,
    outside: Tree,
}

impl Case {
    fn new() -> Case {
        let case = Case { tree: Tree::of(&["refused"]), job: Tree::empty(), outside: Tree::empty() };
        case.outside.write("private.txt", PRIVATE);
        case.outside.write("run.json", &json!({ "notes": [PRIVATE] }).to_string());
        case.tree.write(".env", PRIVATE);
        case.tree.write("scenarios/suite.toml", COMMAND_SUITE);
        case.job.write(".retake/runs/good.json", &run("good", &json!({})).to_string());
        case
    }

    /// Writes the data of a run into the job's folder, with other fields.
    fn run(&self, name: &str, fields: &Value) {
        self.job.write(".retake/runs/x.json", &run(name, fields).to_string());
    }

    /// Writes a run whose page was pictured in a file.
    fn picture(&self, file: &str) {
        let act = json!({ "what": "click", "at_ms": 1.0, "took_ms": 1.0, "picture": file });
        let step = json!({ "title": "visit", "at_ms": 0.0, "acts": [act] });
        self.run("pictured", &json!({ "steps": [step] }));
    }

    fn outside(&self, file: &str) -> String {
        self.outside.path(file).to_str().unwrap().to_owned()
    }

    /// Takes in the job, and asserts that nothing happened outside. The page that was written, if any, is returned too.
    fn merged(&self, args: &[&str]) -> (Ran, String) {
        let merge = self.tree.retake().args(&["report", "merge", self.job.root().to_str().unwrap(), "--no-open"]);
        let ran = self.guarded(merge.args(args));
        let page = std::fs::read_to_string(self.tree.path(".retake/report.html")).unwrap_or_default();
        for private in [PRIVATE.to_owned(), BASE64_STANDARD.encode(PRIVATE)] {
            assert!(!page.contains(&private), "{private}");
        }
        (ran, page)
    }

    /// Runs a command, and asserts that nothing happened outside, and that it did not wait.
    fn guarded(&self, program: Program) -> Ran {
        let before = (self.outside.files(), self.tree.files());
        let ran = self.harmless(program);
        assert_eq!((self.outside.files(), self.tree.files()), before, "{}", ran.all());
        ran
    }

    /// Runs a command that may not write to the folder outside.
    fn harmless(&self, program: Program) -> Ran {
        let before = self.outside.files();
        let ran = ended(program);
        assert_eq!(self.outside.files(), before, "{}", ran.all());
        assert!(!ran.all().contains(PRIVATE), "{}", ran.all());
        assert!(!ran.all().contains("panicked"), "{}", ran.all());
        ran
    }
}

fn run(name: &str, fields: &Value) -> Value {
    let mut run = json!({
        "format": "retake-run/2",
        "scenario": name,
        "file": "scenarios/x/scenario.toml",
        "action": "test",
        "result": "passed",
        "started": "2026-11-22T14:15:54.120Z",
        "took_ms": 1.0,
    });
    run.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    run
}

/// Runs a program, which has to end soon.
fn ended(program: Program) -> Ran {
    let (sender, ran) = mpsc::channel();
    std::thread::spawn(move || sender.send(program.run()));
    ran.recv_timeout(Duration::from_secs(60)).unwrap_or_else(|_| panic!("it waits for something"))
}

fn link(to: &str, at: &Path) {
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    symlink(to, at).unwrap();
}

fn fifo(at: &Path) {
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
}

/// Makes a test of each kind of hostile run data that is refused: what it is, and what the error says.
macro_rules! refused {
    ($($name:ident: $says:expr, |$case:ident| $lay_out:expr;)+) => {
        $(fn $name() {
            let $case = Case::new();
            $lay_out;
            for form in ["markdown", "html"] {
                let (ran, _) = $case.merged(&["--form", form]);
                ran.exits(2).says(&["error: ", $says]);
                assert!(!$case.tree.has(".retake/runs/x.json"));
            }
        })+
    };
}

/// Makes a test of each kind of picture that is not on the page.
macro_rules! unseen {
    ($($name:ident: |$case:ident| $lay_out:expr;)+) => {
        $(fn $name() {
            let $case = Case::new();
            $lay_out;
            let (ran, page) = $case.merged(&[]);
            ran.exits(0);
            assert!(page.contains("pictured") && !page.contains("<img"), "{page}");
        })+
    };
}

tests! {
    a_name_with_parent_folders, an_absolute_name, the_name_of_the_parent_folder, an_empty_name, a_name_with_a_nul_byte,
    a_name_with_backslashes, a_hidden_name, a_name_with_a_folder, a_name_with_an_escape, a_name_of_many_bytes,
    a_pipe, a_socket, a_link_to_a_device, a_link_to_a_file_outside, a_link_to_a_link_to_outside, a_link_to_itself,
    a_folder_in_place_of_a_file, a_link_in_the_middle_of_the_path, a_link_in_place_of_all, a_file_of_a_terabyte, deep_json, bytes,
    another_format,
    a_picture_by_an_absolute_path, a_picture_above_the_project, a_picture_that_climbs_out_of_its_folder,
    a_picture_that_is_a_link, a_picture_that_is_a_pipe, a_picture_that_is_a_device, a_picture_that_is_none, a_picture_in_a_linked_folder,
    a_picture_of_a_terabyte, a_picture_that_is_an_address, a_picture_of_the_project,
    a_picture_of_a_page_is_shown,
    numbers_beyond_all_bounds_are_shown,
    a_broken_link_is_no_run,
    links_in_place_of_what_is_written_are_refused,
    links_to_what_does_not_exist_are_refused_where_they_would_create_it,
    times_that_are_a_pipe_are_refused,
}

refused! {
    a_name_with_parent_folders: "`../../x` cannot be the name of a scenario", |case| case.run("../../x", &json!({}));
    an_absolute_name: "cannot be the name of a scenario", |case| case.run(&case.outside("new"), &json!({}));
    the_name_of_the_parent_folder: "`..` cannot be the name", |case| case.run("..", &json!({}));
    an_empty_name: "`` cannot be the name", |case| case.run("", &json!({}));
    a_name_with_a_nul_byte: "cannot be the name", |case| case.run("a\0b", &json!({}));
    a_name_with_backslashes: "cannot be the name", |case| case.run("..\\x", &json!({}));
    a_hidden_name: "cannot be the name", |case| case.run(".gitignore", &json!({}));
    a_name_with_a_folder: "cannot be the name", |case| case.run("a/b", &json!({}));
    a_name_with_an_escape: "`\\u{1b}[31m` cannot be the name", |case| case.run("\u{1b}[31m", &json!({}));
    a_name_of_many_bytes: "cannot be the name", |case| case.run(&"x".repeat(5_000), &json!({}));
    a_pipe: "it is a named pipe, expected a file", |case| fifo(&case.job.path(".retake/runs/x.json"));
    a_socket: "it is a socket, expected a file", |case| drop(UnixListener::bind(case.job.path(".retake/runs/x.json")).unwrap());
    a_link_to_a_device: "it is a device, expected a file", |case| link("/dev/zero", &case.job.path(".retake/runs/x.json"));
    a_link_to_a_file_outside: "a link that leads out", |case| {
        link(&case.outside("run.json"), &case.job.path(".retake/runs/x.json"));
    };
    a_link_to_a_link_to_outside: "a link that leads out", |case| {
        link(&case.outside("run.json"), &case.job.path("inner/link"));
        link("../../inner/link", &case.job.path(".retake/runs/x.json"));
    };
    a_link_to_itself: "failed to read it", |case| link("x.json", &case.job.path(".retake/runs/x.json"));
    a_folder_in_place_of_a_file: "expected a file", |case| std::fs::create_dir(case.job.path(".retake/runs/x.json")).unwrap();
    a_link_in_the_middle_of_the_path: "a link that leads out", |case| {
        std::fs::remove_dir_all(case.job.path(".retake/runs")).unwrap();
        link(&case.outside(""), &case.job.path(".retake/runs"));
    };
    a_link_in_place_of_all: "a link that leads out", |case| {
        std::fs::remove_dir_all(case.job.path(".retake")).unwrap();
        case.outside.write("kept/runs/x.json", &run("x", &json!({})).to_string());
        link(&case.outside("kept"), &case.job.path(".retake"));
    };
    a_file_of_a_terabyte: "more than the 67108864 bytes that are read", |case| {
        std::fs::File::create(case.job.path(".retake/runs/x.json")).unwrap().set_len(1 << 40).unwrap();
    };
    deep_json: "more than 256 levels", |case| case.job.write(".retake/runs/x.json", &"[".repeat(1_000_000));
    bytes: "not JSON", |case| std::fs::write(case.job.path(".retake/runs/x.json"), [0xff; 100]).unwrap();
    another_format: "unknown version", |case| case.run("x", &json!({ "format": "retake-run/9" }));
}

unseen! {
    a_picture_by_an_absolute_path: |case| case.picture(&case.outside("private.txt"));
    a_picture_above_the_project: |case| case.picture("../../../../../../etc/passwd");
    a_picture_that_climbs_out_of_its_folder: |case| case.picture(".retake/browser/../../.env");
    a_picture_of_the_project: |case| case.picture(".env");
    a_picture_that_is_a_link: |case| {
        std::fs::write(case.outside.path("a.jpg"), [JPEG, PRIVATE.as_bytes()].concat()).unwrap();
        link(&case.outside("a.jpg"), &case.tree.path(".retake/browser/a.jpg"));
        case.picture(".retake/browser/a.jpg");
    };
    a_picture_in_a_linked_folder: |case| {
        std::fs::write(case.outside.path("a.jpg"), [JPEG, PRIVATE.as_bytes()].concat()).unwrap();
        link(&case.outside(""), &case.tree.path(".retake/browser"));
        case.picture(".retake/browser/a.jpg");
    };
    a_picture_that_is_a_pipe: |case| {
        fifo(&case.tree.path(".retake/browser/a.jpg"));
        case.picture(".retake/browser/a.jpg");
    };
    a_picture_that_is_a_device: |case| {
        link("/dev/zero", &case.tree.path(".retake/browser/a.jpg"));
        case.picture(".retake/browser/a.jpg");
    };
    a_picture_that_is_none: |case| {
        case.tree.write(".retake/browser/a.jpg", PRIVATE);
        case.picture(".retake/browser/a.jpg");
    };
    a_picture_of_a_terabyte: |case| {
        case.tree.write(".retake/browser/a.jpg", "");
        std::fs::File::create(case.tree.path(".retake/browser/a.jpg")).unwrap().set_len(1 << 40).unwrap();
        case.picture(".retake/browser/a.jpg");
    };
    a_picture_that_is_an_address: |case| case.picture("http://127.0.0.1:9/beacon.jpg");
}

/// How a picture begins.
const JPEG: &[u8] = b"\xff\xd8\xff\xe0";

fn a_picture_of_a_page_is_shown() {
    let case = Case::new();
    case.tree.write(".retake/browser/x/a.jpg", "");
    std::fs::write(case.tree.path(".retake/browser/x/a.jpg"), JPEG).unwrap();
    case.picture(".retake/browser/x/a.jpg");
    let (ran, page) = case.merged(&[]);
    ran.exits(0);
    let page = page.replace("&#x2f;", "/");
    assert!(page.contains(&format!("src=\"data:image/jpeg;base64,{}", BASE64_STANDARD.encode(JPEG))), "{page}");
}

fn numbers_beyond_all_bounds_are_shown() {
    let case = Case::new();
    let most = u64::MAX;
    let turn = json!({ "index": most, "text": "a", "tokens": { "input": most, "output": most } });
    let call = |at: f64| json!({ "at_ms": at, "took_ms": 1e308, "via": "POST /", "messages": most, "number": most, "turn": turn });
    let event = json!({ "at_ms": -1e308, "name": "e", "payload": "{}" });
    let step = json!({ "title": "s", "at_ms": -1e308, "took_ms": 1e308, "events": [event], "more_events": most });
    let fields = json!({
        "took_ms": 1e308,
        "calls": [call(1e308), call(-1e308)],
        "steps": [step],
        "flaky": { "tries": most, "failures": [] },
        "unused_exchanges": [["x", most]],
        "unused": [turn],
    });
    case.run("x", &fields);
    for form in ["html", "junit", "markdown"] {
        case.merged(&["--form", form]).0.exits(0);
    }
    case.guarded(case.tree.retake().args(&["explain", "x"])).exits(0);
    case.guarded(case.tree.retake().args(&["test", "--shard", "1/2"])).says(&["shard 1/2: "]);
}

fn a_broken_link_is_no_run() {
    let case = Case::new();
    link("nowhere", &case.job.path(".retake/runs/x.json"));
    case.merged(&["--form", "markdown"]).0.exits(0).says(&["1 run, 0 failed"]);
}

fn links_in_place_of_what_is_written_are_refused() {
    for folder in ["fixtures/.journal", ".retake/runs"] {
        let case = Case::new();
        link(&case.outside(""), &case.tree.path(folder));
        let says = format!("error: {folder}: a link that leads out of the project");
        for args in [&["test"][..], &["audit"], &["record", "refused"]] {
            case.guarded(case.tree.retake().args(args)).exits(2).says(&[&says]);
        }
    }
    for (folder, code) in [("runs", 2), ("logs", 0), ("browser", 0)] {
        let case = Case::new();
        link(&case.outside(""), &case.tree.path(&format!(".retake/{folder}")));
        case.merged(&["--form", "markdown"]).0.exits(code);
    }
}

fn links_to_what_does_not_exist_are_refused_where_they_would_create_it() {
    for (file, says) in [(".retake/runs", "a broken link to"), (".retake/report.html", "a broken link to")] {
        let case = Case::new();
        link(&case.outside("made"), &case.tree.path(file));
        case.merged(&["--form", "html"]).0.exits(2).says(&[says]);
    }
    let case = Case::new();
    let journal = case.tree.path("fixtures/.journal/out.jsonl");
    link(&case.outside("made"), &journal);
    let proxy =
        case.tree.retake().args(&["proxy", "--upstream", "http://127.0.0.1:9/v1", "--out", "fixtures/out.json"]);
    case.harmless(proxy.env("OPENAI_API_KEY", "k")).exits(2).says(&["a broken link to"]);
}

fn times_that_are_a_pipe_are_refused() {
    let case = Case::new();
    fifo(&case.tree.path(".retake/shard-times"));
    case.guarded(case.tree.retake().args(&["test", "--shard", "1/2"])).exits(2).says(&["it is a named pipe"]);
}
