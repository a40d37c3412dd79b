//! What a request sends: JSON, a form, files.

use std::path::{Component, Path, PathBuf};

use toml::Spanned;

use super::context::{Context, as_text};
use super::raw::{RawJson, RawStep, Texts};
use super::scope::Scope;
use super::source::Source;
use super::step_reader::StepFiles;
use super::template_json::TemplateJson;
use super::toml_error::suggest;
use crate::error::{Place, Result};
use crate::json::Json;

/// What a step sends.
#[derive(Clone, Debug, PartialEq)]
pub enum StepBody {
    /// Nothing.
    None,
    /// The `json` of the step.
    Json(TemplateJson),
    /// The content of `json_file`, read when the scenario was; the path is relative to the scenario's folder.
    JsonFile(PathBuf, TemplateJson),
    /// The fields of `form`, URL-encoded.
    Form(TemplateJson),
    /// The `files` of the step as a browser uploads them, behind the fields of its `form`.
    Files(Option<TemplateJson>, Vec<Upload>),
}

/// A file that is uploaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    /// The field.
    pub field: String,
    /// The file, relative to the scenario's folder.
    pub path: PathBuf,
    /// Its content when the scenario was read.
    pub content: Vec<u8>,
}

/// A body, as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Rendered {
    /// Nothing.
    None,
    /// A JSON text.
    Json(Json),
    /// Fields.
    Form(Vec<(String, String)>),
    /// Fields and files.
    Files(Vec<(String, String)>, Vec<Upload>),
}

impl StepBody {
    /// The body to send.
    ///
    /// # Errors
    /// As [`TemplateJson::render`].
    pub fn render(&self, context: &Context) -> Result<Rendered> {
        Ok(match self {
            StepBody::None => Rendered::None,
            StepBody::Json(json) | StepBody::JsonFile(_, json) => Rendered::Json(json.render(context)?),
            StepBody::Form(form) => Rendered::Form(fields(form.render(context)?)),
            StepBody::Files(form, files) => {
                let form = form.as_ref().map(|form| form.render(context)).transpose()?;
                Rendered::Files(form.map(fields).unwrap_or_default(), files.clone())
            }
        })
    }

    /// Refuses names that are not defined.
    pub(super) fn check(&self, scope: &Scope) -> Result<()> {
        match self {
            StepBody::None | StepBody::Files(None, _) => Ok(()),
            StepBody::Json(json) | StepBody::JsonFile(_, json) => scope.check_json(json),
            StepBody::Form(form) | StepBody::Files(Some(form), _) => scope.check_json(form),
        }
    }
}

/// The fields of a form: a list is a field that comes more than once.
fn fields(form: Json) -> Vec<(String, String)> {
    let Json::Object(entries) = form else { return Vec::new() };
    let values = |value| if let Json::Array(values) = value { values } else { vec![value] };
    let field = |(name, value): (String, Json)| {
        values(value).into_iter().map(move |value| (name.clone(), as_text(value))).collect::<Vec<_>>()
    };
    entries.into_iter().flat_map(field).collect()
}

impl StepFiles<'_> {
    pub(super) fn body(&self, raw: &RawStep) -> Result<StepBody> {
        let given = [
            ("json", raw.json.as_ref().map(Spanned::span)),
            ("json_file", raw.json_file.as_ref().map(Spanned::span)),
            ("form", raw.form.as_ref().map(Spanned::span)),
        ];
        let given: Vec<_> = given.into_iter().filter_map(|(name, span)| Some((name, span?.start))).collect();
        if let [(first, _), (second, at), ..] = given[..] {
            let what = format!("a step has either `{first}` or `{second}`, this one has both");
            return Err(self.source.error(at, what));
        }
        if let (Some(files), Some((body @ ("json" | "json_file"), _))) = (&raw.files, given.first()) {
            let what = format!("a step has either `{body}` or `files`, this one has both");
            let error = self.source.error(files.span().start, what);
            return Err(error.help("fields beside files are written as `form`"));
        }
        let form = raw.form.as_ref().map(|form| self.form(form)).transpose()?;
        match (&raw.json, &raw.json_file, form, &raw.files) {
            (Some(json), ..) => TemplateJson::from_toml(json, self.source).map(StepBody::Json),
            (_, Some(file), ..) => self.json_file(file),
            (.., form, Some(files)) => Ok(StepBody::Files(form, self.uploads(files)?)),
            (.., Some(form), None) => Ok(StepBody::Form(form)),
            (None, None, None, None) => Ok(StepBody::None),
        }
    }

    fn form(&self, form: &Spanned<RawJson>) -> Result<TemplateJson> {
        let expected = "expected a table of fields, each with a value or a list of values";
        let RawJson::Table(fields) = form.get_ref() else {
            return Err(self.source.error(form.span().start, expected));
        };
        let is_list = |value: &Spanned<RawJson>| matches!(value.get_ref(), RawJson::List(_) | RawJson::Table(_));
        for (name, value) in fields {
            let nested = match value.get_ref() {
                RawJson::Table(_) => true,
                RawJson::List(values) => values.iter().any(is_list),
                _ => false,
            };
            if nested {
                let error = self.source.error(value.span().start, format!("the field `{}` is nested", name.get_ref()));
                return Err(error.help(expected));
            }
        }
        TemplateJson::from_toml(form, self.source)
    }

    fn uploads(&self, files: &Spanned<Texts>) -> Result<Vec<Upload>> {
        if files.get_ref().is_empty() {
            return Err(self.source.error(files.span().start, "the table of files is empty"));
        }
        let upload = |(field, named): (&Spanned<String>, &Spanned<String>)| {
            let file = self.in_folder(named)?;
            let content = super::source::read_bytes(&self.root.join(&file)).map_err(|why| {
                self.source.error(named.span().start, format!("`{}`: {}", named.get_ref(), why.what()))
            })?;
            Ok(Upload { field: field.get_ref().clone(), path: PathBuf::from(named.get_ref()), content })
        };
        files.get_ref().iter().map(upload).collect()
    }

    fn json_file(&self, named: &Spanned<String>) -> Result<StepBody> {
        let file = self.in_folder(named)?;
        let named_by = || {
            let place = self.source.place(named.span().start);
            format!("named by {}:{}:{}", self.source.file.display(), place.line, place.column)
        };
        let source = Source::read_any(self.root, &file).map_err(|error| error.help(named_by()))?;
        let json = Json::parse_unique(source.text.as_bytes()).map_err(|error| {
            if let Some(conflict) = crate::error::conflict(&source.text) {
                return conflict.in_file(&file).help(named_by());
            }
            let place = Place { line: error.line, column: error.column };
            let what = format!("this is no JSON: {}", error.message);
            crate::error::Error::new(what).in_file(&file).at(place).help(named_by())
        })?;
        Ok(StepBody::JsonFile(PathBuf::from(named.get_ref()), TemplateJson::from_json(&json, &source)?))
    }

    /// A file of the scenario's folder, relative to the root.
    fn in_folder(&self, named: &Spanned<String>) -> Result<PathBuf> {
        let path = Path::new(named.get_ref());
        let fail = |what: String| self.source.error(named.span().start, what);
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if named.get_ref().is_empty() || !path.components().all(inside) {
            return Err(fail(format!("`{}` is not in the scenario's folder", named.get_ref())));
        }
        let file = self.dir.join(path);
        if self.root.join(&file).exists() {
            return Ok(file);
        }
        if let Some(link) = crate::files::broken_link(&self.root.join(&file)) {
            return Err(fail(format!("`{}`: expected a file, found {link}", named.get_ref())));
        }
        let error = fail(format!("there is no file `{}` in {}", named.get_ref(), self.dir.display()));
        let beside = std::fs::read_dir(self.root.join(self.dir)).into_iter().flatten().flatten();
        let beside: Vec<String> = beside.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        Err(suggest(error, named.get_ref(), beside.iter().map(String::as_str)))
    }
}

/// The fields of a request that a step of another kind cannot have.
pub(super) fn fields_of_bodies(raw: &RawStep) -> [(&'static str, Option<usize>); 4] {
    [
        ("json", raw.json.as_ref().map(|json| json.span().start)),
        ("json_file", raw.json_file.as_ref().map(|file| file.span().start)),
        ("form", raw.form.as_ref().map(|form| form.span().start)),
        ("files", raw.files.as_ref().map(|files| files.span().start)),
    ]
}
