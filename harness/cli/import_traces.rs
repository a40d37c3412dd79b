use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;

use clap::Args;
use regex::Regex;

use super::import::{self, Import, notes_of, unreadable};
use super::schemas;
use crate::formats::traces::{Personal, Redactor, Refused, Taken, TraceFormat, Traces, read, receive};
use retake::__private::project::folder_of;
use retake::__private::report::terminal;
use retake_base::error::{Error, Result};
use retake_base::files;
use retake_base::text::counted;
use retake_core::json::{Json, Layout};
use retake_core::secrets::hide;
use retake_wire::fixture::Fixture;

const NOTHING_SENT: &str = "--listen is only for otlp: Langfuse sends nothing";

/// The options for traces.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Options for traces: otlp, langfuse")]
pub(super) struct TraceOptions {
    /// The trace to import, by its id or the beginning of it; may be repeated, for a conversation over several requests
    #[arg(long, value_name = "ID")]
    trace: Vec<String>,
    /// Only list the traces: id, time, root span, calls, tokens, models, first words of the user
    #[arg(long, conflicts_with = "listen")]
    pub(super) list: bool,
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
    #[arg(long, value_name = "REGEX")]
    redact_pattern: Vec<Regex>,
}

impl TraceOptions {
    pub(super) fn import(&self, format: TraceFormat, Import { input, out, project, .. }: &Import) -> Result<ExitCode> {
        let out = out.as_deref();
        let opened = out.map_or_else(|| project.open_here(), |out| project.open(out))?;
        let root = out.and_then(folder_of).map_or_else(|| project.folder(), Ok)?;
        let scenario = self.scenario.as_deref().map(|name| Ok((name, super::new::file(&root, name)?))).transpose()?;
        let secrets = opened.secrets()?;
        let scrub = secrets.scrub();
        hide(scrub.clone());
        let mut redactor = Redactor::new(&self.redact, self.redact_pattern.clone());
        let (spans, skipped) = match self.listen {
            Some(_) if format != TraceFormat::Otlp => return Err(Error::new(NOTHING_SENT)),
            Some(address) => (receive(address)?, Vec::new()),
            None => match read(format, input) {
                Ok(read) => read,
                Err(errors) => return Ok(unreadable(&errors)),
            },
        };
        let traces = Traces::of_spans(spans, &mut redactor, scrub);
        skipped.iter().chain(&traces.notes).for_each(terminal::note);
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
        if !import::write(fixture, out, &none, (scrub, fixture.scrub.names(), "import again"))? {
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
            schemas::write(&root)?;
            let what = write(&file, name, &fixture, &taken)?;
            terminal::note(format!("{}{what}\n  next: retake adopt {name}", file.display()));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes the scenario of a trace. `fixture` is the name of its fixture.
/// Returns whether a person has to fill in its request, since the trace does not hold it, in words.
fn write(file: &Path, name: &str, fixture: &str, taken: &Taken) -> Result<&'static str> {
    let prompt = taken.prompt.as_deref().unwrap_or_default();
    let of_fixture = if fixture == name { String::new() } else { format!("fixture = {}\n", quoted(fixture)) };
    let mut vars = format!("[vars]\nprompt = {}\n", quoted(&raw(prompt)));
    let (mut path, mut json) = (PATH.to_owned(), JSON.to_owned());
    let mut said = ": fill in the lines that say FILL IN";
    if let Some((method, of_trace, body)) = &taken.request {
        path = format!("{} = {}", method.to_lowercase(), quoted(&raw(of_trace)));
        if let Some(mut body) = body.clone() {
            said = " has the request that started the trace";
            if !put_prompt(&mut body, prompt) {
                vars.clear();
            }
            json = if let Ok(json) = serde_json::from_str::<toml::Value>(&body.print(Layout::Compact)) {
                format!("json   = {json}")
            } else {
                // TOML has no null.
                let body = body.print(Layout::Pretty) + "\n";
                files::write_whole(&file.with_file_name("body.json"), body.as_bytes())?;
                "json_file = \"body.json\"".to_owned()
            };
        }
    }
    let begin = schemas::OF_SCENARIO;
    let text = format!("{begin}{DESCRIPTION}{of_fixture}\n{vars}\n[[step]]\n{path}\n{json}\n{STREAM}{GOLDEN}");
    files::write_whole(file, text.as_bytes())?;
    Ok(said)
}

const DESCRIPTION: &str = "description = \"A conversation that happened in production\"\n";
const PATH: &str = "# FILL IN: the path\npost   = \"/\"";
const JSON: &str = "# FILL IN: the body, with the prompt in its place\njson   = { message = \"{{ prompt }}\" }";
const STREAM: &str =
    "# FILL IN: `golden = true` instead, if the service answers with JSON and not with a stream\nstream = true\n";
const GOLDEN: &str = "\n[golden]\ndetail = \"types\"\n";

/// Puts a variable in the place of the prompt, and tells whether it was there.
fn put_prompt(body: &mut Json, prompt: &str) -> bool {
    let mut found = false;
    body.each_text_mut(&mut |text| {
        let is_prompt = text == prompt && !prompt.is_empty();
        *text = if is_prompt { "{{ prompt }}".to_owned() } else { raw(text) };
        found |= is_prompt;
    });
    found
}

fn quoted(text: &str) -> String {
    Json::from(text).print(Layout::Compact).replace('\u{7f}', "\\u007F")
}

/// A text that no template engine changes.
fn raw(text: &str) -> String {
    let is_template = ["{{", "{%", "{#"].iter().any(|begin| text.contains(begin));
    if is_template { format!("{{% raw %}}{text}{{% endraw %}}") } else { text.to_owned() }
}
