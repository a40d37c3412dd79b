//! Measures how many of the mistakes the scenarios notice.
//!
//! `RETAKE_MUTANTS` sets the detail of the goldens: `default` means the goldens as they are committed. If it is not set, the
//! test is ignored, because it runs all scenarios hundreds of times.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{available_parallelism, scope};

use libtest_mimic::{Completion, Trial};

use super::list;
use crate::support::program::Ran;
use crate::support::tree::{SCENARIOS, Tree};

const DETAIL: &str = "RETAKE_MUTANTS";
/// How many of twenty mistakes the committed goldens have to notice.
const NOTICED_OF_TWENTY: usize = 19;
/// After this many mistakes, one run makes no mistake and has to pass. Otherwise the load alone would make scenarios fail.
const NONE_AFTER: usize = 20;
/// The scenarios that notice three of four mistakes. The others run only against what these do not notice.
const FIRST: [&str; 3] = ["failing_tool", "history", "refused"];
/// The scenario that takes as long as all others together, and notices little that they do not.
const LAST: &str = "long_history";

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::ignorable_test("mutants::score::nineteen_of_twenty_mistakes_are_noticed", || {
        let Some(detail) = std::env::var(DETAIL).ok().filter(|detail| !detail.is_empty()) else {
            return Ok(Completion::ignored_with(format!(
                "{DETAIL} is not set: it names a detail of goldens, or `default`"
            )));
        };
        nineteen_of_twenty_mistakes_are_noticed(&detail);
        Ok(Completion::Completed)
    })]
}

fn nineteen_of_twenty_mistakes_are_noticed(detail: &str) {
    let tree = Tree::with_own_suite(&SCENARIOS);
    if detail != "default" {
        set_detail(&tree, detail);
        tree.runner("bare").env("UPDATE_GOLDEN", "1").run().exits(0);
    }
    let before = tree.files();
    play(&tree, "none", &SCENARIOS).exits(0);

    // The mistakes in the page need a browser, and those that only cost need goldens that hold costs: see `cost/faults.rs`.
    let files = list::read().into_iter().filter(|(file, _)| !["dearer", "page"].contains(&file.as_str()));
    // Those in the handling of errors are noticed by worlds: see `worlds/mistakes.rs`.
    let of_worlds = |name: &str| crate::worlds::mistakes::MISTAKES.iter().any(|(mistake, ..)| *mistake == name);
    let mistakes: Vec<(String, String)> =
        files.flat_map(|(_, mistakes)| mistakes).filter(|(name, _)| !of_worlds(name)).collect();
    let next = AtomicUsize::new(0);
    let noticed = Mutex::new(BTreeMap::new());
    // Each run mostly waits for calls that may still come.
    let at_once = available_parallelism().map_or(2, std::num::NonZero::get) * 3;
    scope(|scope| {
        for _ in 0..at_once {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let Some((name, _)) = mistakes.get(number) else { break };
                    let by = noticed_by(&tree, name);
                    noticed.lock().unwrap().insert(name.clone(), by);
                    if number.is_multiple_of(NONE_AFTER) {
                        play(&tree, "none", &SCENARIOS).exits(0);
                    }
                }
            });
        }
    });
    assert_eq!(tree.files(), before);
    let noticed = noticed.into_inner().unwrap();
    for (name, by) in &noticed {
        tell(&format!("{name}: {}", by.join(", ")));
    }
    let unnoticed: Vec<_> = mistakes.iter().filter(|(name, _)| noticed[name].is_empty()).collect();
    let score = mistakes.len() - unnoticed.len();
    let mut told = format!("{score} of {} mistakes are noticed at the detail `{detail}`", mistakes.len());
    for (name, does) in unnoticed {
        write!(told, "\n  not {name}: {does}").unwrap();
    }
    tell(&told);
    assert!(detail != "default" || score * 20 >= mistakes.len() * NOTICED_OF_TWENTY, "{told}");
}

/// Returns the scenarios that notice a mistake: `FIRST`, else the others, else `LAST`.
fn noticed_by(tree: &Tree, mistake: &str) -> Vec<String> {
    let others: Vec<&str> = SCENARIOS.into_iter().filter(|name| !FIRST.contains(name) && *name != LAST).collect();
    let groups: [&[&str]; 3] = [&FIRST, &others, &[LAST]];
    groups.iter().map(|names| failed(&play(tree, mistake, names))).find(|by| !by.is_empty()).unwrap_or_default()
}

/// Runs these scenarios with a mistake. `CI` is set, so concurrent runs write no golden.
fn play(tree: &Tree, mistake: &str, names: &[&str]) -> Ran {
    let others = SCENARIOS.into_iter().filter(|name| !names.contains(name)).flat_map(|name| ["--skip", name]);
    let args: Vec<&str> = ["--test-threads", "4", "--exact"].into_iter().chain(others).collect();
    tree.runner("bare").env("GATEWAY_MUTANT", mistake).env("CI", "1").args(&args).run()
}

/// Returns the scenarios that failed.
fn failed(ran: &Ran) -> Vec<String> {
    let failed = ran.trials().into_iter().filter(|(_, result)| *result == "FAILED");
    let failed: Vec<String> = failed.map(|(name, _)| name.to_owned()).collect();
    match ran.code {
        Some(0) if failed.is_empty() => {}
        Some(101) if !failed.is_empty() => {}
        // A miss came after the verdicts, so no scenario failed.
        Some(101) => return vec!["the run".to_owned()],
        code => panic!("exit code {code:?}: {}", ran.all()),
    }
    failed
}

/// Sets the same detail for all goldens.
fn set_detail(tree: &Tree, detail: &str) {
    for name in SCENARIOS {
        let file = format!("scenarios/{name}/scenario.toml");
        let mut scenario: toml::Table = tree.read(&file).parse().unwrap();
        let golden = scenario.entry("golden").or_insert_with(|| toml::Table::new().into());
        golden.as_table_mut().unwrap().insert("detail".to_owned(), detail.into());
        tree.write(&file, &toml::to_string(&scenario).unwrap());
    }
}

#[expect(clippy::print_stdout, reason = "the result is shown even if the test passes")]
fn tell(text: &str) {
    println!("{text}");
}
