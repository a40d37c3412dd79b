//! Which names a template may use where it stands, checked before anything runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::context::Context;
use super::json::TemplateJson;
use super::template::Template;
use crate::error::{Error, Result};
use crate::scenario::hints::{listed, suggest};

/// Names that Retake gives a value; no var and no capture may take one.
pub const RESERVED: [&str; 9] = ["run", "port", "workdir", "root", "model", "secret", "tools", "turn", "fixture"];

/// What the configuration of a system may use: it starts before any scenario's own values exist.
const OF_SYSTEMS: [&str; 7] = ["run", "port", "workdir", "root", "model", "secret", "tools"];

/// What the configuration of a tool may use.
const OF_TOOLS: [&str; 3] = ["workdir", "root", "secret"];

/// What a tool that is a command may use beside that: the tool's name and its arguments.
const OF_CALLS: [&str; 2] = ["tool", "args"];

/// The systems that a system needs: a name in its configuration only.
const SYSTEMS: &str = "systems";

/// The attributes of `model`.
const OF_MODEL: [&str; 6] = ["url", "openai", "anthropic", "gemini", "ollama", "key"];

/// The attributes of `fixture`.
const OF_FIXTURE: [&str; 2] = ["prompt", "context"];

/// A value that a template takes of the fixture, which has to be there before the first step: without it an empty message
/// would be sent, and paid for.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::scenario) struct OfFixture {
    /// `fixture.prompt`.
    path: String,
    /// That it is not there, with the place.
    missing: Error,
}

impl OfFixture {
    /// Refuses a context that lacks it.
    pub(in crate::scenario) fn check(&self, context: &Context) -> Result<()> {
        let (root, rest) = self.path.split_once('.').unwrap_or((&self.path, ""));
        let pointer: String = rest.split('.').filter(|part| !part.is_empty()).flat_map(|part| ["/", part]).collect();
        match context.get(root).and_then(|value| value.pointer(&pointer)) {
            Some(_) => Ok(()),
            None => Err(self.missing.clone()),
        }
    }
}

/// The names that a template may use at one place of a file, and those that exist but not there.
#[derive(Clone, Default)]
pub(in crate::scenario) struct Names {
    here: BTreeSet<String>,
    /// Names that exist, but not here: with the reason.
    elsewhere: BTreeMap<String, String>,
    /// The secrets that templates name: naming one declares it.
    secrets: Rc<RefCell<BTreeSet<String>>>,
    /// The tool servers that templates name.
    tools: Rc<RefCell<BTreeSet<String>>>,
    /// What templates take of the fixture.
    of_fixture: Rc<RefCell<Vec<OfFixture>>>,
    /// The attributes of `systems`.
    systems: Vec<String>,
    /// Whether a step before has a stream.
    stream: bool,
}

impl Names {
    /// The names for a system's configuration.
    pub(in crate::scenario) fn of_systems() -> Names {
        let here = OF_SYSTEMS.map(str::to_owned).into();
        let mut elsewhere: BTreeMap<_, _> =
            RESERVED.map(|name| (name.to_owned(), "a system is started without it".to_owned())).into();
        elsewhere.insert(SYSTEMS.to_owned(), "name the systems that this one needs: needs = [\"NAME\"]".to_owned());
        Names { here, elsewhere, ..Names::default() }
    }

    /// The names for what executes a tool's calls; a command has those of the call too.
    pub(in crate::scenario) fn of_tools(call: bool) -> Names {
        let of_call: &[&str] = if call { &OF_CALLS } else { &[] };
        let here = OF_TOOLS.iter().chain(of_call).map(|name| (*name).to_owned()).collect();
        let reason = |name: &str| (name.to_owned(), "a tool is called without it".to_owned());
        let mut elsewhere: BTreeMap<_, _> = RESERVED.map(reason).into();
        elsewhere.extend(OF_CALLS.map(|name| (name.to_owned(), "only `command` is rendered for each call".to_owned())));
        Names { here, elsewhere, ..Names::default() }
    }

    /// These names for one system, which may need others.
    pub(in crate::scenario) fn of_system(&self, needed: &[String]) -> Names {
        let mut names = Names { secrets: Rc::default(), tools: Rc::default(), ..self.clone() };
        needed.clone_into(&mut names.systems);
        if !needed.is_empty() {
            names.define(SYSTEMS);
        }
        names
    }

    /// The names for a scenario's vars and steps, before any step ran.
    pub(in crate::scenario) fn of_scenario<'a>(vars: impl IntoIterator<Item = &'a str>) -> Names {
        let here = RESERVED.into_iter().chain(vars).map(str::to_owned).collect();
        Names { here, ..Names::default() }
    }

    /// Says of a name that it exists, and why not here. The first reason stays.
    pub(in crate::scenario) fn announce(&mut self, name: &str, reason: String) {
        self.elsewhere.entry(name.to_owned()).or_insert(reason);
    }

    /// Makes a name known from here on.
    pub(in crate::scenario) fn define(&mut self, name: &str) {
        self.here.insert(name.to_owned());
    }

    /// Says that a step has a stream, for those after it.
    pub(in crate::scenario) fn saw_stream(&mut self) {
        self.stream = true;
    }

    /// The secrets that templates named that were checked here.
    pub(in crate::scenario) fn secrets(&self) -> BTreeSet<String> {
        self.secrets.borrow().clone()
    }

    /// The tool servers that templates named that were checked here.
    pub(in crate::scenario) fn tools(&self) -> BTreeSet<String> {
        self.tools.borrow().clone()
    }

    /// What templates take of the fixture that were checked here.
    pub(in crate::scenario) fn of_fixture(&self) -> Vec<OfFixture> {
        self.of_fixture.borrow().clone()
    }

    /// Whether a step before has a stream.
    pub(in crate::scenario) fn has_stream(&self) -> bool {
        self.stream
    }

    /// Refuses names in a value that are not defined here.
    pub(in crate::scenario) fn check_json(&self, json: &TemplateJson) -> Result<()> {
        json.each(&mut |template| self.check(template))
    }

    /// Refuses names that are not defined here.
    pub(in crate::scenario) fn check(&self, template: &Template) -> Result<()> {
        template.uses().iter().try_for_each(|name| {
            let error = |what: String| template.error(what).at(name.place);
            let root = name.root();
            if !self.here.contains(root) {
                let error = error(format!("`{root}` is not defined here"));
                return Err(if let Some(reason) = self.elsewhere.get(root) {
                    error.help(reason.clone())
                } else {
                    let names: Vec<&str> = self.here.iter().map(String::as_str).collect();
                    suggest(error, root, names.iter().copied()).help(format!("defined here: {}", listed(&names)))
                });
            }
            let known: Vec<&str> = match root {
                "model" => OF_MODEL.to_vec(),
                "fixture" => {
                    // With code around it, it may be that nobody takes it.
                    if !template.source().contains("{%") && !template.source().contains('|') {
                        let missing = error(format!("`{}` is not defined: the fixture has no such note", name.path));
                        let missing = missing
                            .help("recording notes the vars `prompt` and `context`, where they hold no template");
                        self.of_fixture.borrow_mut().push(OfFixture { path: name.path.clone(), missing });
                    }
                    OF_FIXTURE.to_vec()
                }
                SYSTEMS if !self.systems.is_empty() => self.systems.iter().map(String::as_str).collect(),
                "tools" => {
                    self.tools.borrow_mut().extend(name.path.split('.').nth(1).map(str::to_owned));
                    return Ok(());
                }
                "secret" => {
                    let Some(variable) = name.path.split('.').nth(1) else {
                        return Err(error("`secret` stands for no value by itself".to_owned())
                            .help("name the environment variable: {{ secret.NAME }}"));
                    };
                    self.secrets.borrow_mut().insert(variable.to_owned());
                    return Ok(());
                }
                _ => return Ok(()),
            };
            let Some(attribute) = name.path.split('.').nth(1).filter(|attribute| !known.contains(attribute)) else {
                return Ok(());
            };
            let error = suggest(error(format!("`{root}` has no `{attribute}`")), attribute, known.iter().copied());
            Err(error.help(format!("it has {}", listed(&known))))
        })
    }
}
