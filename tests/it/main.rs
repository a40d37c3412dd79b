//! Tests that start the runner and the command as a user does, each on its own project in a temporary folder.
//!
//! This binary plays both parts. Started normally, it runs the tests. Started by one of these tests with `RETAKE_IT_RUNNER`
//! set, it is the runner of that test's project. It also serves as several of the systems that the tests drive.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// A test: its module, its name and its function.
type Test = (&'static str, &'static str, fn());

/// The beginnings of the names of the tests that take longest.
const LONGEST: [&str; 6] = [
    "worlds::kinds",
    "record::recording::recording_again",
    "failures::sixty::the_first_line_of",
    "audit::own",
    "worlds::guide",
    "record::resuming::a_",
];

/// Lists the tests of a module. The compiler warns about a test that is missing from the list, because nothing uses it.
macro_rules! tests {
    ($($name:ident),+ $(,)?) => {
        pub(crate) const TESTS: &[crate::Test] = &[$((module_path!(), stringify!($name), $name)),+];
    };
}

mod audit;
#[cfg(feature = "browser")]
mod browser;
mod cost;
mod documentation;
mod failures;
mod fields;
mod house;
mod mistakes;
mod mutants;
mod record;
mod replay;
mod reports;
mod runner;
#[path = "../support/mod.rs"]
mod support;
mod systems;
mod today;
mod tools;
mod worlds;

fn main() -> ExitCode {
    if let Ok(system) = std::env::var(support::tree::RUNNER) {
        return runner::routers::runner(&system);
    }
    if let Ok(port) = std::env::var(mistakes::raw_system::PORT) {
        return mistakes::raw_system::serve(&port);
    }
    if let Some(folder) = std::env::var_os(record::durable::AGENT) {
        return record::durable::agent_process(folder.as_ref());
    }
    match std::env::args().nth(1).as_deref() {
        Some(systems::service::SERVICE) => return systems::service::serve(),
        Some(failures::desk::DESK) => return failures::desk::serve(),
        Some(record::dated::AGENT) => return record::dated::serve(),
        Some(systems::sockets::SOCKETS) => return systems::sockets::serve(),
        Some(failures::forty::SCRIPT) => return failures::forty::serve(),
        Some(systems::service::AGENT) => return systems::service::work(),
        Some(tools::agent::SERVER) => return tools::agent::serve(),
        Some(tools::agent::AGENT) => return tools::agent::work(),
        Some(tools::talking::SERVER) => return tools::talking::serve(),
        Some(tools::client::AGENT) => return tools::client::work(),
        _ => {}
    }
    let trials = all().into_iter().map(|(module, name, test)| {
        Trial::test(format!("{module}::{name}"), move || {
            test();
            Ok(())
        })
    });
    let trials = trials
        .chain(record::cassettes::trials())
        .chain(record::clock::trials())
        .chain(mutants::trials())
        .chain(cost::estimates::trials())
        .chain(cost::faults::trials())
        .chain(worlds::mistakes::trials());
    let mut trials: Vec<Trial> = trials.collect();
    // Tests of one module wait for the same things, so those that run at once are of several. What takes longest comes first, and
    // would be left alone at the end otherwise.
    let is_long = |trial: &Trial| LONGEST.iter().any(|name| trial.name().starts_with(name));
    let mut others = 0;
    trials.sort_by_cached_key(|trial| {
        others += 1;
        if is_long(trial) { 0 } else { 1 + others % 32 }
    });
    // Most tests spend their time waiting for the processes that they started.
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(12);
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// Returns all tests, with their module paths relative to this crate.
fn all() -> Vec<Test> {
    let tests = [
        audit::TESTS,
        cost::TESTS,
        &[documentation::TESTS],
        failures::TESTS,
        fields::TESTS,
        &[house::TESTS],
        mistakes::TESTS,
        mutants::TESTS,
        record::TESTS,
        replay::TESTS,
        reports::TESTS,
        runner::TESTS,
        systems::TESTS,
        today::TESTS,
        tools::TESTS,
        worlds::TESTS,
        #[cfg(feature = "browser")]
        browser::TESTS,
    ];
    let tests = tests.concat().concat().into_iter();
    // The module paths begin with the name of this program, which is dropped.
    tests
        .map(|(module, name, test)| (module.split_once("::").map_or(module, |(_, module)| module), name, test))
        .collect()
}
