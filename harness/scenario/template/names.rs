//! Checks, before anything runs, that a template uses only names that are defined where it stands.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::json::TemplateJson;
use super::template::Template;
use super::vars::Context;
use retake_base::error::{Error, Result};
use retake_base::text::listed;

/// The names that Retake itself defines. Vars and captures cannot use them.
pub const RESERVED: [&str; 10] =
    ["run", "port", "workdir", "root", "model", "secret", "systems", "tools", "turn", "fixture"];

/// The names for the configuration of a system, which starts before a scenario's own values exist.
const OF_SYSTEMS: [&str; 7] = ["run", "port", "workdir", "root", "model", "secret", "tools"];

/// The names for the configuration of a tool.
const OF_TOOLS: [&str; 3] = ["workdir", "root", "secret"];

/// Additional names for a tool that is a command: the name of the called tool, and its arguments.
const OF_CALLS: [&str; 2] = ["tool", "args"];

/// The name of the URLs of systems: those of a scenario, and in a system's configuration those that it needs.
const SYSTEMS: &str = "systems";

/// The attributes of `model`.
const OF_MODEL: [&str; 7] = ["url", "openai", "anthropic", "gemini", "ollama", "bedrock", "key"];

/// The attributes of `fixture`.
const OF_FIXTURE: [&str; 2] = ["prompt", "context"];

/// A value of the fixture that a template uses. It has to exist before the first step: without it, the system would be sent an
/// empty message, and a recording would pay for it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OfFixture {
    /// The name with its attributes, such as `fixture.prompt`.
    path: String,
    /// The error to return if the fixture lacks it.
    missing: Error,
}

impl OfFixture {
    /// Returns an error if the context lacks the value.
    pub(crate) fn check(&self, context: &Context) -> Result<()> {
        let (root, rest) = self.path.split_once('.').unwrap_or((&self.path, ""));
        let pointer: String = rest.split('.').filter(|part| !part.is_empty()).flat_map(|part| ["/", part]).collect();
        match context.get(root).and_then(|value| value.pointer(&pointer)) {
            Some(_) => Ok(()),
            None => Err(self.missing.clone()),
        }
    }
}

/// What checked templates use beside the values of their scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Used {
    /// The environment variables, as `{{ secret.NAME }}`. Using one declares it.
    pub secrets: BTreeSet<String>,
    /// The tool servers.
    pub(crate) tools: BTreeSet<String>,
    /// The systems whose URLs they use.
    pub(crate) systems: BTreeSet<String>,
    /// Whether they use the port of the system.
    pub(crate) port: bool,
    /// Whether they use the folder of the stage.
    pub(crate) workdir: bool,
    /// The values of the fixture.
    pub(crate) of_fixture: Vec<OfFixture>,
}

/// The names that a template may use in one place of a file, and the names that are defined only elsewhere.
#[derive(Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the steps before")]
pub(crate) struct Names {
    here: BTreeSet<String>,
    /// The names that are defined only elsewhere, each with the reason.
    elsewhere: BTreeMap<String, String>,
    used: Rc<RefCell<Used>>,
    /// The attributes of `systems`, if they are known.
    systems: Vec<String>,
    /// Whether an earlier step has a stream.
    pub(crate) stream: bool,
    /// Whether an earlier step listens to a stream.
    pub(crate) listens: bool,
    /// Whether an earlier step opens a socket.
    pub(crate) socket: bool,
    /// Whether every name counts as defined.
    unchecked: bool,
}

impl Names {
    /// Returns names that leave open what is defined: shared steps use the vars of scenarios that are not read yet.
    pub(crate) fn unchecked() -> Names {
        Names { unchecked: true, stream: true, listens: true, socket: true, ..Names::default() }
    }

    pub(crate) fn of_systems() -> Names {
        let needs = "name the systems that this one needs: needs = [\"NAME\"]".to_owned();
        Names::of_configuration("system", &OF_SYSTEMS, [(SYSTEMS.to_owned(), needs)])
    }

    /// Returns the names for the configuration of a system or a tool, and reasons why some others are defined only elsewhere.
    fn of_configuration(of: &str, here: &[&str], reasons: impl IntoIterator<Item = (String, String)>) -> Names {
        let reason = |name: &str| (name.to_owned(), format!("a {of}'s configuration cannot use it"));
        let here = here.iter().map(|name| (*name).to_owned()).collect();
        Names { here, elsewhere: RESERVED.map(reason).into_iter().chain(reasons).collect(), ..Names::default() }
    }

    /// Returns the names for the configuration of a tool. With `call`, they include those of each call, for a command.
    pub(crate) fn of_tools(call: bool) -> Names {
        let here = [&OF_TOOLS[..], if call { &OF_CALLS } else { &[] }].concat();
        let reason = |name: &str| (name.to_owned(), "only `command` is rendered for each call".to_owned());
        Names::of_configuration("tool", &here, OF_CALLS.map(reason))
    }

    pub(crate) fn of_system(&self, needed: &[String]) -> Names {
        let mut names = Names { used: Rc::default(), ..self.clone() };
        needed.clone_into(&mut names.systems);
        if !needed.is_empty() {
            names.define(SYSTEMS);
        }
        names
    }

    /// Returns the names for a scenario's vars and first step.
    pub(crate) fn of_scenario<'a>(vars: impl IntoIterator<Item = &'a str>) -> Names {
        let here = RESERVED.into_iter().chain(vars).map(str::to_owned).collect();
        Names { here, ..Names::default() }
    }

    /// Adds a name that is defined only elsewhere, with the reason. Of several reasons for a name, the first one stays.
    pub(crate) fn announce(&mut self, name: &str, reason: String) {
        self.elsewhere.entry(name.to_owned()).or_insert(reason);
    }

    pub(crate) fn define(&mut self, name: &str) {
        self.here.insert(name.to_owned());
    }

    /// Returns what the templates that were checked so far use.
    pub(crate) fn used(&self) -> Used {
        self.used.borrow().clone()
    }

    /// Returns an error if a template in a value uses a name that is not defined here.
    pub(crate) fn check_json(&self, json: &TemplateJson) -> Result<()> {
        json.templates().into_iter().try_for_each(|template| self.check(template))
    }

    /// Returns an error if a template uses a name that is not defined here.
    pub(crate) fn check(&self, template: &Template) -> Result<()> {
        if self.unchecked {
            return Ok(());
        }
        template.uses.iter().try_for_each(|name| {
            let error = |what: String| template.error(what).at(name.place);
            let root = name.root();
            if !self.here.contains(root) {
                let error = error(format!("`{root}` is not defined here"));
                return Err(if let Some(reason) = self.elsewhere.get(root) {
                    error.help(reason.clone())
                } else {
                    let names: Vec<&str> = self.here.iter().map(String::as_str).collect();
                    error.suggest(root, names.iter().copied()).help(format!("defined here: {}", listed(&names)))
                });
            }
            let attribute = name.path.split('.').nth(1);
            let mut used = self.used.borrow_mut();
            let known: Vec<&str> = match root {
                "model" => OF_MODEL.to_vec(),
                "fixture" => {
                    // In a template with statements or filters, the value may be optional.
                    if !template.source().contains("{%") && !template.source().contains('|') {
                        let missing = error(format!("`{}` is not defined: the fixture has no such note", name.path));
                        let missing = missing
                            .help("recording stores the vars `prompt` and `context` if they contain no template");
                        used.of_fixture.push(OfFixture { path: name.path.clone(), missing });
                    }
                    OF_FIXTURE.to_vec()
                }
                SYSTEMS if !self.systems.is_empty() => self.systems.iter().map(String::as_str).collect(),
                _ => {
                    match (root, attribute) {
                        ("port", _) => used.port = true,
                        ("workdir", _) => used.workdir = true,
                        (SYSTEMS, _) => used.systems.extend(attribute.map(str::to_owned)),
                        ("tools", _) => used.tools.extend(attribute.map(str::to_owned)),
                        ("secret", Some(variable)) => drop(used.secrets.insert(variable.to_owned())),
                        ("secret", None) => {
                            return Err(error("`secret` alone has no value".to_owned())
                                .help("name the environment variable: {{ secret.NAME }}"));
                        }
                        _ => {}
                    }
                    return Ok(());
                }
            };
            let Some(attribute) = attribute.filter(|attribute| !known.contains(attribute)) else { return Ok(()) };
            let error = error(format!("`{root}` has no `{attribute}`")).suggest(attribute, known.iter().copied());
            Err(error.help(format!("it has {}", listed(&known))))
        })
    }
}
