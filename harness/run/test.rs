//! Testing: one test for each scenario and one for orphans, with libtest's interface.
//!
//! `cargo test`, `cargo nextest run` and `retake test` run the same tests with the same names, since all of them call this. Under
//! nextest each test is a process of its own, so misses are checked in each test, and once more at the end of the process.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::available_parallelism;

use libtest_mimic::{Completion, Failed, FormatSetting, Trial};

use super::advice::looked_into;
use super::filter::Wanted;
use super::fixtures::Fixtures;
use super::policy::Policy;
use super::project::Project;
use super::proof::prove;
use super::slots::Claim;
use super::trial::{self, How};
use super::{orphans, second_look, tools, unused_names, verdict};
use crate::report::{Failure, RunAction, Screen, terminal};
use retake_base::error::Result;
use retake_base::text::counted;
use retake_core::secrets::shown;
use retake_model as model;
use retake_scenario::{self as scenario, Broken, Scenario};
use retake_wire::fixture::Fixture;

/// Runs the tests that the arguments ask for. The exit code is libtest's: 0 if all passed, 101 if one failed or a model call
/// missed after its scenario's verdict.
///
/// # Errors
/// If no test is left, and the arguments are meant for scenarios only.
pub(super) fn run(project: &Arc<Project>, wanted: &Wanted) -> Result<ExitCode> {
    let mut args = wanted.arguments();
    let mut tests = tests(project, wanted.fails_fast());
    let all: BTreeSet<String> = tests.iter().map(|test| test.name().to_owned()).collect();
    tests.retain(|test| wanted.wants(test.name()));
    let is_run = |test: &Trial| !args.is_filtered_out(test) && !args.is_ignored(test);
    let names: BTreeSet<&str> = tests.iter().filter(|test| is_run(test)).map(Trial::name).collect();
    wanted.check(names.len(), project)?;
    for test in tests.iter().filter(|test| test.has_ignored_flag() && !args.is_filtered_out(test)) {
        project.note(test.name(), vec![format!("ignored: {}", scenario::without_browser())]);
    }
    let alone_on = |scenario: &Scenario| trial::claim(project, scenario, false, None);
    let scenarios = project.discovered.sound().filter(|scenario| names.contains(scenario.name.as_str()));
    let scenarios = scenarios.map(|scenario| (scenario.name.clone(), alone_on(scenario))).collect();
    let slots = args.test_threads.or_else(|| available_parallelism().ok().map(NonZero::get)).unwrap_or(1);
    // Most threads only wait: the slots limit how many scenarios run at the same time.
    args.test_threads = Some(project.slots.open(slots, scenarios));
    if !args.list && wanted.only_some().is_none() {
        project.keep_runs_of(|name| all.contains(name));
    }
    let ran: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
    // Programs that read the other formats expect nothing else in the output.
    let for_people = !args.list && !args.quiet && matches!(args.format, None | Some(FormatSetting::Pretty));
    // With one thread, libtest itself prints the name of each test before it runs, and ends that line later.
    if for_people && args.test_threads != Some(1) {
        project.running.draw();
    }
    let conclusion = libtest_mimic::run(&args, tests);
    project.running.end(for_people);
    project.end();
    project.print_notes();
    // Under nextest a process knows only its own scenario; `retake report --form markdown` writes the summary there.
    if wanted.only_one().is_none() {
        project.summarize(|name| ran.contains(name));
    }
    Ok(if missed_late() { ExitCode::from(101) } else { conclusion.exit_code() })
}

/// One test for each scenario, and the one for orphans. With `fail_fast`, tests after the first failure are reported as ignored.
fn tests(project: &Arc<Project>, fail_fast: bool) -> Vec<Trial> {
    let mut tests: Vec<Trial> = Vec::new();
    for found in &project.discovered.scenarios {
        let project = project.clone();
        tests.push(match found {
            Ok(scenario) => {
                let scenario = scenario.clone();
                let ignored = scenario.needs_browser() && !cfg!(feature = "browser");
                let name = scenario.name.clone();
                let run = move || {
                    let _turn = project.slots.turn(&scenario.name, claim(&project, &scenario));
                    if fail_fast && project.failed.load(Ordering::Relaxed) {
                        return Ok(Completion::ignored_with("another scenario failed"));
                    }
                    let _playing = project.running.begin(&scenario.name);
                    let tested = || test(&project, &scenario);
                    let tested = project.logged(&scenario, action(project.goldens.policy()), tested);
                    project.failed.fetch_or(tested.is_err(), Ordering::Relaxed);
                    let tested = tested.map_err(|failure| failure.about(&scenario.description));
                    of_libtest(tested, &scenario.name).map(|()| Completion::Completed)
                };
                Trial::ignorable_test(name, run).with_ignored_flag(ignored)
            }
            Err(Broken { name, error }) => {
                let (name, error) = (name.clone(), error.clone());
                let file = error.file().unwrap_or(&project.root).to_owned();
                Trial::test(name.clone(), move || {
                    project.failed.store(true, Ordering::Relaxed);
                    of_libtest(project.logged_check(&name, &file, || Err(Failure::from(error))), &name)
                })
            }
        });
    }
    let all = project.clone();
    let check = move || all.logged_check(orphans::NAME, &all.root, || orphans::check(&all));
    tests.push(Trial::test(orphans::NAME, move || of_libtest(check(), orphans::NAME)));
    tests
}

/// What a scenario needs for itself. If its golden may be written, no other scenario uses its system meanwhile.
fn claim(project: &Project, scenario: &Scenario) -> Option<Claim> {
    let in_company = project.systems.shares(scenario) && project.goldens.policy() != Policy::Overwrite;
    match in_company.then(|| project.fixtures.of(scenario)) {
        Some(Ok(fixture)) => trial::claim(project, scenario, true, fixture.as_deref()),
        Some(Err(_)) | None => trial::claim(project, scenario, false, None),
    }
}

fn action(policy: Policy) -> RunAction {
    match policy {
        Policy::Overwrite => RunAction::Update,
        Policy::Verify | Policy::Propose => RunAction::Test,
    }
}

fn of_libtest(result: Result<(), Failure>, name: &str) -> Result<(), Failed> {
    result.map_err(|failure| Failed::from(Screen::of_stdout().show(&failure.with_texts(shown), name)))
}

/// Tests one scenario: by a run and its verdict, or by a proof if its golden may be written.
fn test(project: &Project, scenario: &Scenario) -> Result<(), Failure> {
    if let Some(tested) = tools::test(project, scenario) {
        return tested;
    }
    let fixture = project.fixtures.of(scenario)?;
    if let Some(fixture) = &fixture {
        say_unstable(scenario, fixture);
    }
    unused_names::check(project, scenario, fixture.as_deref())?;
    if project.goldens.policy() == Policy::Overwrite {
        let agreed = prove(project, scenario, fixture.as_ref(), None)?;
        return agreed.golden.map_or(Ok(()), |text| verdict::compare(project, scenario, &text));
    }
    verdict::check_format(project, scenario)?;
    let replay = |how| trial::replay(project, scenario, fixture.clone(), &project.rules, how);
    let mut replayed = replay(How { in_company: true, ..How::default() });
    let suspected = replayed.as_ref().map(|replayed| replayed.suspected.clone()).unwrap_or_default();
    let crashed = replayed.as_ref().map_or(true, |replayed| replayed.played.fault.is_some());
    if !suspected.is_empty() || (crashed && project.systems.shares(scenario)) {
        // A call came that may belong to this scenario or to another one that used the same system meanwhile, or one of them made the
        // system crash. Alone on the system, a scenario is responsible for all that happens.
        replayed = replay(How::default());
        if replayed.as_ref().is_ok_and(|replayed| !replayed.misses.is_empty()) {
            for scope in suspected {
                scope.judge();
            }
        }
    }
    let mut replayed = replayed.map_err(|error| looked_into(Failure::from(error), &scenario.name))?;
    replayed.look_again_at_pieces(project, scenario);
    project.note_replay(scenario, &replayed);
    let otherwise = |fixture: &Arc<Fixture>| Fixtures::named_otherwise(scenario, fixture, &project.discovered);
    let of_file = replayed.fixture.as_ref().and_then(otherwise);
    project.note(&scenario.name, of_file.into_iter().chain(replayed.notes(scenario)).collect());
    let judged = replayed.verdict(scenario).and_then(|text| {
        // This also proposes the text as a new golden if it differs.
        text.map_or(Ok(()), |text| verdict::compare(project, scenario, &text))
    });
    judged.map_err(|failure| second_look::failure(project, scenario, &replayed, failure))
}

/// Prints a warning if a fixture was written without a proof.
fn say_unstable(scenario: &Scenario, fixture: &Fixture) {
    if !fixture.unstable.is_empty() {
        let (name, file) = (&scenario.name, fixture.path.display());
        let why = fixture.unstable.join("\n  ");
        terminal::note(format!("{name}: {file} was written without a proof, because this varied:\n  {why}"));
    }
}

/// Prints the calls that missed after their scenario's verdict. Returns whether there are any.
fn missed_late() -> bool {
    let late = model::unjudged();
    for miss in &late {
        terminal::note(format!("\n{miss}"));
    }
    if !late.is_empty() {
        terminal::error(format!("{} came after the scenario's verdict, and missed", counted(late.len(), "model call")));
    }
    !late.is_empty()
}
