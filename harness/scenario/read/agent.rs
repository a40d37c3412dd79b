//! Reads a step that runs a command-line agent.

use std::path::{Component, Path};

use super::file::ScenarioFile;
use super::names::check_variable;
use super::raw::{RawStep, fields};
use super::spanned::Spanned;
use super::{answer, body};
use crate::step::{AgentRun, AnswerAs, StreamSpec};
use crate::template::Names;
use retake_base::error::{Error, Result};

/// Reads a step with `run`. Its templates may use `names`.
pub(super) fn read(scenario: ScenarioFile<'_>, raw: &RawStep, names: &Names) -> Result<AgentRun> {
    let of_request = fields!(raw; headers, status, reconnect, wait, json, json_file, form);
    scenario.refuse(&of_request, "belongs to a request, and this step runs a command")?;
    scenario.refuse(&raw.page_fields(), "belongs to a step with `browser`")?;
    let command = raw.run.as_ref().ok_or_else(|| Error::new("no command"))?;
    command.check_command(scenario.source, "the command names no program")?;
    let template = |text: &Spanned<String>| names.template(text, scenario.source);
    let cwd = raw.cwd.as_ref().map(template).transpose()?;
    if let (Some(named), Some(cwd)) = (&raw.cwd, cwd.as_ref().filter(|cwd| cwd.is_plain()))
        && !scenario.root.join(cwd.source()).is_dir()
    {
        return Err(scenario.error(named, format!("there is no folder `{}`", cwd.source())));
    }
    if let (Some(files), true) = (&raw.files, raw.cwd.is_some()) {
        let error = scenario.error(files, "`files` lie in the run's work folder, and this step runs in `cwd`");
        return Err(error.help("leave `cwd` out, or name the files by their paths there"));
    }
    let files = raw.files.as_ref().map_or_else(|| Ok(Vec::new()), |files| body::uploads(scenario, files))?;
    for (file, name) in files.iter().zip(raw.files.iter().flat_map(|all| all.get_ref().keys())) {
        if !Path::new(&file.field).components().all(|part| matches!(part, Component::Normal(_))) {
            return Err(scenario.error(name, format!("`{}` is no name below the run's work folder", file.field)));
        }
    }
    let env = names.templates(raw.env.as_ref(), scenario.source, check_variable)?;
    let stream = match answer::read(scenario, raw, "run", names)? {
        AnswerAs::Stream(stream) => stream,
        _ => StreamSpec::default(),
    };
    Ok(AgentRun {
        command: command.get_ref().iter().map(template).collect::<Result<_>>()?,
        cwd,
        env,
        files,
        exit: raw.exit.as_ref().map_or(0, |exit| *exit.get_ref()),
        stream,
    })
}
