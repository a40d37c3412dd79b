//! Reads a step that sends a request.

use super::file::ScenarioFile;
use super::names::check_header_name;
use super::raw::{RawStep, fields};
use super::spanned::Spanned;
use super::{answer, body};
use crate::step::{Method, Request};
use crate::template::{Names, Template};
use retake_base::error::{Error, Result};

/// Reads a step whose `kind` is a method or `listen`. Its templates may use `names`.
pub(super) fn read(scenario: ScenarioFile<'_>, raw: &RawStep, kind: &str, names: &Names) -> Result<Request> {
    let of_run = fields!(raw; cwd, env, exit);
    scenario.refuse(&of_run, "belongs to a step with `run`")?;
    scenario.refuse(&raw.page_fields(), "belongs to a step with `browser`")?;
    if kind == "listen" {
        scenario.refuse(&raw.body_fields(), "belongs to a request that sends something, and `listen` does not")?;
        let ends = fields!(raw; cancel, wait);
        scenario.refuse(&ends, "belongs to a step that waits for its answer, and `listen` does not")?;
    }
    let (method, path) = match kind {
        "post" => (Method::Post, &raw.post),
        "put" => (Method::Put, &raw.put),
        "patch" => (Method::Patch, &raw.patch),
        "delete" => (Method::Delete, &raw.delete),
        "listen" => (Method::Get, &raw.listen),
        _ => (Method::Get, &raw.get),
    };
    let path = path.as_ref().map(|path| path_of(scenario, path)).transpose()?.ok_or_else(|| Error::new("no path"))?;
    let request = Request {
        method,
        path,
        headers: headers_of(scenario, raw)?,
        body: body::read(scenario, raw)?,
        status: raw.status.as_ref().map(|statuses| statuses.get_ref().0.clone()),
        reconnect: raw.reconnect.as_ref().is_some_and(|reconnect| *reconnect.get_ref()),
        answer: answer::read(scenario, raw, kind, names)?,
    };
    if let (true, Some(reconnect)) = (request.reconnect, &raw.reconnect) {
        check_reconnect(scenario, &request, reconnect, names)?;
    }
    names.check(&request.path)?;
    request.headers.iter().try_for_each(|(_, value)| names.check(value))?;
    request.body.check(names)?;
    Ok(request)
}

fn check_reconnect(scenario: ScenarioFile<'_>, request: &Request, at: &Spanned<bool>, names: &Names) -> Result<()> {
    let fail = |what: &str| scenario.error(at, what);
    if !names.stream {
        let error = fail("there is no stream before this step to come back to");
        return Err(error.help("`reconnect` sends the id of the last event of the latest stream before it"));
    }
    if request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("last-event-id")) {
        return Err(fail("the header `Last-Event-ID` is given, and `reconnect` sends its own"));
    }
    Ok(())
}

pub(super) fn path_of(scenario: ScenarioFile<'_>, path: &Spanned<String>) -> Result<Template> {
    let template = Template::parse(path.get_ref(), scenario.source, path.span())?;
    if !path.get_ref().starts_with('/') && !path.get_ref().starts_with("{{") {
        let error = template.error(format!("the path `{}` does not start with `/`", path.get_ref()));
        return Err(error.help("retake puts the system's address before it: write only the path"));
    }
    if let Some(c) = path.get_ref().chars().find(|c| c.is_control()) {
        return Err(template.error(format!("the path contains {c:?}")));
    }
    Ok(template)
}

pub(super) fn headers_of(scenario: ScenarioFile<'_>, raw: &RawStep) -> Result<Vec<(String, Template)>> {
    let mut headers: Vec<(String, Template)> = Vec::new();
    for (name, value) in raw.headers.iter().flat_map(Spanned::get_ref) {
        check_header_name(name, scenario.source)?;
        if headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name.get_ref())) {
            let what = format!("the header `{}` is given twice: the names of headers ignore case", name.get_ref());
            return Err(scenario.error(name, what));
        }
        if value.get_ref().contains(|c: char| c.is_control() && c != '\t') {
            return Err(scenario.error(value, "a header's value is one line of text"));
        }
        headers.push((name.get_ref().clone(), Template::parse(value.get_ref(), scenario.source, value.span())?));
    }
    Ok(headers)
}
