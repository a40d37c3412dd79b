//! `scenario.toml`: one scenario, or one for each of its cases.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml::Spanned;

use super::context::Context;
use super::options::{Defaults, Drift};
use super::raw::{RawDrift, RawGolden, RawRecord, RawScenario};
use super::scope::Scope;
use super::source::Source;
use super::step::{Action, Step};
use super::step_reader::StepFiles;
use super::vars::Vars;
use super::words::{Delays, Unused};
use crate::error::{Error, Place, Result};
use crate::events::ShapeOptions;

/// One trial: how to drive the system, and what to look at.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// The trial's name: the folder's, or `folder.case`.
    pub name: String,
    /// The folder, relative to the root.
    pub dir: PathBuf,
    /// The `scenario.toml`, relative to the root.
    pub file: PathBuf,
    /// What it shows, in the words of its author.
    pub description: String,
    /// The system; [`check_systems`](super::Discovered::check_systems) fills in the only one of a suite.
    pub system: Option<String>,
    /// Whose turns it replays.
    pub fixture: FixtureRef,
    /// The name of its golden.
    pub golden_name: String,
    /// How long it may take.
    pub timeout: Duration,
    /// How long no call may have come before the verdict.
    pub settle: Duration,
    /// Which turns may stay unserved.
    pub unused: Unused,
    /// What drift weighs.
    pub drift: Drift,
    /// Whether recorded pauses are replayed.
    pub delays: Delays,
    /// Environment variables whose values never reach a file.
    pub secrets: Vec<String>,
    /// Those whose values its templates take as `{{ secret.NAME }}`.
    pub used_secrets: BTreeSet<String>,
    /// Whether a provider's error becomes a turn when it is recorded.
    pub record_errors: bool,
    /// Values of its own, for its templates.
    pub vars: Vars,
    /// What it does, in order; at least one step.
    pub steps: Vec<Step>,
    /// What its golden holds.
    pub golden: ShapeOptions,
    /// Where `system` stands.
    pub(super) system_place: Option<Place>,
}

/// Whose turns a scenario replays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FixtureRef {
    /// Nobody's: no model is called.
    None,
    /// Those of the fixture of that name.
    Named(String),
}

/// A scenario that cannot run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The trial's name; of a stray file the file's.
    pub name: String,
    /// What is wrong.
    pub error: Error,
}

impl Scenario {
    /// Whether any step needs a system: only commands do without.
    pub(crate) fn needs_system(&self) -> bool {
        self.steps.iter().any(Step::needs_system)
    }

    /// The context with the scenario's vars in it.
    ///
    /// # Errors
    /// As [`Template::render`](super::Template::render).
    pub fn resolve_vars(&self, context: &Context) -> Result<Context> {
        self.vars.resolve(context)
    }
}

/// Whether a name can be that of a scenario, a case, a fixture or a golden.
pub(crate) fn is_name(name: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._-".contains(c);
    (1..=LONGEST_NAME).contains(&name.len()) && !name.starts_with(['.', '-']) && name.chars().all(fits)
}

/// What can be no name: of what, and why.
pub(crate) fn no_name(name: &str, of: &str) -> Error {
    let error = Error::new(format!("`{name}` cannot be the name of a {of}"));
    if name.len() > LONGEST_NAME {
        return error.help(format!("it is {} bytes long, at most {LONGEST_NAME} fit", name.len()));
    }
    error.help(NAME_RULE)
}

/// The name that is nearest to one that cannot be: its letters in lower case, `_` for what does not fit.
pub(super) fn nearest_name(name: &str) -> Option<String> {
    // Letters of other alphabets have no nearest one.
    if !name.is_ascii() {
        return None;
    }
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let near: String = name.trim().chars().map(|c| if fits(c) { c.to_ascii_lowercase() } else { '_' }).collect();
    let near = near.trim_start_matches(['.', '-', '_']).trim_end_matches('_').to_owned();
    (is_name(&near) && near != "none").then_some(near)
}

/// File systems end at 255 bytes, and files are called after names with endings behind them.
const LONGEST_NAME: usize = 200;

const NAME_RULE: &str = "names are made of a-z, 0-9, `.`, `_` and `-`, and begin with neither `.` nor `-`";

/// A folder of `scenarios/` with its `scenario.toml`.
pub(super) struct Folder<'a> {
    pub(super) name: &'a str,
    pub(super) root: &'a Path,
    /// The folder, relative to the root.
    pub(super) dir: &'a Path,
    pub(super) source: &'a Source,
    pub(super) defaults: &'a Defaults,
}

impl Folder<'_> {
    /// The scenarios of the folder. What is wrong with all cases is told once.
    pub(super) fn scenarios(&self) -> Vec<Result<Scenario, Broken>> {
        let broken = |name: &str, error| Err(Broken { name: name.to_owned(), error });
        let mut raw: RawScenario = match self.source.toml() {
            Ok(raw) => raw,
            Err(error) => return vec![broken(self.name, error)],
        };
        let Some(cases) = raw.case.take() else {
            return vec![self.scenario(self.name.to_owned(), &raw).or_else(|error| broken(self.name, error))];
        };
        if cases.is_empty() {
            return vec![broken(self.name, Error::new("`case` holds no case").in_file(&self.source.file))];
        }
        let mut trials = Vec::with_capacity(cases.len());
        for (case, over) in cases {
            let name = format!("{}.{}", self.name, case.get_ref());
            let trial = self.case(&case, &over, &raw).and_then(|raw| self.scenario(name.clone(), &raw));
            trials.push(trial.or_else(|error| broken(&name, error)));
        }
        let first = trials.first().and_then(|trial| trial.as_ref().err()).map(|broken| broken.error.clone());
        match first
            .filter(|first| trials.iter().all(|trial| trial.as_ref().is_err_and(|broken| broken.error == *first)))
        {
            Some(error) => vec![broken(self.name, error)],
            None => trials,
        }
    }

    /// The fields of a case, laid over those of the scenario.
    fn case(&self, name: &Spanned<String>, over: &Spanned<RawScenario>, base: &RawScenario) -> Result<RawScenario> {
        if !is_name(name.get_ref()) {
            let error = no_name(name.get_ref(), "case");
            return Err(error.in_file(&self.source.file).at(self.source.place(name.span().start)));
        }
        if over.get_ref().case.is_some() {
            return Err(self.source.error(over.span().start, "a case holds no cases of its own"));
        }
        Ok(base.overlaid(over.get_ref()))
    }

    fn scenario(&self, name: String, raw: &RawScenario) -> Result<Scenario> {
        let source = self.source;
        let options = self.defaults.overridden(raw, source)?;
        let steps = match &raw.step {
            Some(steps) if !steps.is_empty() => steps,
            _ => {
                let error = Error::new("a scenario needs at least one [[step]]").in_file(&source.file);
                return Err(error.help("a step is one request: post = \"/path\", json = { … }"));
            }
        };
        let vars = raw.vars.iter().flatten().map(|(name, _)| name.get_ref().as_str());
        let mut scope = Scope::of_scenario(vars);
        for (number, step) in (1..).zip(steps) {
            for name in step.get_ref().captures() {
                scope.announce(name.get_ref(), format!("step {number} captures it, for the steps after that one"));
            }
        }
        let vars = raw.vars.as_ref().map_or_else(|| Ok(Vars::default()), |vars| Vars::read(vars, &scope, source))?;
        let files = StepFiles { source, root: self.root, dir: self.dir };
        let mut read = Vec::with_capacity(steps.len());
        for step in steps {
            for name in step.get_ref().captures() {
                if vars.names().any(|var| var == name.get_ref()) {
                    let error = source.error(name.span().start, format!("`{}` is a var already", name.get_ref()));
                    return Err(error.help("a capture needs a name of its own"));
                }
            }
            let step = files.read(step, &scope)?;
            for part in step.parts() {
                part.capture.keys().for_each(|name| scope.define(name));
                if matches!(&part.action, Action::Request(request) if request.stream().is_some()) {
                    scope.saw_stream();
                }
            }
            read.push(step);
        }
        let golden = raw.golden.clone().unwrap_or_default();
        Ok(Scenario {
            dir: self.dir.to_owned(),
            file: source.file.to_path_buf(),
            description: raw.description.clone().unwrap_or_default(),
            system: raw.system.as_ref().map(|system| system.get_ref().clone()),
            system_place: raw.system.as_ref().map(|system| source.place(system.span().start)),
            fixture: self.fixture(&name, raw)?,
            golden_name: name.clone(),
            name,
            timeout: options.timeout,
            settle: options.settle,
            unused: options.unused,
            drift: options.drift,
            delays: options.delays,
            secrets: options.secrets,
            used_secrets: scope.secrets(),
            record_errors: raw.record.as_ref().and_then(|record| record.errors).unwrap_or_default(),
            vars,
            steps: read,
            golden: ShapeOptions {
                detail: golden.detail.unwrap_or_default(),
                show: golden.show.iter().flatten().map(|pointer| pointer.as_str().to_owned()).collect(),
                collapse: golden.collapse.unwrap_or_default(),
                unordered: golden.unordered.unwrap_or_default(),
            },
        })
    }

    fn fixture(&self, name: &str, raw: &RawScenario) -> Result<FixtureRef> {
        let Some(fixture) = &raw.fixture else { return Ok(FixtureRef::Named(name.to_owned())) };
        match fixture.get_ref().as_str() {
            "none" => Ok(FixtureRef::None),
            named if is_name(named) && named.strip_suffix(".json").is_none() => Ok(FixtureRef::Named(named.to_owned())),
            other => {
                let place = self.source.place(fixture.span().start);
                let stem = other.rsplit(['/', '\\']).next().unwrap_or_default();
                let stem = stem.strip_suffix(".json").unwrap_or(stem);
                let error = if is_name(stem) && stem != other {
                    Error::new(format!("`{other}` cannot be the name of a fixture"))
                        .help(format!("without folder and ending: fixture = \"{stem}\""))
                } else {
                    no_name(other, "fixture")
                };
                Err(error.in_file(&self.source.file).at(place))
            }
        }
    }
}

impl RawScenario {
    /// This scenario with the fields of a case in place of its own. Tables are merged key by key; lists are replaced.
    fn overlaid(&self, case: &RawScenario) -> RawScenario {
        let (base, over) = (self.clone(), case.clone());
        RawScenario {
            description: over.description.or(base.description),
            system: over.system.or(base.system),
            fixture: over.fixture.or(base.fixture),
            timeout: over.timeout.or(base.timeout),
            settle: over.settle.or(base.settle),
            unused: over.unused.or(base.unused),
            drift: merged(base.drift, over.drift, |base, over| RawDrift {
                prompt: over.prompt.or(base.prompt),
                tools: over.tools.or(base.tools),
                model: over.model.or(base.model),
                settings: over.settings.or(base.settings),
            }),
            delays: over.delays.or(base.delays),
            secrets: over.secrets.or(base.secrets),
            record: merged(base.record, over.record, |base, over| RawRecord { errors: over.errors.or(base.errors) }),
            vars: merged(base.vars, over.vars, |base, over| {
                let kept = base.into_iter().filter(|(name, _)| !over.contains_key(name));
                let kept: BTreeMap<_, _> = kept.collect();
                kept.into_iter().chain(over).collect()
            }),
            step: over.step.or(base.step),
            golden: merged(base.golden, over.golden, |base, over| RawGolden {
                detail: over.detail.or(base.detail),
                show: over.show.or(base.show),
                collapse: over.collapse.or(base.collapse),
                unordered: over.unordered.or(base.unordered),
            }),
            case: None,
        }
    }
}

fn merged<T>(base: Option<T>, over: Option<T>, merge: impl FnOnce(T, T) -> T) -> Option<T> {
    match (base, over) {
        (Some(base), Some(over)) => Some(merge(base, over)),
        (base, over) => over.or(base),
    }
}
