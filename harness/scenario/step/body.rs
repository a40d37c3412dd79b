//! The body of a request: JSON, a form, or files.

use std::path::PathBuf;

use crate::template::{Context, Names, TemplateJson, as_text};
use retake_base::error::Result;
use retake_core::json::Json;

/// The body that a step sends.
#[derive(Clone, Debug, PartialEq)]
pub enum StepBody {
    /// Nothing.
    None,
    /// That of `json`, or the content of `json_file`, read together with the scenario.
    Json(TemplateJson),
    /// The fields of `form`, URL-encoded.
    Form(TemplateJson),
    /// The `files` of the step as a browser uploads them, after the fields of its `form`.
    Files(Option<TemplateJson>, Vec<Upload>),
}

/// A file to upload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upload {
    pub field: String,
    /// The file, relative to the scenario's folder.
    pub path: PathBuf,
    /// Its content at the time when the scenario was read.
    pub content: Vec<u8>,
}

/// A body with all templates rendered.
#[derive(Clone, Debug, PartialEq)]
pub enum RenderedBody {
    /// Nothing.
    None,
    Json(Json),
    Form(Vec<(String, String)>),
    /// The fields of a form, and files.
    Files(Vec<(String, String)>, Vec<Upload>),
}

impl StepBody {
    /// Renders the body.
    /// As [`TemplateJson::render`].
    pub fn render(&self, context: &Context) -> Result<RenderedBody> {
        Ok(match self {
            StepBody::None => RenderedBody::None,
            StepBody::Json(json) => RenderedBody::Json(json.render(context)?),
            StepBody::Form(form) => RenderedBody::Form(fields(form.render(context)?)),
            StepBody::Files(form, files) => {
                let form = form.as_ref().map(|form| form.render(context)).transpose()?;
                RenderedBody::Files(form.map(fields).unwrap_or_default(), files.clone())
            }
        })
    }

    /// Returns an error if a template uses a name that is not defined.
    pub(crate) fn check(&self, names: &Names) -> Result<()> {
        match self {
            StepBody::None | StepBody::Files(None, _) => Ok(()),
            StepBody::Json(json) | StepBody::Form(json) | StepBody::Files(Some(json), _) => names.check_json(json),
        }
    }
}

/// Returns the fields of a form. A field with a list of values occurs once for each.
fn fields(form: Json) -> Vec<(String, String)> {
    let Json::Object(entries) = form else { return Vec::new() };
    let values = |value| if let Json::Array(values) = value { values } else { vec![value] };
    entries
        .into_iter()
        .flat_map(|(name, value)| values(value).into_iter().map(move |value| (name.to_string(), as_text(value))))
        .collect()
}
