//! Which names a template may use where it stands, checked before anything runs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::source::Source;
use super::template::Template;
use super::template_json::TemplateJson;
use super::toml_error::{listed, suggest};
use crate::error::{Error, Result};

/// Names that Retake gives a value; no var and no capture may take one.
pub const RESERVED: [&str; 9] = ["run", "port", "workdir", "root", "model", "secret", "tools", "turn", "fixture"];

/// What the configuration of a system may use: it starts before any scenario's own values exist.
const OF_SYSTEMS: [&str; 6] = ["run", "port", "workdir", "root", "model", "secret"];

/// The systems that a system needs: a name in its configuration only.
const SYSTEMS: &str = "systems";

/// The attributes of `model`.
const OF_MODEL: [&str; 6] = ["url", "openai", "anthropic", "gemini", "ollama", "key"];

/// The attributes of `fixture`.
const OF_FIXTURE: [&str; 2] = ["prompt", "context"];

#[derive(Clone)]
pub(super) struct Scope {
    names: BTreeSet<String>,
    /// Names that exist, but not here: with the reason.
    elsewhere: BTreeMap<String, String>,
    /// The secrets that templates name: naming one declares it.
    secrets: Rc<RefCell<BTreeSet<String>>>,
    /// The attributes of `systems`.
    systems: Vec<String>,
    /// Whether a step before has a stream.
    stream: bool,
}

impl Scope {
    /// The scope of a system's configuration.
    pub(super) fn of_systems() -> Scope {
        let names = OF_SYSTEMS.map(str::to_owned).into();
        let mut elsewhere: BTreeMap<_, _> =
            RESERVED.map(|name| (name.to_owned(), "a system is started without it".to_owned())).into();
        elsewhere.insert(SYSTEMS.to_owned(), "name the systems that this one needs: needs = [\"NAME\"]".to_owned());
        Scope { names, elsewhere, secrets: Rc::default(), systems: Vec::new(), stream: false }
    }

    /// This scope for one system, which may need others.
    pub(super) fn of_system(&self, needed: &[String]) -> Scope {
        let mut scope = Scope { secrets: Rc::default(), ..self.clone() };
        needed.clone_into(&mut scope.systems);
        if !needed.is_empty() {
            scope.define(SYSTEMS);
        }
        scope
    }

    /// The scope of a scenario's vars and steps, before any step ran.
    pub(super) fn of_scenario<'a>(vars: impl IntoIterator<Item = &'a str>) -> Scope {
        let names = RESERVED.into_iter().chain(vars).map(str::to_owned).collect();
        Scope { names, elsewhere: BTreeMap::new(), secrets: Rc::default(), systems: Vec::new(), stream: false }
    }

    /// Says of a name that it exists, and why not here. The first reason stays.
    pub(super) fn announce(&mut self, name: &str, reason: String) {
        self.elsewhere.entry(name.to_owned()).or_insert(reason);
    }

    /// Makes a name known from here on.
    pub(super) fn define(&mut self, name: &str) {
        self.names.insert(name.to_owned());
    }

    /// Says that a step has a stream, for those after it.
    pub(super) fn saw_stream(&mut self) {
        self.stream = true;
    }

    /// The secrets that templates of this scope named.
    pub(super) fn secrets(&self) -> BTreeSet<String> {
        self.secrets.borrow().clone()
    }

    pub(super) fn has_stream(&self) -> bool {
        self.stream
    }

    pub(super) fn check_json(&self, json: &TemplateJson) -> Result<()> {
        json.each(&mut |template| self.check(template))
    }

    /// Refuses names that are not defined here.
    pub(super) fn check(&self, template: &Template) -> Result<()> {
        template.uses().iter().try_for_each(|name| {
            let error = |what: String| template.error(what).at(name.place);
            let root = name.root();
            if !self.names.contains(root) {
                let error = error(format!("`{root}` is not defined here"));
                return Err(if let Some(reason) = self.elsewhere.get(root) {
                    error.help(reason.clone())
                } else {
                    let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
                    suggest(error, root, names.iter().copied()).help(format!("defined here: {}", listed(&names)))
                });
            }
            let known: Vec<&str> = match root {
                "model" => OF_MODEL.to_vec(),
                "fixture" => OF_FIXTURE.to_vec(),
                SYSTEMS if !self.systems.is_empty() => self.systems.iter().map(String::as_str).collect(),
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

/// Refuses a name that a template could not use, or that is reserved.
pub(super) fn check_new_name(name: &toml::Spanned<String>, source: &Source) -> Result<()> {
    let text = name.get_ref();
    let fail = |what: String| -> Error { source.error(name.span().start, what) };
    if RESERVED.contains(&text.as_str()) {
        let error = fail(format!("the name `{text}` is reserved"));
        return Err(error.help(format!("reserved: {}", listed(&RESERVED))));
    }
    let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if text.is_empty() || text.starts_with(|c: char| c.is_ascii_digit()) || !text.chars().all(word) {
        let error = fail(format!("a template cannot use the name `{text}`"));
        return Err(error.help("names are made of letters, digits and `_`, and do not start with a digit"));
    }
    if ["true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else"]
        .contains(&text.as_str())
    {
        return Err(fail(format!("the name `{text}` is a word of the template language")));
    }
    Ok(())
}
