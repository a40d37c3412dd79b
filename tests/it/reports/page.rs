//! `retake report`, and what a run says on GitHub: the same runs as a page, as JUnit and as Markdown.

use std::path::Path;

use crate::support::fixtures;
use crate::support::tree::{COMMAND_SUITE, SCENARIOS, Tree};

tests! { a_page_holds_each_scenario_the_failed_ones_first_and_asks_no_network,
    what_a_service_says_is_no_markup_of_the_page,
    a_page_of_two_hundred_scenarios_stays_under_five_megabytes,
    junit_holds_each_trial_with_its_failure,
    reports_of_several_jobs_merge_and_the_later_run_counts,
    on_github_failures_are_marked_and_the_job_has_a_summary,
    the_command_writes_reports_of_what_ran_and_fails_all_the_same,
    a_report_of_nothing_says_how_to_run,
}

const NAME: &str = "write_read_file";

/// One scenario that passes and one whose tool says another word, run.
fn ran() -> Tree {
    let tree = Tree::of(&["two_callers", NAME]);
    fixtures::edit(&tree, NAME, |turns| {
        fixtures::change_word(turns[2].conversation.last_mut().unwrap(), "replay", "rehearsal");
    });
    tree.runner("gateway").run().exits(101);
    tree
}

/// The page of a tree's last runs.
fn page(tree: &Tree) -> String {
    tree.retake().args(&["report", "--no-open"]).run().exits(0).says(&["/.retake/report.html\n"]);
    tree.read(".retake/report.html")
}

fn a_page_holds_each_scenario_the_failed_ones_first_and_asks_no_network() {
    let page = page(&ran());
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text:?} is not in the page"));
    assert!(at("1 of 2 scenarios failed") < at("<h2>write_read_file</h2>"));
    assert!(at("<h2>write_read_file</h2>") < at("<h2>two_callers</h2>"));
    at("retake record write_read_file");
    at("<span class=\"del\">");
    at("calls read_file");
    for asks in ["src=", "href=", "url(", "@import", "http://", "https://"] {
        assert!(!page.contains(asks), "{asks}");
    }
}

fn what_a_service_says_is_no_markup_of_the_page() {
    let tree = Tree::of(&[NAME]);
    tree.replace("scenarios/write_read_file/scenario.toml", "hi from replay.", "<img id=evil onerror=alert(1)>");
    tree.runner("gateway").run().exits(101);
    let page = page(&tree);
    assert!(page.contains("id=evil") && !page.contains("<img"));
}

fn a_page_of_two_hundred_scenarios_stays_under_five_megabytes() {
    let tree = Tree::of(&SCENARIOS);
    tree.runner("gateway").run().exits(0);
    // As many as their sizes are: the long history is one in seven of them.
    for number in 0..200 {
        let (name, copy) = (SCENARIOS[number % SCENARIOS.len()], format!("copy_{number}"));
        let data = tree.read(&format!(".retake/runs/{name}.json"));
        let named = format!("\"scenario\": \"{name}\"");
        assert!(data.contains(&named));
        tree.write(&format!(".retake/runs/{copy}.json"), &data.replace(&named, &format!("\"scenario\": \"{copy}\"")));
    }
    let page = page(&tree);
    assert!(page.contains("<h2>copy_199</h2>"));
    assert!(page.len() < 5_000_000, "{} bytes", page.len());
}

fn junit_holds_each_trial_with_its_failure() {
    let tree = ran();
    tree.retake().args(&["report", "--form", "junit", "--out", "out/junit.xml"]).run().exits(0);
    let xml = tree.read("out/junit.xml");
    for text in ["tests=\"3\"", "failures=\"1\"", "name=\"retake::no_orphans\"", "<failure message=\"replay miss: "] {
        assert!(xml.contains(text), "{text} is not in:\n{xml}");
    }
    assert!(xml.contains("file=\"scenarios/write_read_file/scenario.toml\"") && xml.contains("retake record"), "{xml}");
    // Without a file it is what was asked for.
    assert_eq!(tree.retake().args(&["report", "--form", "junit"]).run().exits(0).stdout.trim_end(), xml.trim_end());
}

fn reports_of_several_jobs_merge_and_the_later_run_counts() {
    let (failed, whole) = (ran(), Tree::of(&[NAME, "suggestions"]));
    whole.runner("gateway").run().exits(0);
    let here = Tree::of(&["two_callers"]);
    let folder = |tree: &Tree| tree.path(".retake").to_str().unwrap().to_owned();
    let (first, second) = (folder(&failed), folder(&whole));
    // In whichever order they are named: the run of the second tree came later.
    for [a, b] in [[&first, &second], [&second, &first]] {
        let merged = here.retake().args(&["report", "merge", a, b, "--form", "junit"]).run().exits(0);
        assert!(merged.stderr.contains("3 runs, 1 failed"), "{}", merged.stderr);
        let xml = merged.stdout;
        assert!(xml.contains("tests=\"4\"") && xml.contains("failures=\"0\""), "{xml}");
    }
    let none = here.path("scenarios");
    here.retake().args(&["report", "merge", none.to_str().unwrap()]).run().exits(2).says(&["found no run data"]);
}

fn on_github_failures_are_marked_and_the_job_has_a_summary() {
    let tree = ran();
    let summary = tree.path("summary.md");
    std::fs::write(&summary, "before\n").unwrap();
    let on_github = || tree.runner("gateway").env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", &summary);
    let run = on_github().run().exits(101);
    let marked: Vec<&str> = run.stderr.lines().filter(|line| line.starts_with("::error ")).collect();
    assert_eq!(marked.len(), 1, "{marked:?}");
    let begins = "::error file=scenarios/write_read_file/scenario.toml,title=write_read_file::replay miss: ";
    assert!(marked[0].starts_with(begins) && marked[0].contains("%0A    retake record write_read_file"), "{marked:?}");
    let text = std::fs::read_to_string(&summary).unwrap();
    assert!(
        text.starts_with("before\n### 1 of 2 scenarios failed\n") && text.contains("| `write_read_file` | replay miss")
    );
    // Elsewhere nothing is marked.
    assert!(!tree.runner("gateway").run().all().contains("::error"));
    // A process of nextest marks its own, and leaves the summary to `retake report`.
    let alone = on_github().env("NEXTEST", "1").args(&["--exact", NAME]).run().exits(101);
    assert!(alone.stderr.contains(begins));
    assert_eq!(std::fs::read_to_string(&summary).unwrap(), text);
}

fn the_command_writes_reports_of_what_ran_and_fails_all_the_same() {
    let tree = Tree::with_suite(COMMAND_SUITE);
    for name in ["none", "other"] {
        tree.scenario(name, "fixture = \"none\"\n[[step]]\nget = \"/\"\n");
    }
    tree.retake().arg("test").run().exits(1);
    let both = ["test", "none", "--report", "html", "--report", "junit"];
    tree.retake().args(&both).run().exits(1).says(&["report: ", "report.html", "junit.xml"]);
    let xml = tree.read(".retake/junit.xml");
    assert!(xml.contains("name=\"none\"") && !xml.contains("name=\"other\""), "{xml}");
    assert!(Path::new(&tree.path(".retake/report.html")).is_file());
}

fn a_report_of_nothing_says_how_to_run() {
    Tree::empty().retake().arg("report").run().exits(2).says(&["no scenario has run here yet", "retake test"]);
}
