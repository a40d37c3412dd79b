//! The stage on which live tools run: their folder, their environment, and what their templates may use.

use std::path::Path;

use super::target::Command;
use crate::system::{Folder, working_folder};
use retake_base::error::Result;
use retake_core::json::Json;
use retake_scenario::{Context, Template, ToolCommand, ToolUrl};

/// The stage on which live tools run.
pub(super) struct OnStage<'a> {
    root: &'a Path,
    folder: &'a Folder,
    context: Context,
}

impl OnStage<'_> {
    /// Makes a stage in an existing folder. Templates use `secrets` as `{{ secret.NAME }}`.
    /// Fails if the home folders of programs cannot be created.
    pub(super) fn new<'a>(root: &'a Path, folder: &'a Folder, secrets: &Json) -> Result<OnStage<'a>> {
        folder.make_for_programs()?;
        let mut context = Context::new();
        context.insert("workdir", folder.work.display().to_string());
        context.insert("root", root.display().to_string());
        context.insert("secret", secrets.clone());
        Ok(OnStage { root, folder, context })
    }

    /// Returns a command that is ready to be started.
    /// Fails if a template cannot be rendered, or the working directory does not exist.
    pub(super) fn command(&self, spec: &ToolCommand) -> Result<Command> {
        let env = spec.env.iter().map(|(name, value)| Ok((name.clone(), value.render_text(&self.context)?)));
        let cwd = match &spec.cwd {
            Some(cwd) => working_folder(self.root, Some(&cwd.render_text(&self.context)?))?,
            None => self.folder.work.clone(),
        };
        Ok(Command {
            words: spec.command.clone(),
            context: self.context.clone(),
            cwd,
            env: self.folder.environment_of_today(env.collect::<Result<_>>()?),
            errors: self.folder.root.clone(),
        })
    }

    /// Returns a URL, and the headers of each request to it.
    /// Fails if a template cannot be rendered.
    pub(super) fn url(&self, spec: &ToolUrl) -> Result<(String, Vec<(String, String)>)> {
        let text = |(name, value): (&String, &Template)| Ok((name.clone(), value.render_text(&self.context)?));
        Ok((spec.url.render_text(&self.context)?, spec.headers.iter().map(text).collect::<Result<_>>()?))
    }
}
