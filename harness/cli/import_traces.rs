use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use regex::Regex;

use super::import::notes_of;
use super::project::ProjectOption;
use super::trace_scenario;
use crate::formats::traces::{Personal, Redactor, Refused, Taken, TraceFormat, Traces, receive};
use retake::__private::project::folder_of;
use retake::__private::report::terminal;
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_core::secrets::hide;
use retake_wire::fixture::Fixture;

/// The options for traces.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options for traces: otlp, langfuse")]
pub(super) struct TraceOptions {
    /// The trace to import, by its id or the beginning of it; may be repeated, for a conversation over several requests
    #[arg(long, value_name = "ID")]
    trace: Vec<String>,
    /// Only list the traces: id, time, root span, calls, tokens, models, first words of the user
    #[arg(long, conflicts_with = "listen")]
    list: bool,
    /// Receive OTLP over HTTP at this loopback address until Ctrl-C, and import what came
    #[arg(long, value_name = "ADDRESS", conflicts_with = "input")]
    listen: Option<SocketAddr>,
    /// Also write a scenario of this name, which replays the fixture
    #[arg(long, value_name = "NAME")]
    scenario: Option<String>,
    /// Replace personal data by stand-ins, the same text always by the same one
    #[arg(long, value_name = "KINDS", value_enum, value_delimiter = ',')]
    redact: Vec<Personal>,
    /// Replace what this regular expression matches as well; may be repeated
    #[arg(long, value_name = "REGEX", value_parser = regex)]
    redact_pattern: Vec<Regex>,
}

fn regex(text: &str) -> Result<Regex, String> {
    Regex::new(text).map_err(|e| format!("this is not a regular expression: {e}"))
}

impl TraceOptions {
    /// Whether nothing is written.
    pub(super) fn only_lists(&self) -> bool {
        self.list
    }

    /// An option that was used.
    pub(super) fn used(&self) -> Option<&'static str> {
        let used = [
            ("--trace", !self.trace.is_empty()),
            ("--list", self.list),
            ("--listen", self.listen.is_some()),
            ("--scenario", self.scenario.is_some()),
            ("--redact", !self.redact.is_empty()),
            ("--redact-pattern", !self.redact_pattern.is_empty()),
        ];
        used.into_iter().find(|(_, used)| *used).map(|(option, _)| option)
    }

    pub(super) fn import(
        &self,
        format: TraceFormat,
        inputs: &[PathBuf],
        out: Option<&Path>,
        project: &ProjectOption,
    ) -> Result<ExitCode> {
        if self.listen.is_some() && format != TraceFormat::Otlp {
            return Err(Error::new("--listen is only for otlp: Langfuse sends nothing"));
        }
        let opened = out.map_or_else(|| project.open_here(), |out| project.open(out))?;
        let root = out.and_then(folder_of).map_or_else(|| project.folder(), Ok)?;
        let scenario = self.scenario.as_deref().map(|name| Ok((name, super::new::file(&root, name)?))).transpose()?;
        let secrets = opened.secrets()?;
        let scrub = secrets.scrub();
        hide(scrub.clone());
        let mut redactor = Redactor::new(&self.redact, self.redact_pattern.clone());
        let traces = match self.listen {
            Some(address) => Ok(receive(address, &mut redactor, scrub)?),
            None => Traces::read(format, inputs, &mut redactor, scrub),
        };
        let traces = match traces {
            Ok(traces) => traces,
            Err(errors) => {
                errors.iter().for_each(terminal::error);
                terminal::note("nothing was written");
                return Ok(ExitCode::from(2));
            }
        };
        traces.notes.iter().for_each(terminal::note);
        let Some(out) = out.filter(|_| !self.list) else {
            traces.list().iter().for_each(terminal::out);
            return Ok(ExitCode::SUCCESS);
        };
        // What a receiver got in one run belongs together; a file may hold the traces of many users.
        let count = traces.with_calls();
        if self.trace.is_empty() && self.listen.is_none() && count > 1 {
            traces.list().iter().for_each(terminal::note);
            let what = format!("there are {count} traces with model calls, and one fixture holds one conversation");
            return Err(Error::new(what)
                .help("name the trace: --trace ID; several requests of one conversation: --trace ID --trace ID"));
        }
        let taken = traces.take(&self.trace, out, notes_of(out, &opened.rules), &opened.rules)?;
        let Taken { fixture, refused, notes, rules, .. } = &taken;
        notes.iter().for_each(terminal::note);
        for Refused { trace, span, name, reason, setting } in refused {
            let setting = setting.as_ref().map(|setting| format!("\n  to keep it: {setting}")).unwrap_or_default();
            terminal::note(format!("refused: trace {trace}, span {span} ({name}): {reason}{setting}"));
        }
        let none = match refused.len() {
            0 => "no span is a model call, so nothing was written".to_owned(),
            refused => format!("no turns: {} refused, nothing was written", counted(refused, "span")),
        };
        // What replay will read, not what is in memory.
        let printed = fixture.print();
        Fixture::parse(out, printed.as_bytes(), &opened.rules)?;
        if !super::import::write(fixture, out, &none, (scrub, fixture.scrub.names(), "import again"))? {
            return Ok(ExitCode::from(1));
        }
        if redactor.replaced(&printed) > 0 {
            terminal::note(format!("{} replaced by stand-ins", counted(redactor.replaced(&printed), "text")));
        }
        // A number after an escaped line end would seem to be a part of a word.
        redactor.left(&printed.replace("\\n", "\n").replace("\\t", "\t")).iter().for_each(terminal::note);
        let turns = counted(fixture.table.turns().len(), "turn");
        terminal::note(format!("{turns} written to {}, {} refused", out.display(), refused.len()));
        if !rules.is_empty() {
            let what = "its calls have several callers; if the service names none itself, scenarios/suite.toml needs:";
            terminal::note(format!("{what}\n{}", rules.join("\n")));
        }
        if let Some((name, file)) = scenario {
            let fixture = out.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
            let what = if trace_scenario::write(&root, &file, name, &fixture, &taken)? {
                ": fill in the lines that say FILL IN"
            } else {
                " has the request that started the trace"
            };
            terminal::note(format!("{}{what}\n  next: retake adopt {name}", file.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}
