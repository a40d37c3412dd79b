//! Auditing: replays each scenario once, then tries changes on what it captured, on its fixture and on the suite's rules. It
//! writes no golden and no fixture.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::thread::available_parallelism;

use time::{Date, OffsetDateTime};

use super::action::AuditOptions;
use super::golden::Compared;
use super::project::Project;
use super::record::is_named;
use super::trial::{self, How, Replayed, Use};
use super::verdict::{check_format, has_golden};
use crate::report::{audit_json, audit_text, note_lines, notes, terminal};
use retake_audit::{
    Audit, Audited, FixtureAudit, Outcome, Rendering, RuleAudit, ScenarioAudit, merged, of_answers, of_results,
    recorded_on, score, secrets_in, secrets_in_streams, shared_keys,
};
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_base::lock::Mutex;
use retake_core::events::{Captured, ShapeOptions, Shaped, held_nowhere, is_id, is_said, names_nothing};
use retake_core::json::Json;
use retake_core::key::Check;
use retake_core::secrets::Fired;
use retake_model::DriftOf;
use retake_scenario::{self as scenario, Broken, Scenario, name_of};
use retake_wire::fixture::Fixture;

/// A scenario, or why it cannot be read.
type Found = std::result::Result<Scenario, Broken>;

/// Audits the named scenarios, or all if no name is given. The exit code is 1 if one of them is red or the score is below
/// `--min-score`.
/// Fails if a name matches no scenario.
pub(super) fn run(project: &Project, names: &[String], options: AuditOptions) -> Result<ExitCode> {
    let wanted = wanted(project, names)?;
    let audit = audit(project, &wanted, options);
    project.end();
    let audit = audit?;
    terminal::out(if options.json { audit_json(&audit)? } else { audit_text(&audit, options.all) });
    let too_low = options.min_score.filter(|least| audit.score().is_some_and(|score| score < *least));
    if let Some(least) = too_low {
        terminal::error(format!("the score is {:.3}, below --min-score {least}", audit.score().unwrap_or_default()));
    }
    Ok(ExitCode::from(u8::from(too_low.is_some() || audit.is_red())))
}

/// The scenarios that the words name. A word is a scenario's whole name, otherwise a part of names: the name of a folder
/// matches all its cases.
pub(super) fn wanted<'a>(project: &'a Project, words: &[String]) -> Result<Vec<&'a Found>> {
    let all = &project.discovered.scenarios;
    let fits = |found: &Found, word: &str| is_named(project, found, word);
    if let Some(word) = words.iter().find(|word| !all.iter().any(|found| fits(found, word))) {
        let error = Error::new(format!("no scenario is called `{word}`"));
        return Err(error.suggest(word, all.iter().map(name_of)));
    }
    Ok(all.iter().filter(|found| words.is_empty() || words.iter().any(|word| fits(found, word))).collect())
}

fn audit(project: &Project, wanted: &[&Found], options: AuditOptions) -> Result<Audit> {
    let sound: Vec<&Scenario> = wanted.iter().filter_map(|found| found.as_ref().ok()).collect();
    let cores = available_parallelism().map_or(1, NonZero::get);
    let alone = |scenario: &Scenario| trial::claim(project, scenario, Use::Alone);
    let waiting = sound.iter().map(|scenario| (scenario.name.clone(), alone(scenario))).collect();
    let threads = project.slots.open(cores, waiting, false);
    // Replay all scenarios first: trying changes takes all cores, and would slow down a replay at the same time.
    let replays = in_parallel(&sound, threads, |scenario| {
        let _turn = project.slots.turn(&scenario.name, alone(scenario));
        replay(project, scenario)
    });
    let played: Vec<_> = sound.iter().zip(replays).collect();
    let audited = in_parallel(&played, cores, |(scenario, replayed)| match replayed {
        Ok(replayed) => Outcome::Audited(Box::new(audited(scenario, replayed, options))),
        Err(outcome) => outcome.clone(),
    });
    let mut outcomes: BTreeMap<&str, Outcome> = sound.iter().map(|of| of.name.as_str()).zip(audited).collect();
    let scenarios = wanted.iter().map(|found| match found {
        Ok(scenario) => ScenarioAudit {
            name: scenario.name.clone(),
            fixture: project.fixtures.of(scenario).ok().flatten().map(|fixture| fixture.path.clone()),
            outcome: outcomes.remove(scenario.name.as_str()).unwrap_or_else(|| Outcome::Left(String::new())),
        },
        Err(Broken { name, error }) => {
            ScenarioAudit { name: name.clone(), fixture: None, outcome: Outcome::Red(error.to_string()) }
        }
    });
    let scenarios: Vec<ScenarioAudit> = scenarios.collect();
    let red = |scenario: &ScenarioAudit| matches!(scenario.outcome, Outcome::Red(_));
    let whole = wanted.len() == project.discovered.scenarios.len() && !scenarios.iter().any(red);
    let fixtures = sound.iter().filter_map(|scenario| project.fixtures.of(scenario).ok()?);
    let fixtures: BTreeMap<_, _> = fixtures.map(|fixture| (fixture.path.clone(), fixture)).collect();
    let fixtures = fixtures.values().map(|fixture| of_fixture(project, fixture)).collect::<Result<_>>()?;
    let rules = project.discovered.suite.normalize.iter().enumerate().map(|(index, rule)| RuleAudit {
        pattern: rule.pattern.as_str().to_owned(),
        replace: rule.replace.clone(),
        fired: project.rules.normalizer.has_fired(index),
    });
    Ok(Audit { scenarios, fixtures, rules: rules.collect(), whole, today: OffsetDateTime::now_utc().date() })
}

/// Replays a scenario. Fails with the outcome if the replay is not green or not possible here.
fn replay(project: &Project, scenario: &Scenario) -> std::result::Result<Replayed, Outcome> {
    if scenario.tools.is_some() {
        return Err(Outcome::Left("it runs tools and has no golden".to_owned()));
    }
    if scenario.needs_browser() && !cfg!(feature = "browser") {
        return Err(Outcome::Left(scenario::without_browser().to_string()));
    }
    let red = |failure: String| Outcome::Red(failure.lines().next().unwrap_or_default().to_owned());
    let fixture = project.fixtures.of(scenario).map_err(|error| red(error.to_string()))?;
    check_format(project, scenario).map_err(|failure| red(failure.to_string()))?;
    let replayed = trial::replay(project, scenario, fixture, &project.rules, How::default());
    let replayed = replayed.map_err(|error| red(error.to_string()))?;
    let golden = replayed.verdict(scenario).map_err(|failure| red(failure.to_string()))?;
    let held = replayed.older_sides(project, scenario, golden.as_ref()).is_some_and(|older| older.changes().is_empty());
    let compared = golden.map_or(Ok(Compared::Same), |golden| {
        project.goldens.by(replayed.clock.recorded).compare_golden(&scenario.golden_name, &golden, &scenario.file, held)
    });
    match compared.map_err(|error| red(error.to_string()))? {
        Compared::Same | Compared::FormatOnly => Ok(replayed),
        Compared::New => Err(red("it has no golden yet".to_owned())),
        Compared::Differs(_) => Err(red("its events differ from its golden".to_owned())),
    }
}

fn audited(scenario: &Scenario, replayed: &Replayed, options: AuditOptions) -> Audited {
    let Replayed { played, fixture, rules, secrets, log, .. } = replayed;
    let names = &played.driven.names;
    let normalize = |text: &str| names.apply(text, &rules.normalizer);
    let known = replayed.known();
    let foreign = replayed.foreign(&|answer| answer);
    let is_own = |key: &str, text: &str| foreign.is_own(key, text) && !is_id(text) && normalize(text) == text;
    let is_said = is_said(&known, &normalize);
    let shape = ShapeOptions { detail: options.detail.unwrap_or(scenario.golden.detail), ..scenario.golden.clone() };
    let captures = if has_golden(scenario) { &played.driven.captured[..] } else { &[] };
    // To look for secrets takes a fifth of an audit. No change adds one, so it is enough to look at what was captured.
    let scrubbed = |text: &str| secrets.text(text, &mut Fired::new()).into_owned();
    let unchanged = Shaped::of(captures, &shape, &known, &normalize).golden;
    let tells = !captures.is_empty() && !shape.without_turns;
    let held_nowhere = if tells { held_nowhere(&unchanged, &known.recorded) } else { Vec::new() };
    let has_secrets = unchanged.clone().with_text(None, &scrubbed) != unchanged;
    let made = |captures: &[Captured], options: &ShapeOptions| {
        // An option that names an event which is gone fails the run before the golden is compared.
        let nameless = names_nothing(captures, options, &normalize).is_some();
        let golden = Shaped::of(captures, options, &known, &normalize).golden;
        (nameless, if has_secrets { golden.with_text(None, &scrubbed) } else { golden })
    };
    let (is_own, is_said, calls) = (&is_own, &is_said, &known.calls);
    let rendering = Rendering { made: &made, normalize: &normalize, is_own, is_said, calls };
    let since = |(_, drift): &&(usize, DriftOf)| matches!(drift.check, Check::Prompt | Check::Tools | Check::Model);
    Audited {
        detail: shape.detail,
        scored: score(captures, &shape, &rendering),
        held_nowhere,
        answers: fixture.as_deref().and_then(|fixture| of_answers(fixture, rules)),
        results: of_results(&log.heard, rules),
        drift: note_lines(&notes(fixture.as_deref(), played.drift.iter().filter(since), &[])),
        merged: merged(&log.heard, rules),
    }
}

fn of_fixture(project: &Project, fixture: &Fixture) -> Result<FixtureAudit> {
    let secrets = project.open.secrets()?;
    let bytes = files::read_as(&fixture.path, &project.root.join(&fixture.path))?;
    let json = Json::parse(&bytes).unwrap_or_default();
    let mut found = secrets_in(&json, secrets.scrub());
    if found.is_empty() {
        found = secrets_in_streams(fixture, secrets.scrub());
    }
    let turns = fixture.table.turns();
    let without = turns.iter().enumerate().filter(|(_, turn)| turn.wire.is_none());
    Ok(FixtureAudit {
        file: fixture.path.clone(),
        recorded: committed_on(&project.root, &fixture.path).or_else(|| recorded_on(fixture)),
        secrets: found,
        without_response: without.map(|(index, _)| index).collect(),
        turns: turns.len(),
        shared: shared_keys(fixture),
    })
}

/// The day of the last commit that changed a file; `None` if git does not know it.
fn committed_on(root: &Path, file: &Path) -> Option<Date> {
    // Where only the last commit was fetched, as in CI, each file seems to be of that day.
    if root.ancestors().any(|folder| folder.join(".git/shallow").is_file()) {
        return None;
    }
    let mut git = Command::new("git");
    // A commit that only computed keys again changed no answer, so it recorded nothing.
    let of_answers = ["-G", r#""(wire|output|frames|json|content|text|delays)""#];
    git.current_dir(root).args(["log", "-1", "--format=%ct"]).args(of_answers).arg("--").arg(file);
    let output = git.stderr(std::process::Stdio::null()).output().ok()?;
    let seconds = String::from_utf8(output.stdout).ok()?.trim().parse().ok()?;
    OffsetDateTime::from_unix_timestamp(seconds).ok().map(OffsetDateTime::date)
}

/// Calls `work` with each item, on this many threads, and returns the results in the order of the items.
pub(super) fn in_parallel<T: Sync, R: Send>(items: &[T], threads: usize, work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = Mutex::new(items.iter().enumerate());
    let done = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, items.len().max(1)) {
            scope.spawn(|| {
                while let Some((index, item)) = { next.lock().next() } {
                    let result = work(item);
                    done.lock().insert(index, result);
                }
            });
        }
    });
    done.into_inner().into_values().collect()
}
