//! Reads `[tools.NAME]` of a suite: how to execute recorded tool calls again.

use std::collections::BTreeMap;
use std::time::Duration;

use super::names::{check_header_name, check_variable};
use super::normalize::normalize_rule;
use super::options::limit;
use super::raw::{RawSuite, RawTool, fields};
use super::spanned::Spanned;
use crate::source::Source;
use crate::template::{Names, Template};
use crate::tool::{ToolBy, ToolCommand, ToolSpec, ToolUrl};
use retake_base::error::Result;
use retake_base::text::listed;

/// How long a call may take by default.
const TIMEOUT: Duration = Duration::from_secs(60);
/// The fields that say what executes the calls. Each tool has exactly one.
pub(super) const KINDS: [&str; 4] = ["mcp", "http", "command", "as_recorded"];

pub(super) fn read(raw: &RawSuite, source: &Source) -> Result<BTreeMap<String, ToolSpec>> {
    let mut tools: BTreeMap<String, ToolSpec> = BTreeMap::new();
    for (name, tool) in &raw.tools {
        if name.get_ref().trim().is_empty() {
            return Err(source.error_at(name, "the tool's name is empty"));
        }
        let spec = Reader { source, names: Names::of_tools(false), name, raw: tool.get_ref() }.tool()?;
        for (other, earlier) in &tools {
            let Some(twice) = spec.tools.iter().find(|tool| earlier.tools.contains(tool)) else { continue };
            let what = format!("`{twice}` is declared by `{other}` too");
            return Err(source.error_at(name, what));
        }
        tools.insert(name.get_ref().clone(), spec);
    }
    Ok(tools)
}

struct Reader<'a> {
    source: &'a Source,
    names: Names,
    name: &'a Spanned<String>,
    raw: &'a RawTool,
}

impl Reader<'_> {
    fn tool(mut self) -> Result<ToolSpec> {
        let raw = self.raw;
        let by = self.by()?;
        let is_server = matches!(by, ToolBy::McpCommand(_) | ToolBy::McpUrl(_));
        if let (Some(prefix), false) = (&raw.prefix, is_server) {
            return Err(self.source.error_at(prefix, "`prefix` belongs to a server: mcp = { … }"));
        }
        let tools = match &raw.tools {
            Some(tools) if tools.get_ref().is_empty() => {
                return Err(self.source.error_at(tools, "`tools` names no tool"));
            }
            Some(tools) => tools.get_ref().clone(),
            None if is_server => Vec::new(),
            None => vec![self.name.get_ref().clone()],
        };
        for pointer in raw.ignore.iter().flatten() {
            if !pointer.get_ref().starts_with('/') {
                let what = format!("`{}` is not a JSON pointer: it does not start with `/`", pointer.get_ref());
                return Err(self.source.error_at(pointer, what).help("write it as the drift log does: /observation/…"));
            }
        }
        let normalize = raw.normalize.iter().flatten().cloned();
        Ok(ToolSpec {
            by,
            tools,
            prefix: raw.prefix.as_ref().map(|prefix| prefix.get_ref().clone()).unwrap_or_default(),
            timeout: raw.timeout.as_ref().map_or(Ok(TIMEOUT), |timeout| limit(timeout, self.source))?,
            ignore: raw.ignore.iter().flatten().map(|pointer| pointer.get_ref().clone()).collect(),
            normalize: normalize.map(|rule| normalize_rule(rule, self.source)).collect::<Result<_>>()?,
            secrets: self.names.used().secrets,
        })
    }

    fn by(&mut self) -> Result<ToolBy> {
        let (name, raw) = (self.name, self.raw);
        let as_recorded = raw.as_recorded.as_ref().filter(|flag| *flag.get_ref());
        let by = match (&raw.mcp, &raw.http, &raw.command, as_recorded) {
            (Some(mcp), None, None, None) => match (&mcp.get_ref().command, &mcp.get_ref().url) {
                (Some(command), None) => ToolBy::McpCommand(self.command(command)?),
                (None, Some(url)) => ToolBy::McpUrl(self.url(url)?),
                _ => return Err(self.source.error_at(mcp, "`mcp` has exactly one of `command` and `url`")),
            },
            (None, Some(url), None, None) => ToolBy::Http(self.url(url)?),
            (None, None, Some(command), None) => {
                self.names = Names::of_tools(true);
                ToolBy::Command(self.command(command)?)
            }
            (None, None, None, Some(_)) => ToolBy::AsRecorded,
            _ => {
                let what = format!("the tool `{}` needs exactly one of {}", name.get_ref(), listed(&KINDS));
                return Err(self.source.error_at(name, what).help("it says what executes the tool's calls"));
            }
        };
        let is_command = matches!(by, ToolBy::Command(_) | ToolBy::McpCommand(_));
        let is_url = matches!(by, ToolBy::Http(_) | ToolBy::McpUrl(_));
        if !is_command {
            self.source.refuse(&fields!(raw; cwd, env), "belongs to a tool with a command")?;
        }
        if !is_url {
            self.source.refuse(&fields!(raw; headers), "belongs to a tool with a URL")?;
        }
        Ok(by)
    }

    fn command(&self, command: &Spanned<Vec<Spanned<String>>>) -> Result<ToolCommand> {
        command.check_command(self.source, "the command names no program")?;
        Ok(ToolCommand {
            command: command.get_ref().iter().map(|part| self.template(part)).collect::<Result<_>>()?,
            cwd: self.raw.cwd.as_ref().map(|cwd| self.template(cwd)).transpose()?,
            env: self.names.templates(self.raw.env.as_ref(), self.source, check_variable)?,
        })
    }

    fn url(&self, url: &Spanned<String>) -> Result<ToolUrl> {
        let text = url.get_ref();
        if !["http://", "https://", "{{"].iter().any(|begin| text.starts_with(begin)) {
            let what = format!("`{text}` is not an address: it starts neither with `http://` nor with `https://`");
            return Err(self.source.error_at(url, what));
        }
        let url = self.template(url)?;
        let headers = self.names.templates(self.raw.headers.as_ref(), self.source, check_header_name)?;
        Ok(ToolUrl { url, headers })
    }

    fn template(&self, text: &Spanned<String>) -> Result<Template> {
        self.names.template(text, self.source)
    }
}
