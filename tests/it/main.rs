//! The runner and the command as a user starts them, each on a project of its own in a temporary folder.
//!
//! This binary is both sides: without more it runs the tests; started by one of them with `RETAKE_IT_RUNNER` it is the
//! runner of that test's project. So nothing here passes unless a runner ran, failed or passed, and said why.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// The module of a test, its name, and the test.
type Test = (&'static str, &'static str, fn());

/// The tests of a module. One that is not in the list is never used, and the compiler says so.
macro_rules! tests {
    ($($name:ident),+ $(,)?) => {
        pub(crate) const TESTS: &[crate::Test] = &[$((module_path!(), stringify!($name), $name)),+];
    };
}

mod audit;
#[cfg(feature = "browser")]
mod browser;
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
mod tools;

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
        Some(systems::service::AGENT) => return systems::service::work(),
        Some(tools::agent::SERVER) => return tools::agent::serve(),
        Some(tools::agent::AGENT) => return tools::agent::work(),
        _ => {}
    }
    let trials = all().into_iter().map(|(module, name, test)| {
        Trial::test(format!("{module}::{name}"), move || {
            test();
            Ok(())
        })
    });
    let trials = trials.chain(record::cassettes::trials()).chain(mutants::trials()).collect();
    // Most of them wait for processes of theirs.
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(12);
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// All tests, with their modules below this one.
fn all() -> Vec<Test> {
    let tests = [
        audit::TESTS,
        &[documentation::TESTS],
        failures::TESTS,
        fields::TESTS,
        house::TESTS,
        mistakes::TESTS,
        mutants::TESTS,
        record::TESTS,
        replay::TESTS,
        reports::TESTS,
        runner::TESTS,
        systems::TESTS,
        tools::TESTS,
        #[cfg(feature = "browser")]
        browser::TESTS,
    ];
    let tests = tests.concat().concat().into_iter();
    // Without the name of this program.
    tests
        .map(|(module, name, test)| (module.split_once("::").map_or(module, |(_, module)| module), name, test))
        .collect()
}
