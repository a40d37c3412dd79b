//! Texts with `{{ }}` in them. They are checked when a file is read, and rendered while a scenario runs.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use minijinja::value::Serde;
use minijinja::{ErrorKind, Value};

use super::engine::{FILTERS, MOST_BYTES, MOST_STEPS, TESTS, as_text, blank_environment, environment, render, to_json};
use super::vars::Context;
use super::{code, turn};
use crate::source::Source;
use retake_base::error::{Error, Place, Result};
use retake_base::text::clipped;
use retake_core::json::Json;

/// A text that may contain `{{ }}`. If it is exactly one `{{ expression }}`, its value keeps the type of the expression.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    text: String,
    kind: TemplateKind,
    file: Arc<Path>,
    place: Place,
    pub(super) uses: Vec<UsedName>,
}

#[derive(Clone, Debug, PartialEq)]
enum TemplateKind {
    /// No braces: the text itself is the value.
    Plain,
    Expression(String),
    Text,
}

/// A name that a template uses, with its attributes, such as `fixture.prompt`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UsedName {
    pub(super) path: String,
    pub(super) place: Place,
}

impl UsedName {
    /// Returns the name without its attributes.
    pub(super) fn root(&self) -> &str {
        self.path.split('.').next().unwrap_or_default()
    }
}

impl Template {
    pub(crate) fn parse(text: &str, source: &Source, span: Range<usize>) -> Result<Template> {
        let place = source.place(span.start);
        let mut template = Template {
            text: text.to_owned(),
            kind: TemplateKind::Plain,
            file: source.file.clone(),
            place,
            uses: Vec::new(),
        };
        if !["{{", "{%", "{#"].iter().any(|brace| text.contains(brace)) {
            return Ok(template);
        }
        code::check(text).map_err(|(what, help)| template.error(what).help(help))?;
        let environment = environment();
        let unsliced = code::without_slices(text);
        let names_in =
            |expression: &str| Some(environment.compile_expression(expression).ok()?.undeclared_variables(true));
        let whole = only_expression(text).and_then(|expression| {
            environment.compile_expression(expression).ok()?;
            let names = names_in(only_expression(&unsliced)?)?;
            Some((TemplateKind::Expression(expression.to_owned()), names))
        });
        let (kind, names) = match whole {
            Some(whole) => whole,
            None => match environment.template_from_str(text) {
                Ok(parsed) => {
                    let other = environment.template_from_str(&unsliced);
                    (TemplateKind::Text, other.as_ref().unwrap_or(&parsed).undeclared_variables(true))
                }
                Err(error) => return Err(template.error(format!("this is not a template: {}", reason(&error)))),
            },
        };
        template.kind = kind;
        template.check_words(source, &span)?;
        let own: Vec<&str> = environment.globals().map(|(name, _)| name).collect();
        template.uses = names
            .into_iter()
            .map(|path| UsedName { place: place_of_name(&path, source, &span), path })
            .filter(|name| !own.contains(&name.root()))
            .collect();
        template.uses.sort_by(|a, b| (a.place, &a.path).cmp(&(b.place, &b.path)));
        Ok(template)
    }

    /// Returns an error for an unknown filter or test. The engine notices one only when it reaches it, so the text is rendered
    /// once with empty values. An unknown filter that this does not reach is reported when the scenario runs.
    fn check_words(&self, source: &Source, span: &Range<usize>) -> Result<()> {
        let blank = blank_environment();
        let outcome = match &self.kind {
            TemplateKind::Plain => return Ok(()),
            TemplateKind::Text => render(&blank, &self.text, ().into()).map(drop),
            TemplateKind::Expression(code) => {
                blank.compile_expression(code).and_then(|compiled| compiled.eval(())).map(drop)
            }
        };
        let Err(error) = outcome else { return Ok(()) };
        let (what, known) = match error.kind() {
            ErrorKind::UnknownFilter => ("filter", FILTERS),
            ErrorKind::UnknownTest => ("test", TESTS),
            _ => return Ok(()),
        };
        let told = reason(&error);
        let name = told.split(' ').nth(1).unwrap_or_default();
        let error = self.error(format!("there is no {what} `{name}`")).at(place_of_name(name, source, span));
        Err(error.suggest(name, known.split(' ')))
    }

    /// Returns the text as it was written.
    pub fn source(&self) -> &str {
        &self.text
    }

    /// Returns the value: that of the expression if the text is exactly one, and a string otherwise.
    /// Fails if a name or attribute is not defined, or if an operation fails. The error has the place in the file.
    pub fn render(&self, context: &Context) -> Result<Json> {
        let outcome = match &self.kind {
            TemplateKind::Plain => return Ok(Json::Str(self.text.clone())),
            TemplateKind::Text => render(&environment(), &self.text, self.values(context)).map(Json::Str),
            TemplateKind::Expression(expression) => environment()
                .compile_expression(expression)
                .and_then(|compiled| compiled.eval(self.values(context)))
                .and_then(|value| to_json(&value)),
        };
        outcome.map_err(|error| match error.kind() {
            ErrorKind::OutOfFuel => {
                self.error(format!("`{}` takes more than {MOST_STEPS} steps to render", self.brief()))
            }
            ErrorKind::WriteFailure => {
                self.error(format!("`{}` renders to more than {} MB", self.brief(), MOST_BYTES >> 20))
            }
            ErrorKind::UndefinedError => {
                self.undefined(context).unwrap_or_else(|| self.error(format!("`{}` is not defined", self.brief())))
            }
            _ => self.error(format!("`{}` cannot be rendered: {}", self.brief(), reason(&error))),
        })
    }

    /// Returns the value as text: a string as it is, and any other value as JSON.
    /// As [`render`](Template::render).
    pub fn render_text(&self, context: &Context) -> Result<String> {
        self.render(context).map(as_text)
    }

    /// Whether it counts turns from the last one, so that its value is only known when all turns are.
    pub fn counts_turns_from_the_end(&self) -> bool {
        self.uses.iter().any(|name| name.root() == turn::TURN) && turn::counts_from_the_end(&self.text)
    }

    /// The names that it uses, each with its attributes: `model.openai`.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.uses.iter().map(|used| used.path.as_str())
    }

    /// Whether the text contains no template, and so is its own value.
    pub(crate) fn is_plain(&self) -> bool {
        self.kind == TemplateKind::Plain
    }

    pub fn error(&self, what: String) -> Error {
        Error::new(what).in_file(&self.file).at(self.place)
    }

    /// Returns the text, shortened to fit into one line of an error.
    fn brief(&self) -> String {
        let line = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        clipped(&line, 60).into_owned()
    }

    fn values(&self, context: &Context) -> Value {
        let value = |name: &str| {
            let value = context.get(name)?;
            Some((name.to_owned(), if name == turn::TURN { turn::function(value) } else { Value::from(Serde(value)) }))
        };
        Value::from_pairs(self.uses.iter().filter_map(|name| value(name.root())))
    }

    /// Returns the error about the first name that the context lacks.
    fn undefined(&self, context: &Context) -> Option<Error> {
        self.uses.iter().find_map(|name| {
            let mut parts = name.path.split('.');
            let root = parts.next()?;
            let told = |known: Vec<&str>, missing: &str| {
                let error = self.error(format!("`{}` is not defined", name.path)).at(name.place);
                Some(error.suggest(missing, known))
            };
            let Some(mut value) = context.get(root) else { return told(context.names().collect(), root) };
            for part in parts {
                let inner = match value {
                    Json::Array(items) => part.parse().ok().and_then(|index: usize| items.get(index)),
                    other => other.get(part),
                };
                let Some(inner) = inner else {
                    let known = value.as_object().into_iter().flatten().map(|(key, _)| &**key);
                    return told(known.collect(), part);
                };
                value = inner;
            }
            None
        })
    }
}

/// Returns the text between the braces, if the whole text is in one pair of them.
fn only_expression(text: &str) -> Option<&str> {
    let inner = text.strip_prefix("{{")?.strip_suffix("}}")?;
    let inner = inner.strip_prefix('-').unwrap_or(inner);
    Some(inner.strip_suffix('-').unwrap_or(inner).trim())
}

/// Returns the place of a name within its literal: that of the first equal word in braces, or else that of the literal.
fn place_of_name(path: &str, source: &Source, span: &Range<usize>) -> Place {
    let literal = source.text.get(span.clone()).unwrap_or_default();
    let in_braces = |at: usize| {
        let last = |marks: [&str; 2]| marks.iter().filter_map(|mark| literal[..at].rfind(mark)).max();
        last(["{{", "{%"]) > last(["}}", "%}"])
    };
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let find = |word: &str| {
        literal.match_indices(word).map(|(at, _)| at).find(|at| {
            let before = literal[..*at].chars().next_back();
            let after = literal[at + word.len()..].chars().next();
            let whole = !before.is_some_and(is_word) && !after.is_some_and(|c| c.is_alphanumeric() || c == '_');
            whole && in_braces(*at)
        })
    };
    let root = path.split('.').next().unwrap_or_default();
    let offset = find(path).or_else(|| find(root)).unwrap_or_default();
    source.place(span.start + offset)
}

/// Returns minijinja's reason, without its own notation of the place.
fn reason(error: &minijinja::Error) -> String {
    error.detail().map_or_else(|| error.kind().to_string(), str::to_owned)
}

#[cfg(test)]
mod tests;
