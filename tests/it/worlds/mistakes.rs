//! Ten mistakes in the gateway's error handling. Each is noticed by a world that is named here, and by no ordinary scenario.
//!
//! They run only if `RETAKE_MUTANTS` is set, like the other mistakes.

use libtest_mimic::{Completion, Trial};

use crate::support::tree::{SCENARIOS, Tree, project};

/// A mistake; a scenario of the project, with the worlds that are run, the line that the mistake changes, and what it shows then.
pub(crate) const MISTAKES: [(&str, &str, &str, &str, &str); 10] = [
    ("cut_stream_taken_as_end", "worlds_of_a_run", "cut-clean", "turn 3 lead_agent  cut-clean 4/8", "SILENT"),
    ("broken_stream_taken_as_end", "worlds_of_a_run", "cut-dirty", "turn 3 lead_agent  cut-dirty 4/8", "SILENT"),
    ("cut_stream_asked_again_forever", "worlds_of_a_run", "cut-clean", "turn 1 lead_agent  cut-clean 1/9", "storm"),
    ("cut_stream_keeps_the_lock", "worlds_of_a_run", "cut-clean", "turn 1 lead_agent  cut-clean 1/9", "sick"),
    ("cut_stream_panics", "worlds_of_a_run", "cut-clean", "turn 1 lead_agent  cut-clean 1/9", "crashed"),
    (
        "half_answer_kept",
        "worlds_of_a_run",
        "cut-clean",
        "turn 3 lead_agent  cut-clean 4/8",
        "SILENT  200, ends, \"I wrote",
    ),
    (
        "cut_args_taken_as_none",
        "worlds_of_a_run",
        "length-in-tool-call",
        "lead_agent  length-in-tool-call",
        "went on  asked \"Error: the argument `pat",
    ),
    (
        "title_says_how_it_broke",
        "worlds_of_a_run",
        "cut-dirty",
        "turn 4 middleware:title  cut-dirty",
        "other  200, ends, \"error decoding",
    ),
    ("suggestions_expect_text", "worlds_of_a_run", "nothing", "turn 5 suggest_agent  nothing", "reported"),
    ("runs_stay_running", "worlds_of_a_thread", "cut-clean", "turn 1 lead_agent  cut-clean 1/6", "sick"),
];

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |(mistake, scenario, worlds, line, shows)| {
        Trial::ignorable_test(format!("worlds::mistakes::{mistake}"), move || {
            if std::env::var_os("RETAKE_MUTANTS").is_none_or(|detail| detail.is_empty()) {
                return Ok(Completion::ignored_with("RETAKE_MUTANTS is not set"));
            }
            is_noticed(mistake, scenario, worlds, line, shows);
            Ok(Completion::Completed)
        })
    };
    MISTAKES.into_iter().map(trial).collect()
}

fn is_noticed(mistake: &str, scenario: &str, worlds: &str, line: &str, shows: &str) {
    let ordinary = Tree::with_own_suite(&SCENARIOS);
    let ran = ordinary.runner("bare").env("GATEWAY_MUTANT", mistake).env("CI", "1").args(&["--skip", "long_history"]);
    ran.run().exits(0);

    let tree = Tree::empty();
    let file = format!("scenarios/{scenario}/scenario.toml");
    let narrow = |text: &str| text.replace("worlds      = true", &format!("worlds = \"{worlds}\""));
    let fixture = if scenario == "worlds_of_a_run" { "whole_run" } else { "several_turns" };
    for path in
        ["scenarios/suite.toml".to_owned(), format!("fixtures/{fixture}.json"), format!("goldens/{scenario}.snap")]
    {
        tree.write(&path, &project(&path));
    }
    tree.write(&file, &narrow(&project(&file)));
    let table = format!("goldens/worlds/{scenario}.snap");
    let committed = project(&table);
    let header = committed.split("\n---\n").next().unwrap().to_owned();
    let of_worlds = committed.lines().filter(|line| line.contains(&format!("  {worlds}")));
    tree.write(&table, &format!("{header}\n---\n{}\n", of_worlds.collect::<Vec<_>>().join("\n")));
    let run = |mistake: &str| tree.runner("bare").env("GATEWAY_MUTANT", mistake).env("CI", "1").run();
    run("none").exits(0);
    let ran = run(mistake).exits(101);
    let as_named = |now: &&str| now.starts_with("+ ") && now.contains(line) && now.contains(&format!("  {shows}"));
    assert!(ran.diff().iter().any(as_named), "{mistake}: {}", ran.all());
}
