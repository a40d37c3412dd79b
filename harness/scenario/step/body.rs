//! What a request sends: JSON, a form, files.

use std::path::PathBuf;

use crate::error::Result;
use crate::json::Json;
use crate::scenario::template::{Context, Names, TemplateJson, as_text};

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
pub enum RenderedBody {
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
    pub fn render(&self, context: &Context) -> Result<RenderedBody> {
        Ok(match self {
            StepBody::None => RenderedBody::None,
            StepBody::Json(json) | StepBody::JsonFile(_, json) => RenderedBody::Json(json.render(context)?),
            StepBody::Form(form) => RenderedBody::Form(fields(form.render(context)?)),
            StepBody::Files(form, files) => {
                let form = form.as_ref().map(|form| form.render(context)).transpose()?;
                RenderedBody::Files(form.map(fields).unwrap_or_default(), files.clone())
            }
        })
    }

    /// Refuses names that are not defined.
    pub(in crate::scenario) fn check(&self, names: &Names) -> Result<()> {
        match self {
            StepBody::None | StepBody::Files(None, _) => Ok(()),
            StepBody::Json(json) | StepBody::JsonFile(_, json) => names.check_json(json),
            StepBody::Form(form) | StepBody::Files(Some(form), _) => names.check_json(form),
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
