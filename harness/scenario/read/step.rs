//! Reads a `[[step]]` into a [`Step`] that needs no further checks.
//!
//! One of the step's keys ([`KINDS`]) says which kind of step it is. Each kind is read in a file of its own.

use super::file::ScenarioFile;
use super::raw::{RawStep, fields};
use super::spanned::Spanned;
use super::{agent, answer, capture, page, request, socket};
use crate::step::{Action, AnswerAs, Do, EventSpec, Step};
use crate::template::Names;
use retake_base::error::{Error, Result};
use retake_base::text::listed;

/// The keys that say which kind of step it is.
pub(super) const KINDS: [&str; 11] =
    ["get", "post", "put", "patch", "delete", "listen", "socket", "after", "run", "browser", "together"];

/// Reads one step. Only the steps after it may use the names of its captures.
pub(super) fn read(scenario: ScenarioFile<'_>, raw: &Spanned<RawStep>, names: &Names) -> Result<Step> {
    let (start, raw) = (raw.span().start, raw.get_ref());
    if let Some(name) = raw.name.as_ref().filter(|name| name.get_ref().trim().is_empty()) {
        return Err(scenario.error(name, "the step's name is empty"));
    }
    let action = match kind(scenario, raw, start)? {
        "socket" => Action::Socket(Box::new(socket::read(scenario, raw, names)?)),
        "after" => Action::After(after(scenario, raw, names)?),
        "run" => Action::Run(Box::new(agent::read(scenario, raw, names)?)),
        "browser" => Action::Browse(Box::new(page::read(scenario, raw, names)?)),
        "together" => Action::Together(together(scenario, raw, names)?),
        kind => Action::Request(Box::new(request::read(scenario, raw, kind, names)?)),
    };
    let streams = match &action {
        Action::Request(request) => request.stream().is_some(),
        Action::Run(_) | Action::Socket(_) | Action::After(_) => true,
        Action::Browse(_) | Action::Together(_) => false,
    };
    if let (Action::Request(_), true, Some(golden)) =
        (&action, streams && scenario.list.is_none(), raw.golden.as_ref().filter(|golden| !golden.get_ref()))
    {
        return Err(scenario.error(golden, "a stream always goes into the golden"));
    }
    if let Some(awaits) = &raw.awaits {
        let caller = &awaits.get_ref().caller;
        if caller.get_ref().trim().is_empty() {
            return Err(scenario.error(caller, "`await` names no caller"));
        }
        if matches!(&action, Action::Request(request) if matches!(request.answer, AnswerAs::Listen(_))) {
            let error = scenario.error(awaits, "a `listen` is not over when the next step begins");
            return Err(error.help("let the step that causes the call wait for it"));
        }
    }
    // Of shared steps, only what a page was asked to put there.
    let by_itself = shows(&action) || (streams && raw.after.is_none() && scenario.list.is_none());
    Ok(Step {
        awaits: raw.awaits.as_ref().map(|awaits| awaits.get_ref().caller.get_ref().trim().to_owned()),
        name: raw.name.as_ref().map(|name| name.get_ref().clone()),
        capture: capture::read(scenario, raw, streams)?,
        golden: raw.golden.as_ref().map_or(by_itself, |golden| *golden.get_ref()),
        action,
        file: scenario.source.file.clone(),
        place: scenario.source.place(start),
    })
}

/// Reads the event for which a step waits, on a stream that an earlier step listens to.
fn after(scenario: ScenarioFile<'_>, raw: &RawStep, names: &Names) -> Result<EventSpec> {
    let why = "belongs to a request or a command, and this step waits for an event";
    scenario.refuse(&fields!(raw; headers, status, stream, golden, cancel, reconnect, wait, cwd, env, exit), why)?;
    scenario.refuse(&raw.body_fields(), why)?;
    scenario.refuse(&raw.page_fields(), why)?;
    let raw = raw.after.as_ref().ok_or_else(|| Error::new("no event"))?;
    if !names.listens {
        let error = scenario.error(raw, "no step before this one listens to a stream");
        return Err(error.help("a step with `listen = \"/path\"` does, or a request with `stream = { listen = true }`"));
    }
    answer::event(scenario, raw)
}

/// Whether a step opens a page that has something to show in the golden.
fn shows(action: &Action) -> bool {
    let Action::Browse(visit) = action else { return false };
    !visit.traffic.is_empty() || visit.acts.iter().any(|act| matches!(act.what, Do::Aria(_)))
}

/// Returns the one key that says which kind of step it is.
fn kind(scenario: ScenarioFile<'_>, raw: &RawStep, start: usize) -> Result<&'static str> {
    let given = fields!(raw; get, post, put, patch, delete, listen, socket, after, run, browser, together);
    let given: Vec<_> = given.into_iter().filter_map(|(kind, start)| Some((kind, start?))).collect();
    if let [(kind, _)] = given[..] {
        if kind != "socket" {
            let of_socket = fields!(raw; last, framing, connect, event, send, send_file);
            scenario.refuse(&of_socket, "belongs to a step with `socket`")?;
        }
        return Ok(kind);
    }
    if given.is_empty() && (raw.send.is_some() || raw.send_file.is_some()) {
        return Ok("socket");
    }
    let kinds: Vec<&str> = given.iter().map(|(kind, _)| *kind).collect();
    let error = match given.last() {
        None => scenario.source.error(start, "this step sends nothing"),
        Some((_, second)) => {
            let both = if kinds.iter().all(|kind| KINDS[..5].contains(kind)) { "methods" } else { "kinds" };
            scenario.source.error(*second, format!("this step has {} {both}: {}", kinds.len(), listed(&kinds)))
        }
    };
    Err(error.help(format!("a step has exactly one of {}", listed(&KINDS))))
}

/// Reads the steps of `together`. None of them may use values of another.
fn together(scenario: ScenarioFile<'_>, raw: &RawStep, names: &Names) -> Result<Vec<Step>> {
    let of_parts = fields!(raw; headers, status, capture, stream, golden, cancel, reconnect, wait, cwd, env, exit);
    scenario.refuse(&of_parts, "belongs to one of the steps in `together`")?;
    scenario.refuse(&raw.body_fields(), "belongs to one of the steps in `together`")?;
    scenario.refuse(&raw.page_fields(), "belongs to one of the steps in `together`")?;
    let parts = raw.together.as_ref().ok_or_else(|| Error::new("no steps"))?;
    if parts.get_ref().is_empty() {
        return Err(scenario.error(parts, "`together` contains no step"));
    }
    let mut steps: Vec<Step> = Vec::with_capacity(parts.get_ref().len());
    for part in parts.get_ref() {
        let inner = part.get_ref();
        let nested = fields!(inner; together, listen, after, socket, send, send_file, browser);
        let own = "cannot stand in `together`: put it into a step of its own";
        scenario.refuse(&nested, own)?;
        if let Some(stream) = inner.stream.as_ref().filter(|_| inner.listens()) {
            return Err(scenario.error(stream, format!("a stream with `listen` {own}")));
        }
        let step = read(scenario, part, names)?;
        for (name, _) in inner.capture.iter().flat_map(Spanned::get_ref) {
            if steps.iter().any(|earlier| earlier.capture.contains_key(name.get_ref())) {
                let what = format!("another step of `together` captures `{}` too", name.get_ref());
                return Err(scenario.error(name, what));
            }
        }
        steps.push(step);
    }
    Ok(steps)
}
