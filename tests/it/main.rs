//! The runner and the command as a user starts them, each on a project of its own in a temporary folder.
//!
//! This binary is both sides: without more it runs the tests; started by one of them with `RETAKE_IT_RUNNER` it is the
//! runner of that test's project. So nothing here passes unless a runner ran, failed or passed, and said why.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

/// A test and its name.
type Test = (&'static str, fn());

/// The tests of a module. One that is not in the list is never used, and the compiler says so.
macro_rules! tests {
    ($module:ident: $($name:ident),+ $(,)?) => {
        pub(crate) const TESTS: &[crate::Test] = &[$((concat!(stringify!($module), "::", stringify!($name)), $name)),+];
    };
}

mod abused_fixtures;
mod abused_folders;
mod abused_goldens;
mod abused_requests;
mod cassettes;
mod command;
mod deerflow;
mod discovery;
mod drift;
mod durable;
mod durable_agent;
mod events;
mod failing_systems;
mod fixtures;
mod fuzz_corpus;
mod house;
mod late_calls;
mod loopback;
mod misses;
mod mutation;
mod oddities;
mod proof;
mod proxy;
mod raw_system;
mod recording;
mod resuming;
mod rounds;
mod runner_flags;
mod secrets;
mod serve;
mod spoilt;
mod systems;
mod time_limits;
mod tools;
mod tree;
mod updating;
mod varying;

fn main() -> ExitCode {
    if let Ok(system) = std::env::var(systems::RUNNER) {
        return systems::runner(&system);
    }
    if let Ok(port) = std::env::var(raw_system::PORT) {
        return raw_system::serve(&port);
    }
    if let Some(folder) = std::env::var_os(durable::AGENT) {
        return durable::agent_process(folder.as_ref());
    }
    let tests: &[&[Test]] = &[
        abused_fixtures::TESTS,
        abused_folders::TESTS,
        abused_goldens::TESTS,
        abused_requests::TESTS,
        command::TESTS,
        deerflow::TESTS,
        discovery::TESTS,
        drift::TESTS,
        durable::TESTS,
        events::TESTS,
        failing_systems::TESTS,
        fuzz_corpus::TESTS,
        house::TESTS,
        house::made_up::TESTS,
        late_calls::TESTS,
        misses::TESTS,
        proof::TESTS,
        proxy::TESTS,
        recording::TESTS,
        resuming::TESTS,
        runner_flags::TESTS,
        secrets::TESTS,
        serve::TESTS,
        time_limits::TESTS,
        tools::TESTS,
        updating::TESTS,
    ];
    let trials = tests.concat().into_iter().map(|(name, test)| {
        Trial::test(name, move || {
            test();
            Ok(())
        })
    });
    let trials = trials.chain(cassettes::trials()).collect();
    // Most of them wait for processes of theirs.
    let mut arguments = Arguments::from_args();
    arguments.test_threads.get_or_insert(12);
    libtest_mimic::run(&arguments, trials).exit_code()
}
