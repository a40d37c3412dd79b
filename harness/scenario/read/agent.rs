//! Reads a step that runs a command-line agent.

use super::answer;
use super::file::ScenarioFile;
use super::names::check_variable;
use super::raw::{RawStep, fields};
use super::spanned::Spanned;
use crate::step::{AgentRun, AnswerAs, StreamSpec};
use crate::template::Names;
use retake_base::error::{Error, Result};

/// Reads a step with `run`. Its templates may use `names`.
pub(super) fn read(scenario: ScenarioFile<'_>, raw: &RawStep, names: &Names) -> Result<AgentRun> {
    let of_request = fields!(raw; headers, status, reconnect, wait);
    scenario.refuse(&of_request, "belongs to a request, and this step runs a command")?;
    scenario.refuse(&raw.body_fields(), "belongs to a request, and this step runs a command")?;
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
    let env = raw.env.as_ref().map(Spanned::get_ref).into_iter().flatten().map(|(name, value)| {
        check_variable(name, scenario.source)?;
        Ok((name.get_ref().clone(), template(value)?))
    });
    let env = env.collect::<Result<_>>()?;
    let stream = match answer::read(scenario, raw, "run", names)? {
        AnswerAs::Stream(stream) => stream,
        _ => StreamSpec::default(),
    };
    Ok(AgentRun {
        command: command.get_ref().iter().map(template).collect::<Result<_>>()?,
        cwd,
        env,
        exit: raw.exit.as_ref().map_or(0, |exit| *exit.get_ref()),
        stream,
    })
}
