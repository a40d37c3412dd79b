//! Makes each of sixty changes in a new project, and checks the failure.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::changes::{CHANGES, Change, made, runner, with_mutant};
use crate::support::loopback::Service;
use crate::support::tree::Tree;
use serde_json::Value;

tests! { the_first_line_of_each_failure_names_what_changed_and_nothing_else,
    following_each_advice_makes_the_run_pass,
    the_terminal_the_page_the_json_and_explain_say_the_same_of_each_failure,
    the_first_line_and_the_command_fit_on_a_screen_of_80_by_24,
}

/// How many projects are tested at a time.
const AT_A_TIME: usize = 8;

/// What came of a change.
struct Outcome {
    /// The failure.
    told: String,
    /// What the reports say of it.
    reports: Reports,
    /// The output on a small screen.
    screen: String,
    /// The advice that did not help, with what came of it.
    wrong_advice: Vec<String>,
}

/// What the reports say of one failure.
struct Reports {
    json: String,
    explained: String,
    page: String,
}

/// What came of each change, in the order of `CHANGES`. A project is made once for all tests, since each costs a run.
static OUTCOMES: LazyLock<Vec<Outcome>> = LazyLock::new(|| {
    let provider = Service::provider();
    let url = provider.openai();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut outcomes = Vec::new();
        while let Some((index, change)) = {
            let i = next.fetch_add(1, Ordering::Relaxed);
            CHANGES.get(i).map(|c| (i, c))
        } {
            outcomes.push((index, outcome(change, &url)));
        }
        outcomes
    };
    let mut outcomes = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    outcomes.sort_by_key(|(index, _)| *index);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
});

fn outcome(change: &Change, provider: &str) -> Outcome {
    let (tree, run) = made(change);
    let failed = run.trials().get(change.scenario) == Some(&"FAILED");
    let told = if failed { run.failure(change.scenario).to_owned() } else { run.all() };
    let retake = |args: &[&str]| tree.retake().args(args).env("COLUMNS", "10000").run();
    retake(&["report", "--no-open", "--out", "page.html"]);
    let reports = Reports {
        json: retake(&["explain", change.scenario, "--json"]).stdout,
        explained: retake(&["explain", change.scenario]).stdout,
        page: tree.read("page.html"),
    };
    let looks = |command: &str| command == "retake review" || command.starts_with("retake explain ");
    let mut wrong_advice = Vec::new();
    for (case, command) in advice(&told).into_iter().filter(|(_, command)| !looks(command)) {
        let tree = tree.copy();
        if !follow(&tree, change, &case, &command, provider) {
            continue;
        }
        let run = runner(&tree, change).run();
        if run.code != Some(0) {
            wrong_advice.push(format!("{}: {case} {command}\n{}", change.name, run.all()));
        }
    }
    let screen = runner(&tree, change).env("LINES", "24").env("COLUMNS", "80").run().stdout;
    Outcome { told, reports, screen, wrong_advice }
}

/// Returns the line that a person reads first. The scenario's own description comes after it.
fn first_line(told: &str) -> &str {
    told.lines().next().unwrap_or_default()
}

fn the_first_line_of_each_failure_names_what_changed_and_nothing_else() {
    assert!(CHANGES.len() >= 60, "{}", CHANGES.len());
    assert!(CHANGES.iter().filter(|change| change.mutant.is_some() && change.edit.is_some()).count() >= 10);
    let mut wrong = Vec::new();
    for (change, told) in CHANGES.iter().zip(OUTCOMES.iter().map(|o| &o.told)) {
        let line = first_line(told);
        let right = change.names.iter().all(|name| line.contains(name));
        let only = line.matches("; and ").count() + 1 == change.names.len();
        if !right || !only {
            wrong.push(format!(
                "{} ({}):\n{told}",
                change.name,
                if right { "more than that is named" } else { "not named" }
            ));
        }
    }
    if let Some(file) = std::env::var_os("RETAKE_FAILURES") {
        let all: Vec<String> =
            CHANGES.iter().zip(&*OUTCOMES).map(|(c, o)| format!("=== {}\n{}\n", c.name, o.told)).collect();
        std::fs::write(file, all.join("\n")).unwrap();
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n\n{}", wrong.len(), CHANGES.len(), wrong.join("\n\n"));
}

/// Returns each advice: the case in which it applies, and the command or the lines to add.
fn advice(told: &str) -> Vec<(String, String)> {
    let lines: Vec<&str> = told.lines().collect();
    let is_case = |at: usize| {
        let opens = ["if ", "to ", "and ", "once "].iter().any(|word| lines[at].starts_with(word));
        opens && lines[at].ends_with(':') && lines.get(at + 1).is_some_and(|line| line.starts_with("    "))
    };
    let cases = (0..lines.len()).filter(|at| is_case(*at));
    let command =
        |at: usize| lines[at + 1..].iter().take_while(|line| line.starts_with("    ")).map(|line| line.trim());
    cases.map(|at| (lines[at].to_owned(), command(at).collect::<Vec<_>>().join("\n"))).collect()
}

/// Follows an advice in a project. Returns false if the recording asks for another decision first.
fn follow(tree: &Tree, change: &Change, case: &str, command: &str, provider: &str) -> bool {
    if let Some(options) = command.strip_prefix(&format!("retake record {}", change.scenario)) {
        let action = format!("record{options}");
        let recording = with_mutant(tree.recorder("gateway", action.trim(), change.scenario), change);
        let run = recording.env("RETAKE_UPSTREAM_OPENAI", provider).env("OPENAI_API_KEY", "sk-of-the-provider").run();
        // An option in [golden] names an event that no longer comes. A recording does not change options.
        if run.all().contains("no event of this run has that name") {
            return false;
        }
        assert_eq!(run.code, Some(0), "{}: {command}\n{}", change.name, run.all());
    } else if command.starts_with("UPDATE_GOLDEN=1 ") {
        runner(tree, change).env("UPDATE_GOLDEN", "1").run().exits(0);
    } else if case.contains("scenario.toml") {
        let file = format!("scenarios/{}/scenario.toml", change.scenario);
        tree.write(&file, &format!("{command}\n{}", tree.read(&file)));
    } else if case.contains("suite.toml") {
        tree.write("scenarios/suite.toml", &format!("{}\n{command}\n", tree.read("scenarios/suite.toml")));
    } else {
        panic!("{}: nobody can follow {case} {command}", change.name);
    }
    true
}

fn following_each_advice_makes_the_run_pass() {
    let wrong: Vec<&str> = OUTCOMES.iter().flat_map(|o| &o.wrong_advice).map(String::as_str).collect();
    assert!(wrong.is_empty(), "{} pieces of advice do not help:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// Each report says what the JSON says: the first line, the evidence line by line, and each advice.
fn the_terminal_the_page_the_json_and_explain_say_the_same_of_each_failure() {
    let html = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    let mut wrong = Vec::new();
    for (change, Outcome { told, reports: Reports { json, explained, page }, .. }) in CHANGES.iter().zip(&*OUTCOMES) {
        let run: Value = serde_json::from_str(json).unwrap();
        let failure = &run["failure"];
        // The page escapes more than the text of an element needs.
        let page = page.replace("&quot;", "\"").replace("&#x2f;", "/").replace("&#x27;", "'").replace("&#34;", "\"");
        let mut expect = |where_: &str, text: &str, what: &str| {
            if !text.contains(what) {
                wrong.push(format!("{}: {where_} does not say {what:?}", change.name));
            }
        };
        let headline = failure["headline"].as_str().unwrap();
        expect("the terminal's first line", first_line(told), headline);
        let kinds = failure["causes"].as_array().unwrap();
        for what in kinds.iter().map(|cause| cause["what"].as_str().unwrap()) {
            expect("the headline", headline, what);
        }
        let advice = failure["advice"].as_array().unwrap().iter().flat_map(|it| {
            // Who reads an explanation is not told to ask for it.
            let is_explained = !it["command"].as_str().unwrap().starts_with("retake explain");
            [&it["case"], &it["command"]]
                .into_iter()
                .flat_map(move |text| text.as_str().unwrap().lines().map(move |line| (line, is_explained)))
        });
        for (text, is_explained) in std::iter::once((headline, true)).chain(advice) {
            expect("the terminal", told, text);
            expect("the page", &page, &html(text));
            if is_explained {
                expect("explain", explained, text);
            }
        }
        for evidence in failure["evidence"].as_array().unwrap() {
            let line = |line: &Value| {
                let sign = line["sign"].as_str().map(|sign| format!("{sign} ")).unwrap_or_default();
                format!("{sign}{}", line["text"].as_str().unwrap())
            };
            let texts = ["text", "title"].iter().filter_map(|key| evidence[key].as_str()).flat_map(str::lines);
            let lines = evidence["lines"].as_array().into_iter().flatten().map(line);
            for text in texts.map(str::to_owned).chain(lines) {
                expect("the terminal", told, &text);
                expect("the page", &page, &html(&text));
            }
        }
        // Each miss of a call is explained in the same words.
        let calls = run["calls"].as_array().into_iter().flatten();
        for miss in calls.filter_map(|call| call["miss"]["headline"].as_str()) {
            expect("explain", explained, miss);
            expect("the page", &page, &html(miss));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn the_first_line_and_the_command_fit_on_a_screen_of_80_by_24() {
    let mut wrong = Vec::new();
    for (change, Outcome { told, screen, .. }) in CHANGES.iter().zip(&*OUTCOMES) {
        let rows = |text: &str| text.lines().map(|line| line.chars().count().div_ceil(80).max(1)).sum::<usize>();
        let Some((_, screen)) = screen.split_once("\nfailures:\n\n") else { continue };
        // The order of concurrent calls may differ from run to run, and with it the advice.
        let commands = advice(told).is_empty() || !advice(screen).is_empty();
        // Only the beginning of the first line is the same in each run, because it may name a thread.
        let begins: String = first_line(told).chars().take(60).collect();
        if rows(screen) > 24 || !commands || !screen.contains(&begins) {
            wrong.push(format!("{} ({} rows):\n{screen}", change.name, rows(screen)));
        }
    }
    assert!(wrong.is_empty(), "{} do not fit:\n\n{}", wrong.len(), wrong.join("\n\n"));
}
