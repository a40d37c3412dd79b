//! `kind = "tools"`: a scenario that executes recorded tool calls again.

use std::path::{Path, PathBuf};

use super::raw::{RawScenario, fields};
use super::spanned::Spanned;
use super::values::Kind;
use crate::ToolsRun;
use crate::source::Source;
use retake_base::error::Result;

/// Reads which tool calls a scenario executes again. Returns `None` if it drives a system.
pub(super) fn read(raw: &RawScenario, source: &Source, root: &Path) -> Result<Option<ToolsRun>> {
    if raw.kind.as_ref().is_none_or(|kind| *kind.get_ref() == Kind::System) {
        let of_tools = fields!(raw; recording, conversation, unobserved);
        return match of_tools.into_iter().find_map(|(field, at)| Some((field, at?))) {
            Some((field, at)) => Err(source.error(at, format!("`{field}` belongs to a scenario of kind = \"tools\""))),
            None => Ok(None),
        };
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
        let error =
            source.error(conversation.span().start, "`conversation` chooses one of the conversations in a folder");
        return Err(error.help("name the folder: recording = \"…\""));
    }
    if let (Some(recording), Some(fixture)) = (&raw.recording, &raw.fixture) {
        let at = recording.span().start.max(fixture.span().start);
        return Err(source.error(at, "the calls come from `recording` or from `fixture`, not from both"));
    }
    if let Some(fixture) = raw.fixture.as_ref().filter(|fixture| fixture.get_ref() == "none") {
        return Err(source.error(fixture.span().start, "a scenario of kind = \"tools\" needs a recording"));
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
    let error = source.error(folder.span().start, format!("there is no folder `{}`", folder.get_ref()));
    Err(error.help("write the path from the project's folder"))
}
