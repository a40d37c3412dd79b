//! Reads a step that talks over a WebSocket.

use super::file::ScenarioFile;
use super::json;
use super::raw::{RawStep, fields};
use super::request::{headers_of, path_of};
use super::{answer, body};
use crate::step::{EventSpec, Framing, SocketOpening, SocketTalk};
use crate::template::{Names, TemplateJson};
use retake_base::error::{Error, Result};

/// Reads a step with `socket`, or with `send` alone, which goes on with the socket of an earlier step.
pub(super) fn read(scenario: ScenarioFile<'_>, raw: &RawStep, names: &Names) -> Result<SocketTalk> {
    let why = "belongs to a request or a command, and this step talks over a WebSocket";
    scenario.refuse(&fields!(raw; status, cwd, env, exit, stream, cancel, reconnect, wait), why)?;
    scenario.refuse(&raw.body_fields(), why)?;
    scenario.refuse(&raw.page_fields(), why)?;
    if raw.socket.is_none() {
        let of_opening = fields!(raw; headers, framing, connect, event);
        scenario.refuse(&of_opening, "belongs to the step that opens the socket")?;
    }
    let opening = |path| {
        Ok::<_, Error>(SocketOpening {
            path: path_of(scenario, path)?,
            headers: headers_of(scenario, raw)?,
            framing: raw.framing.as_ref().map_or(Framing::Plain, |framing| *framing.get_ref()),
            connect: raw.connect.as_ref().map(|connect| json::of_toml(connect, scenario.source)).transpose()?,
            event: raw.event.as_ref().map(|event| event.get_ref().clone()),
        })
    };
    let open = raw.socket.as_ref().map(opening).transpose()?;
    if let Some(SocketOpening { path, headers, connect, framing, event }) = &open {
        names.check(path)?;
        headers.iter().try_for_each(|(_, value)| names.check(value))?;
        connect.iter().try_for_each(|connect| names.check_json(connect))?;
        if let (Framing::Plain, Some(connect)) = (framing, &raw.connect) {
            let error = scenario.error(connect, "`connect` belongs to a socket with a `framing`");
            return Err(error.help("write what a plain socket expects first as the first message of `send`"));
        }
        if let (Framing::SocketIo | Framing::GraphQl, Some(_), Some(event)) = (framing, event, &raw.event) {
            let what = "`event` says where a message has its name, which this `framing` does itself";
            return Err(scenario.error(event, what));
        }
    } else if !names.socket {
        let at = fields!(raw; send, send_file).into_iter().find_map(|(_, at)| at).unwrap_or_default();
        let error = scenario.source.error(at, "there is no open socket before this step to send this to");
        return Err(error.help("a step with `socket = \"/path\"` opens one"));
    }
    if let (Some(_), Some(file)) = (&raw.send, &raw.send_file) {
        return Err(scenario.error(file, "a step has either `send` or `send_file`, this one has both"));
    }
    let send = match (&raw.send, &raw.send_file) {
        (Some(send), _) => Some(json::of_toml(send, scenario.source)?),
        (_, file) => file.as_ref().map(|file| body::json_file(scenario, file)).transpose()?,
    };
    let send = match send {
        Some(TemplateJson::Array(messages)) => messages,
        one => one.into_iter().collect(),
    };
    send.iter().try_for_each(|message| names.check_json(message))?;
    let framing = open.as_ref().map(|open| open.framing);
    let last = raw.last.as_ref().map(|last| answer::event(scenario, last)).transpose()?;
    // A subscription has an end of its own.
    let last = last.or_else(|| (framing == Some(Framing::GraphQl)).then(|| EventSpec::named("complete")));
    Ok(SocketTalk { open, send, last })
}
