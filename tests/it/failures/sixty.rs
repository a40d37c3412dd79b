//! Each of sixty changes is made in a project of its own, which is then tested.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::changes::{CHANGES, made};

tests! { the_first_line_of_each_change_names_what_changed_and_only_that }

/// How many projects are tested at a time.
const AT_A_TIME: usize = 4;

/// What was told of each change, in their order.
static TOLD: LazyLock<Vec<String>> = LazyLock::new(|| {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut told = Vec::new();
        while let Some((index, change)) = {
            let i = next.fetch_add(1, Ordering::Relaxed);
            CHANGES.get(i).map(|c| (i, c))
        } {
            let (_, run) = made(change);
            let failed = run.trials().get(change.scenario) == Some(&"FAILED");
            told.push((index, if failed { run.failure(change.scenario).to_owned() } else { run.all() }));
        }
        told
    };
    let mut told = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect::<Vec<_>>()
    });
    told.sort();
    told.into_iter().map(|(_, told)| told).collect()
});

/// The line that a person reads first. What a scenario's author says of it stands below.
fn first_line(told: &str) -> &str {
    told.lines().next().unwrap_or_default()
}

fn the_first_line_of_each_change_names_what_changed_and_only_that() {
    assert!(CHANGES.len() >= 60, "{}", CHANGES.len());
    assert!(CHANGES.iter().filter(|change| change.mutant.is_some() && change.edit.is_some()).count() >= 10);
    let mut wrong = Vec::new();
    for (change, told) in CHANGES.iter().zip(&*TOLD) {
        let line = first_line(told);
        let right = change.names.iter().all(|name| line.contains(name));
        let only = line.matches("; and ").count() + 1 == change.names.len();
        if !right || !only {
            wrong.push(format!("{} ({}):\n{told}", change.name, if right { "not only that" } else { "not named" }));
        }
    }
    if let Some(file) = std::env::var_os("RETAKE_FAILURES") {
        let all: Vec<String> =
            CHANGES.iter().zip(&*TOLD).map(|(c, told)| format!("=== {}\n{told}\n", c.name)).collect();
        std::fs::write(file, all.join("\n")).unwrap();
    }
    assert!(wrong.is_empty(), "{} of {} wrong:\n\n{}", wrong.len(), CHANGES.len(), wrong.join("\n\n"));
}
