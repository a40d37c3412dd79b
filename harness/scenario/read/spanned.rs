//! A value and its place in the file.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::Deserialize;

use crate::source::Source;
use crate::template::{Names, Template};
use retake_base::error::{Error, Result};

/// A value and its byte range in the file. Two are equal if their values are.
///
/// It wraps the TOML reader's type, so that this crate can implement the trait from which schemas are made.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(transparent)]
pub(super) struct Spanned<T>(toml::Spanned<T>);

/// A table of texts. Each key and value has its place.
pub(super) type Texts = BTreeMap<Spanned<String>, Spanned<String>>;

impl<T> Spanned<T> {
    pub(super) fn new(span: Range<usize>, value: T) -> Spanned<T> {
        Spanned(toml::Spanned::new(span, value))
    }

    pub(super) fn span(&self) -> Range<usize> {
        self.0.span()
    }

    pub(super) fn get_ref(&self) -> &T {
        self.0.get_ref()
    }

    pub(super) fn into_inner(self) -> T {
        self.0.into_inner()
    }
}

impl Source {
    /// Returns an error that points at a value.
    pub(super) fn error_at<T>(&self, value: &Spanned<T>, what: impl Into<String>) -> Error {
        self.error(value.span().start, what)
    }

    /// Returns an error about the first of these fields that is set, with the reason why it cannot be.
    pub(super) fn refuse(&self, fields: &[(&str, Option<usize>)], why: &str) -> Result<()> {
        match fields.iter().find_map(|(field, at)| Some((field, (*at)?))) {
            Some((field, at)) => Err(self.error(at, format!("`{field}` {why}"))),
            None => Ok(()),
        }
    }
}

impl Names {
    /// Parses a template, and checks that it uses only these names.
    pub(super) fn template(&self, text: &Spanned<String>, source: &Source) -> Result<Template> {
        let template = Template::parse(text.get_ref(), source, text.span())?;
        self.check(&template)?;
        Ok(template)
    }

    /// Parses a table of templates, whose names have to pass a check.
    pub(super) fn templates(
        &self,
        texts: Option<&Spanned<Texts>>,
        source: &Source,
        check: impl Fn(&Spanned<String>, &Source) -> Result<()>,
    ) -> Result<BTreeMap<String, Template>> {
        let texts = texts.into_iter().flat_map(Spanned::get_ref).map(|(name, value)| {
            check(name, source)?;
            Ok((name.get_ref().clone(), self.template(value, source)?))
        });
        texts.collect()
    }
}

impl Spanned<Vec<Spanned<String>>> {
    /// Returns an error if this is no command.
    pub(super) fn check_command(&self, source: &Source, why: &str) -> Result<()> {
        match self.get_ref().first() {
            Some(program) if !program.get_ref().is_empty() => Ok(()),
            _ => Err(source.error_at(self, why)),
        }
    }
}
