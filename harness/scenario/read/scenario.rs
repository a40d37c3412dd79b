//! Reads a `scenario.toml` into one [`Scenario`], or into one for each of its cases.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::file::ScenarioFile;
use super::json::RawJson;
use super::names::check_new_name;
use super::raw::{RawScenario, RawStep, fields};
use super::shared::SharedStep;
use super::spanned::Spanned;
use super::values::Kind;
use super::{case, json, options, step, toml_file};
use crate::name::{is_name, no_name};
use crate::source::Source;
use crate::step::{Action, AnswerAs, Step};
use crate::suite::Suite;
use crate::template::{Names, Vars};
use crate::{Broken, ClockFrom, FixtureRef, Scenario, ToolsRun};
use retake_base::error::{Error, Result};

/// Reads the scenarios of a folder: one with the folder's name, or one for each case. Options that they do not set are taken
/// from the suite.
pub(crate) fn read(name: &str, file: ScenarioFile<'_>, suite: &Suite) -> Vec<Result<Scenario, Broken>> {
    Reader { name, file, suite }.scenarios()
}

struct Reader<'a> {
    name: &'a str,
    file: ScenarioFile<'a>,
    suite: &'a Suite,
}

impl Reader<'_> {
    /// Reads the scenarios of the folder. A mistake that all cases share is reported once.
    fn scenarios(&self) -> Vec<Result<Scenario, Broken>> {
        let broken = |name: &str, error| Err(Broken { name: name.to_owned(), error });
        let mut raw: RawScenario = match toml_file::read(self.file.source) {
            Ok(raw) => raw,
            Err(error) => return vec![broken(self.name, error)],
        };
        let Some(cases) = raw.case.take() else {
            return vec![self.scenario(self.name.to_owned(), &raw).or_else(|error| broken(self.name, error))];
        };
        if cases.is_empty() {
            return vec![broken(self.name, Error::new("`case` contains no case").in_file(&self.file.source.file))];
        }
        let mut trials = Vec::with_capacity(cases.len());
        for (case, over) in cases {
            let name = format!("{}.{}", self.name, case.get_ref());
            let trial =
                case::over(&raw, &case, &over, self.file.source).and_then(|raw| self.scenario(name.clone(), &raw));
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

    /// Reads one scenario, or one case that already includes what all cases share.
    fn scenario(&self, name: String, raw: &RawScenario) -> Result<Scenario> {
        let source = self.file.source;
        let mut given = options::of_scenario(raw, &self.suite.defaults, source)?;
        let tools = tools_run(raw, source, self.file.root)?;
        let steps: &[_] = match &raw.step {
            _ if tools.is_some() => &[],
            Some(steps) if !steps.is_empty() => steps,
            // The shared steps that it names are its own.
            _ if raw.before.as_ref().is_some_and(|before| !before.is_empty()) => &[],
            _ => {
                let error = Error::new("a scenario needs at least one [[step]]").in_file(&source.file);
                return Err(error.help("a step is one request: post = \"/path\", json = { … }"));
            }
        };
        let vars = raw.vars.iter().flatten().map(|(name, _)| name.get_ref().as_str());
        let mut names = Names::of_scenario(vars);
        let shared = match tools {
            Some(_) => Vec::new(),
            None => self.suite.shared.of(raw.before.as_ref(), source)?,
        };
        for (number, step) in (1..).zip(shared.iter().map(|shared| shared.raw).chain(steps)) {
            for name in step.get_ref().captures() {
                names.announce(name.get_ref(), format!("step {number} captures it, for the steps after that one"));
            }
        }
        let vars = raw.vars.as_ref().map_or_else(|| Ok(Vars::default()), |vars| read_vars(vars, &names, source))?;
        let steps = self.steps(&shared, steps, &vars, &mut names)?;
        if raw.worlds.is_some() && steps.iter().any(Step::needs_browser) {
            let error = Error::new(
                "a scenario with pages has no worlds: what a page shows is not compared with the recorded run",
            );
            return Err(error
                .in_file(&source.file)
                .help("leave out `worlds`, and give it to the scenario that sends the same requests"));
        }
        let record = raw.record.clone().unwrap_or_default();
        let fixture = match &tools {
            Some(ToolsRun { recording: Some(_), .. }) => FixtureRef::None,
            _ => self.fixture(&name, raw)?,
        };
        // Without a recording there is no clock of one.
        if fixture == FixtureRef::None {
            given.clock = ClockFrom::Now;
        }
        Ok(Scenario {
            dir: self.file.dir.to_owned(),
            file: source.file.to_path_buf(),
            description: raw.description.clone().unwrap_or_default(),
            system: raw.system.as_ref().map(|system| system.get_ref().clone()),
            system_place: raw.system.as_ref().map(|system| source.place(system.span().start)),
            fixture,
            tools,
            tools_from: raw.tools.as_ref().map(|from| *from.get_ref()).unwrap_or_default(),
            golden_name: name.clone(),
            name,
            skip: raw.skip.as_ref().map(|reason| options::skip(reason, source)).transpose()?,
            tags: raw.tags.as_ref().map_or_else(|| Ok(Vec::new()), |tags| options::tags(tags, source))?,
            used: names.used(),
            record_errors: record.errors.unwrap_or_default(),
            record_timeout: record.timeout.as_ref().map(|timeout| options::limit(timeout, source)).transpose()?,
            vars,
            steps,
            golden: options::golden(raw.golden.as_ref(), given.headers.clone()),
            options: given,
        })
    }

    /// Reads the shared steps and its own, in order. The captures of each step define names for those after it.
    fn steps(
        &self,
        shared: &[SharedStep<'_>],
        own: &[Spanned<RawStep>],
        vars: &Vars,
        names: &mut Names,
    ) -> Result<Vec<Step>> {
        let source = self.file.source;
        let mut read = Vec::with_capacity(shared.len() + own.len());
        let steps = shared.iter().map(|step| (step.raw, Some(step))).chain(own.iter().map(|raw| (raw, None)));
        for (raw, shared) in steps {
            if let Some(name) =
                raw.get_ref().captures().iter().find(|name| vars.names().any(|var| var == name.get_ref()))
            {
                let text = name.get_ref();
                return Err(match shared {
                    None => source
                        .error_at(name, format!("`{text}` is already a var"))
                        .help("a capture needs a name of its own"),
                    Some(shared) => Error::new(format!(
                        "the shared steps `{}` capture `{text}`, so it cannot be a var",
                        shared.list
                    ))
                    .in_file(&source.file)
                    .help("give the var another name, or leave these steps out of `before`"),
                });
            }
            let step = match shared {
                Some(shared) => self.suite.shared.step(shared, self.file.root, names)?,
                None => step::read(self.file, raw, names)?,
            };
            for part in step.parts() {
                part.capture.keys().for_each(|name| names.define(name));
                if matches!(part.action, Action::Socket(_)) {
                    names.socket = true;
                }
                if let Action::Request(request) = &part.action {
                    names.stream |= request.stream().is_some();
                    names.listens |= matches!(request.answer, AnswerAs::Listen(_));
                }
            }
            read.push(step);
        }
        Ok(read)
    }

    /// Reads which fixture the scenario replays. The default is the one with its own name.
    fn fixture(&self, name: &str, raw: &RawScenario) -> Result<FixtureRef> {
        let Some(fixture) = &raw.fixture else { return Ok(FixtureRef::Named(name.to_owned())) };
        match fixture.get_ref().as_str() {
            "none" => Ok(FixtureRef::None),
            named if is_name(named) && named.strip_suffix(".json").is_none() => Ok(FixtureRef::Named(named.to_owned())),
            other => {
                let place = self.file.source.place(fixture.span().start);
                let stem = other.rsplit(['/', '\\']).next().unwrap_or_default();
                let stem = stem.strip_suffix(".json").unwrap_or(stem);
                let error = if is_name(stem) && stem != other {
                    Error::new(format!("`{other}` cannot be the name of a fixture"))
                        .help(format!("write it without folder and extension: fixture = \"{stem}\""))
                } else {
                    no_name(other, "fixture")
                };
                Err(error.in_file(&self.file.source.file).at(place))
            }
        }
    }
}

/// Reads the vars, whose templates may use `names`.
fn read_vars(raw: &BTreeMap<Spanned<String>, Spanned<RawJson>>, names: &Names, source: &Source) -> Result<Vars> {
    let mut vars = BTreeMap::new();
    for (name, value) in raw {
        check_new_name(name, source)?;
        let value = json::of_toml(value, source)?;
        names.check_json(&value)?;
        vars.insert(name.get_ref().clone(), value);
    }
    Vars::in_order(vars)
}

/// Reads which tool calls a scenario executes again. Returns `None` if it drives a system.
fn tools_run(raw: &RawScenario, source: &Source, root: &Path) -> Result<Option<ToolsRun>> {
    if raw.kind.as_ref().is_none_or(|kind| *kind.get_ref() == Kind::System) {
        let of_tools = fields!(raw; recording, conversation, unobserved);
        return source.refuse(&of_tools, "belongs to a scenario of kind = \"tools\"").map(|()| None);
    }
    let first_step = raw.step.as_ref().and_then(|steps| steps.first()).map(|step| step.span().start);
    let before = raw.before.iter().flatten().next().map(|name| name.span().start);
    let strays =
        [("system", raw.system.as_ref().map(|system| system.span().start)), ("before", before), ("step", first_step)];
    if let Some((field, at)) = strays.into_iter().find_map(|(field, at)| Some((field, at?))) {
        let error = source.error(at, format!("a scenario of kind = \"tools\" has no `{field}`"));
        return Err(error.help("it executes recorded calls again, and does not drive a system"));
    }
    if let (Some(conversation), None) = (&raw.conversation, &raw.recording) {
        let error = source.error_at(conversation, "`conversation` chooses one of the conversations in a folder");
        return Err(error.help("name the folder: recording = \"…\""));
    }
    if let (Some(recording), Some(fixture)) = (&raw.recording, &raw.fixture) {
        let at = recording.span().start.max(fixture.span().start);
        return Err(source.error(at, "the calls come from `recording` or from `fixture`, not from both"));
    }
    if let Some(fixture) = raw.fixture.as_ref().filter(|fixture| fixture.get_ref() == "none") {
        return Err(source.error_at(fixture, "a scenario of kind = \"tools\" needs a recording"));
    }
    let recording = raw.recording.as_ref().map(|folder| existing(folder, source, root)).transpose()?;
    Ok(Some(ToolsRun {
        recording,
        conversation: raw.conversation.as_ref().map(|id| id.get_ref().clone()),
        unobserved: raw.unobserved.as_ref().map(|unobserved| *unobserved.get_ref()).unwrap_or_default(),
    }))
}

fn existing(folder: &Spanned<String>, source: &Source, root: &Path) -> Result<PathBuf> {
    if root.join(folder.get_ref()).is_dir() {
        return Ok(PathBuf::from(folder.get_ref()));
    }
    let error = source.error_at(folder, format!("there is no folder `{}`", folder.get_ref()));
    Err(error.help("write the path from the project's folder"))
}
