//! Testing: one test for each scenario and one for orphans, with libtest's interface.
//!
//! `cargo test`, `cargo nextest run` and `retake test` run the same tests with the same names, since all of them call this. Under
//! nextest each test is a process of its own, so misses are checked in each test, and once more at the end of the process.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::available_parallelism;

use libtest_mimic::{Completion, Failed, FormatSetting, Trial};

use super::advice::{Tried, looked_into};
use super::commands::record_command;
use super::failing::Failing;
use super::filter::Wanted;
use super::fixtures::Fixtures;
use super::policy::Policy;
use super::project::Project;
use super::proof::{await_next_second, prove};
use super::shard::{self, Shard};
use super::trial::{self, How, Replayed, Use};
use super::{orphans, second_look, tools, verdict, worlds};
use crate::report::{Deed, Failure, NO_LATE_CALLS, Note, RunAction, Screen, libtest, terminal};
use retake_base::error::Result;
use retake_base::text::counted;
use retake_core::events::{Golden, Passing};
use retake_core::secrets::shown;
use retake_model::{self as model, Pacing};
use retake_scenario::{self as scenario, Broken, Scenario};
use retake_wire::fixture::Fixture;

/// Runs the tests that the arguments ask for. The exit code is libtest's: 0 if all passed, 101 if one failed or a model call
/// missed after its scenario's verdict.
/// Fails if no test is left, and the arguments are meant for scenarios only.
pub(super) fn run(project: &Arc<Project>, wanted: &Wanted) -> Result<ExitCode> {
    let mut args = wanted.arguments();
    let tagged = wanted.tagged(project)?;
    // Programs that read the other formats expect nothing else in the output, and look at each test by itself.
    let in_groups = args.format != Some(FormatSetting::Json);
    let mut tests = tests(project, wanted.options.fail_fast, in_groups);
    let all: BTreeSet<String> = tests.iter().map(|test| test.name().to_owned()).collect();
    tests.retain(|test| wanted.wants(test.name()) && tagged(test.name()));
    let is_run = |test: &Trial| !args.is_filtered_out(test) && !args.is_ignored(test);
    let names: BTreeSet<&str> = tests.iter().filter(|test| is_run(test)).map(Trial::name).collect();
    wanted.check(names.len(), project)?;
    if let Some(shard) = wanted.options.shard {
        let part = part(shard, &names, &project.root)?;
        // The first part also tells what is ignored.
        tests.retain(|test| part.contains(test.name()) || (shard.is_first() && args.is_ignored(test)));
        let _ = project.shard.set(shard);
    }
    let names: BTreeSet<&str> = tests.iter().filter(|test| is_run(test)).map(Trial::name).collect();
    for test in tests.iter().filter(|test| args.is_ignored(test) && !args.is_filtered_out(test)) {
        let skipped = project.discovered.sound().find(|of| of.name == test.name()).and_then(|of| of.skip.clone());
        let why = skipped.unwrap_or_else(|| scenario::without_browser().to_string());
        project.note(test.name(), vec![format!("ignored: {why}")]);
        if !args.list {
            project.skipped(test.name());
        }
    }
    let claim = |scenario: &Scenario, used| trial::claim(project, scenario, used);
    let scenarios = project.discovered.sound().filter(|scenario| names.contains(scenario.name.as_str()));
    let scenarios = scenarios.map(|scenario| (scenario.name.clone(), claim(scenario, Use::InCompany)));
    let of_worlds = project.discovered.sound().map(|of| (worlds::name_of(&of.name), claim(of, Use::Alone)));
    let scenarios = scenarios.chain(of_worlds.filter(|(name, _)| names.contains(name.as_str()))).collect();
    let slots = args.test_threads.or_else(|| available_parallelism().ok().map(NonZero::get)).unwrap_or(1);
    // Most threads only wait: the slots limit how many scenarios run at the same time.
    args.test_threads = Some(project.slots.open(slots, scenarios, wanted.options.fail_fast));
    if !args.list && wanted.only_one().is_none() {
        project.runs.runs.forget(NO_LATE_CALLS);
    }
    if !args.list && wanted.only_some().is_none() {
        project.runs.runs.keep_only(|name| all.contains(name));
    }
    let ran: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
    let for_people = !args.list && !args.quiet && matches!(args.format, None | Some(FormatSetting::Pretty));
    // With one thread, libtest itself prints the name of each test before it runs, and ends that line later.
    if for_people && args.test_threads != Some(1) {
        project.running.draw();
    }
    let conclusion = libtest::run(&mut args, tests);
    project.running.end(for_people);
    project.end();
    let late = late_calls(project, wanted);
    project.print_notes();
    if for_people {
        // Which of several failures say the same, and what resolves them.
        project.runs.failed.lock().lines().into_iter().for_each(terminal::note);
    }
    // Under nextest a process knows only its own scenario; `retake report --form markdown` writes the summary there.
    if wanted.only_one().is_none() {
        project.summarize(|name| ran.contains(name) || late && name == NO_LATE_CALLS);
    }
    if wanted.is_whole() && wanted.only_one().is_none() {
        shard::write_times(&project.root, &project.runs.times.lock());
    }
    Ok(if late { ExitCode::from(101) } else { conclusion.exit_code() })
}

/// The trials of one shard. What is checked once for a project belongs to the first.
fn part(shard: Shard, names: &BTreeSet<&str>, root: &Path) -> Result<BTreeSet<String>> {
    let times = shard::times(root)?;
    let scenarios: BTreeSet<&str> = names.iter().copied().filter(|name| *name != orphans::NAME).collect();
    let mut part: BTreeSet<String> = shard.part(&scenarios, &times).into_iter().map(str::to_owned).collect();
    let (own, all) = (part.len(), counted(scenarios.len(), "scenario"));
    terminal::note(match own {
        0 => format!("shard {shard}: none of {all} is left for this job"),
        _ => format!("shard {shard}: {own} of {all}"),
    });
    part.extend(names.iter().filter(|name| **name == orphans::NAME && shard.is_first()).map(|name| (*name).to_owned()));
    Ok(part)
}

/// One test for each scenario, and the one for orphans. With `fail_fast`, tests after the first failure are reported as ignored.
fn tests(project: &Arc<Project>, fail_fast: bool, in_groups: bool) -> Vec<Trial> {
    let mut tests: Vec<Trial> = Vec::new();
    for found in &project.discovered.scenarios {
        let project = project.clone();
        tests.push(match found {
            Ok(scenario) => {
                let ignored = scenario.skip.is_some() || scenario.needs_browser() && !cfg!(feature = "browser");
                let logged: Tested = |project, scenario| {
                    let overwrites = project.goldens.policy == Policy::Overwrite;
                    let action = if overwrites { RunAction::Update } else { RunAction::Test };
                    project.logged(scenario, action, || test(project, scenario))
                };
                let (name, how) = (scenario.name.clone(), (fail_fast, in_groups));
                trial_of(project, scenario, name, Use::InCompany, how, logged).with_ignored_flag(ignored)
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
    for scenario in project.discovered.sound().filter(|scenario| worlds::has_worlds(scenario).is_some()) {
        let (name, how) = (worlds::name_of(&scenario.name), (fail_fast, false));
        tests.push(trial_of(project.clone(), scenario, name, Use::Alone, how, worlds::test));
    }
    let all = project.clone();
    let check = move || all.logged_check(orphans::NAME, &all.root, || orphans::check(&all));
    tests.push(Trial::test(orphans::NAME, move || of_libtest(check(), orphans::NAME)));
    tests
}

type Tested = fn(&Project, &Scenario) -> Result<(), Failure>;

/// The test of a scenario, or of its worlds. With `in_groups`, a failure like an earlier one only names that one.
fn trial_of(
    project: Arc<Project>,
    scenario: &Scenario,
    name: String,
    used: Use,
    (fail_fast, in_groups): (bool, bool),
    test: Tested,
) -> Trial {
    let (scenario, of) = (scenario.clone(), name.clone());
    let run = move || {
        let _turn = project.slots.turn(&of, trial::claim(&project, &scenario, used));
        if fail_fast && project.failed.load(Ordering::Relaxed) {
            return Ok(Completion::ignored_with("another scenario failed"));
        }
        let _playing = project.running.begin(&of);
        let tested = test(&project, &scenario);
        project.failed.fetch_or(tested.is_err(), Ordering::Relaxed);
        let tested = tested.map_err(|failure| failure.about(&scenario.description));
        let first = project.runs.failed.lock().first_like(&of).filter(|_| in_groups).map(str::to_owned);
        match first {
            Some(first) => Err(Failed::from(format!("the same as `{first}`"))),
            None => of_libtest(tested, &of).map(|()| Completion::Completed),
        }
    };
    Trial::ignorable_test(name, run)
}

fn of_libtest(result: Result<(), Failure>, name: &str) -> Result<(), Failed> {
    result.map_err(|failure| Failed::from(Screen::of_stdout().show(&failure.with_texts(shown), name)))
}

/// Tests one scenario: by a run and its verdict, or by a proof if its golden may be written.
fn test(project: &Project, scenario: &Scenario) -> Result<(), Failure> {
    if let Some(tested) = tools::test(project, scenario) {
        return tested;
    }
    // The error says the command itself.
    let unrecorded = |error| Failure { does: Some(Deed::Record), ..Failure::from(error) };
    let fixture = project.fixtures.of(scenario).map_err(unrecorded)?;
    if let Some(fixture) = &fixture {
        say_flaws(scenario, fixture);
    }
    orphans::check_callers(project, scenario, fixture.as_deref())?;
    if project.goldens.policy == Policy::Overwrite {
        let agreed = prove(project, scenario, fixture.as_ref())?;
        agreed.compared(project, scenario)?;
        let anew = fixture.map_or(Ok(None), |fixture| project.fixtures.write_anew(&fixture, &agreed.varying))?;
        project.note(&scenario.name, project.noted(&scenario.name).into_iter().chain(anew.map(Note::from)));
        return Ok(());
    }
    verdict::check_format(project, scenario)?;
    let mut failures: Vec<String> = Vec::new();
    loop {
        let retries = failures.len() < usize::from(scenario.options.retries);
        match attempt(project, scenario, fixture.as_ref(), retries, true) {
            Err(Attempt::Again(failure)) => failures.push(failure.headline()),
            Err(Attempt::Failed(failure)) => {
                let tries = failures.iter().enumerate();
                let tries = tries.map(|(index, what)| format!("try {} failed too: {what}", index + 1));
                return Err(tries.fold(failure, Failure::evidence));
            }
            Ok(crash) => {
                failures.extend(crash);
                project.note_flaky(&scenario.name, failures);
                return Ok(());
            }
        }
    }
}

/// A replay that failed.
enum Attempt {
    /// Without a miss, and there is another try.
    Again(Failure),
    Failed(Failure),
}

/// Replays a scenario once. After a miss there is no other try: a call that was not recorded is not recorded the next time either,
/// and if it comes only sometimes, that is what has to be found. Returns the crash of a shared system before the scenario was green
/// alone on it.
fn attempt(
    project: &Project,
    scenario: &Scenario,
    fixture: Option<&Arc<Fixture>>,
    retries: bool,
    is_first: bool,
) -> Result<Option<String>, Attempt> {
    let replayed = trial::replay_in_company(project, scenario, fixture, &project.rules);
    let (mut replayed, crashed) = replayed.map_err(|error| {
        let failure = looked_into(Failure::from(error), &scenario.name);
        if retries { Attempt::Again(failure) } else { Attempt::Failed(failure) }
    })?;
    let is_broken = |run: &Replayed| !run.findings(scenario).is_none();
    let may_play_again = |run: &Replayed| second_look::may_play_again(project, scenario, run);
    if replayed.early != replayed.early_if_broken && is_broken(&replayed) && may_play_again(&replayed) {
        // The service has a time limit of its own, and did something else when an answer was held back longer.
        let how = How { asked: Some(&Passing::default()), ..How::default() };
        let free = trial::replay(project, scenario, fixture.cloned(), &project.rules, how).ok();
        if let Some(free) = free.filter(|free| !is_broken(free)) {
            replayed = Replayed { early: replayed.early_if_broken, ..free };
        }
    }
    measure(project, scenario, &mut replayed);
    project.note_replay(scenario, &replayed);
    let otherwise = |fixture: &Arc<Fixture>| Fixtures::named_otherwise(scenario, fixture, &project.discovered);
    let of_file = replayed.fixture.as_ref().and_then(otherwise);
    let recorded = replayed.fixture.as_ref().and_then(|fixture| fixture.recorded);
    let days = recorded.map(|minute| (time::OffsetDateTime::now_utc() - minute.time()).whole_days());
    let days_old = days.filter(|days| project.discovered.suite.max_age.is_some_and(|most| *days > most.into()));
    project.runs.with(&scenario.name, |data| data.days_old = days_old);
    let anew = record_command(&scenario.name);
    let old = |days| Note::from(format!("recorded {days} days ago, longer than `max_age`; to record it again: {anew}"));
    let of_run = replayed.notes(scenario).into_iter().chain(replayed.new_headers(scenario).into_iter().map(Note::from));
    project.note(&scenario.name, of_file.map(Note::from).into_iter().chain(days_old.map(old)).chain(of_run));
    let failing = Failing::of(&replayed, None, scenario);
    let is_sound = failing.findings.is_none();
    let golden = replayed.own_golden(scenario).filter(|_| is_sound);
    // This also proposes the golden of the run as a new one if it differs.
    let of_golden = golden.and_then(|golden| {
        let older = replayed.older_sides(project, scenario, Some(golden));
        verdict::compare(project, scenario, golden, older.as_ref(), replayed.clock.recorded).err()
    });
    if is_sound && of_golden.is_none() {
        return Ok(crashed);
    }
    // A clock that drops zeros does so once in a while. What another replay shows, too, is no accident.
    let drops = |own: &Golden| replayed.committed.as_ref().is_some_and(|of| own.clone().drops_fractions(&of.golden));
    if is_first && golden.is_some_and(drops) && may_play_again(&replayed) {
        return attempt(project, scenario, fixture, retries, false);
    }
    let again = may_play_again(&replayed);
    if (Tried { project, scenario, run: &replayed, second: None, unused: &[], again }).is_of_zone() {
        project.note(&scenario.name, [OF_ZONE.to_owned()]);
        return Ok(crashed);
    }
    if retries && replayed.misses.is_empty() {
        project.keep_logs(&scenario.name, &replayed.played.systems);
        return Err(Attempt::Again(of_golden.unwrap_or_else(|| failing.failure())));
    }
    Err(Attempt::Failed(second_look::failure(project, scenario, &replayed, of_golden)))
}

/// What is said of a service that is right about the day by another zone.
const OF_ZONE: &str = "the service tells another day than it is here and by UTC, but not at 10:30 UTC: it has a time zone of its own. Where its \
                       scenario names that, as `# Europe/Paris` in scenario.toml, its day is known";

/// Measures what the calls of a run that went well cost, if that is asked for. Where the golden says that nothing varies, another run
/// tries whether that is still so.
fn measure(project: &Project, scenario: &Scenario, run: &mut Replayed) {
    if scenario.options.cost.is_none() || !run.misses.is_empty() || run.played.error().is_some() {
        return;
    }
    let mut known = run.committed.iter().flat_map(|committed| &committed.golden.cost);
    let may_vary = known.any(|cost| !cost.varies) && !scenario.needs_browser();
    let again = (may_vary && second_look::may_play_again(project, scenario, run)).then(|| {
        if !project.systems.moves_clock(scenario) {
            await_next_second();
        }
        let how = How { pacing: Pacing::Shaken, ..How::default() };
        trial::replay(project, scenario, run.fixture.clone(), &run.rules, how).ok()
    });
    let again = again.flatten().filter(|again| again.misses.is_empty());
    run.measure(project, scenario, again.as_ref(), false);
}

/// Prints a warning if a fixture was written without a proof, and one if calls are missing in it that was made of a trace.
fn say_flaws(scenario: &Scenario, fixture: &Fixture) {
    let holes = format!("lacks {} of its trace", counted(fixture.holes.len(), "model call"));
    let unproven = "was written without a proof, because this varied".to_owned();
    for (what, lines) in [(unproven, &fixture.unstable), (holes, &fixture.holes)] {
        if !lines.is_empty() {
            let (name, file) = (&scenario.name, fixture.path.display());
            terminal::note(format!("{name}: {file} {what}:\n  {}", lines.join("\n  ")));
        }
    }
}

/// Prints the calls that missed after their scenario's verdict, and puts them into the data of the run, as a check that failed.
/// Returns whether there are any.
fn late_calls(project: &Project, wanted: &Wanted) -> bool {
    let late = model::unjudged();
    if late.is_empty() {
        return false;
    }
    for miss in &late {
        terminal::note(format!("\n{miss}"));
    }
    let what = format!("{} came after the scenario's verdict, and missed", counted(late.len(), "model call"));
    terminal::error(&what);
    let linger = ("to wait longer for such calls, in scenario.toml", "linger = \"5s\"");
    let failure = late.iter().fold(Failure::new(what), |failure, miss| failure.evidence(miss.to_string()));
    // Under nextest, what a process says is of its own scenario.
    if wanted.only_one().is_none() {
        let _ = project.logged_check(NO_LATE_CALLS, &project.root, || Err(failure.resolve(linger.0, linger.1)));
    }
    true
}
