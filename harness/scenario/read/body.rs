//! Reads the body of a request: `json`, `json_file`, `form` or `files`.

use std::path::PathBuf;

use super::file::ScenarioFile;
use super::json::{self, RawJson};
use super::raw::{RawStep, fields};
use super::spanned::{Spanned, Texts};
use crate::source::{Source, read_bytes};
use crate::step::{StepBody, Upload};
use crate::template::TemplateJson;
use retake_base::error::{Error, Place, Result, conflict};
use retake_core::json::Json;

/// Reads the body that a step sends. Its files are read here, so that a missing one is reported before anything runs.
pub(super) fn read(scenario: ScenarioFile<'_>, raw: &RawStep) -> Result<StepBody> {
    let given = fields!(raw; json, json_file, form);
    let given: Vec<_> = given.into_iter().filter_map(|(name, start)| Some((name, start?))).collect();
    if let [(first, _), (second, at), ..] = given[..] {
        let what = format!("a step has either `{first}` or `{second}`, this one has both");
        return Err(scenario.source.error(at, what));
    }
    if let (Some(files), Some((body @ ("json" | "json_file"), _))) = (&raw.files, given.first()) {
        let what = format!("a step has either `{body}` or `files`, this one has both");
        let error = scenario.error(files, what);
        return Err(error.help("write fields that go with files as `form`"));
    }
    let form = raw.form.as_ref().map(|form| fields_of(scenario, form)).transpose()?;
    match (&raw.json, &raw.json_file, form, &raw.files) {
        (Some(json), ..) => json::of_toml(json, scenario.source).map(StepBody::Json),
        (_, Some(file), ..) => json_file(scenario, file).map(StepBody::Json),
        (.., form, Some(files)) => Ok(StepBody::Files(form, uploads(scenario, files)?)),
        (.., Some(form), None) => Ok(StepBody::Form(form)),
        (None, None, None, None) => Ok(StepBody::None),
    }
}

fn fields_of(scenario: ScenarioFile<'_>, form: &Spanned<RawJson>) -> Result<TemplateJson> {
    let expected = "expected a table of fields, each with a value or a list of values";
    let RawJson::Table(fields) = form.get_ref() else {
        return Err(scenario.error(form, expected));
    };
    let is_list = |value: &Spanned<RawJson>| matches!(value.get_ref(), RawJson::List(_) | RawJson::Table(_));
    for (name, value) in fields {
        let nested = match value.get_ref() {
            RawJson::Table(_) => true,
            RawJson::List(values) => values.iter().any(is_list),
            _ => false,
        };
        if nested {
            let error = scenario.error(value, format!("the field `{}` is nested", name.get_ref()));
            return Err(error.help(expected));
        }
    }
    json::of_toml(form, scenario.source)
}

/// Reads files, each with the name under which it arrives.
pub(super) fn uploads(scenario: ScenarioFile<'_>, files: &Spanned<Texts>) -> Result<Vec<Upload>> {
    if files.get_ref().is_empty() {
        return Err(scenario.error(files, "the table of files is empty"));
    }
    let upload = |(field, named): (&Spanned<String>, &Spanned<String>)| {
        let file = scenario.beside(named)?;
        let content = read_bytes(&scenario.root.join(&file))
            .map_err(|why| scenario.error(named, format!("`{}`: {}", named.get_ref(), why.what())))?;
        Ok(Upload { field: field.get_ref().clone(), path: PathBuf::from(named.get_ref()), content })
    };
    files.get_ref().iter().map(upload).collect()
}

/// Reads a file with JSON and the templates in it.
pub(super) fn json_file(scenario: ScenarioFile<'_>, named: &Spanned<String>) -> Result<TemplateJson> {
    let file = scenario.beside(named)?;
    let named_by = || {
        let place = scenario.source.place(named.span().start);
        format!("named by {}:{}:{}", scenario.source.file.display(), place.line, place.column)
    };
    let source = Source::read_any(scenario.root, &file).map_err(|error| error.help(named_by()))?;
    let json = Json::parse_unique(source.text.as_bytes()).map_err(|error| {
        if let Some(conflict) = conflict(&source.text) {
            return conflict.in_file(&file).help(named_by());
        }
        let place = Place { line: error.line, column: error.column };
        let what = format!("this is not JSON: {}", error.message);
        Error::new(what).in_file(&file).at(place).help(named_by())
    })?;
    json::of_json(&json, &source)
}
