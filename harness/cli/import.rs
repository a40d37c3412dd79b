use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::{Args, ValueEnum};

use super::import_traces::TraceOptions;
use super::project::{ProjectOption, note_each};
use crate::formats::traces::TraceFormat;
use crate::formats::{Foreign, Imported, Options, openhands, to_fixture};
use retake::__private::project::OpenProject;
use retake::__private::report::terminal;
use retake::__private::run::may_write_fixtures;
use retake::__private::tools::openhands::{Conversation, find};
use retake_base::error::{Error, Result};
use retake_base::text::counted;
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_core::secrets::{Fired, Scrub, hide};
use retake_wire::fixture::{Fixture, Suspected, call_log};

/// Convert recordings of another format to a fixture
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  retake import vcr tests/cassettes --out fixtures/imported.json\n  \
    retake import deerflow traces/*.json --out fixtures/imported.json\n  retake import otlp traces.jsonl --list\n  \
    retake import otlp traces.jsonl --trace 4f2a --scenario refund \\\n      --out fixtures/refund.json\n  \
    retake import otlp --listen 127.0.0.1:4318 --out fixtures/refund.json\n\n\
    Each recorded request goes through the same code as a call in replay, which computes its key. What cannot become \
    a turn is listed with its file, its place and the reason.\n\n\
    Exit code 0 if turns were written, 1 if a file could not be read, which is then left out, or if there was no \
    turn, 2 if no file could be read.")]
pub(super) struct Import {
    /// The format of the recordings
    format: ImportFormat,
    /// The recordings: files or folders; a folder's files are read in the order of their names. For traces, `-` is standard
    /// input
    #[arg(required_unless_present = "listen")]
    pub(super) input: Vec<PathBuf>,
    /// The fixture to write
    #[arg(long, value_name = "FILE", required_unless_present = "list")]
    pub(super) out: Option<PathBuf>,
    /// Also make turns of failed answers: redirects, and status 400 and above
    #[arg(long)]
    errors: bool,
    /// The id of the OpenHands conversation, if the folder contains several
    #[arg(long, value_name = "ID")]
    conversation: Option<String>,
    #[command(flatten)]
    traces: Option<TraceOptions>,
    #[command(flatten)]
    pub(super) project: ProjectOption,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ImportFormat {
    /// A fixture of deer-flow's replay provider
    Deerflow,
    /// A journal that recording left in fixtures/.journal
    Journal,
    /// Cassettes of VCR.py (pydantic-ai's too) or of Ruby's VCR
    Vcr,
    /// Cassettes of go-vcr, which `vcr` reads, too
    GoVcr,
    /// HTTP archives, as browsers write them
    Har,
    /// Fixtures of aimock (llmock)
    Aimock,
    /// Conversations of the OpenHands agent SDK, each a folder with events/
    Openhands,
    /// Traces of OpenTelemetry: OTLP as JSON or JSON lines, with the content of model calls
    Otlp,
    /// Traces that Langfuse exports, as JSON or JSON lines
    Langfuse,
}

impl Import {
    pub(super) fn run(&self) -> Result<ExitCode> {
        if !self.traces.as_ref().is_some_and(|traces| traces.list) {
            may_write_fixtures("importing")?;
        }
        if self.conversation.is_some() && !matches!(self.format, ImportFormat::Openhands) {
            return Err(Error::new("--conversation is only for the format openhands"));
        }
        let foreign = match self.format {
            ImportFormat::Vcr | ImportFormat::GoVcr => Some(Foreign::Vcr),
            ImportFormat::Har => Some(Foreign::Har),
            ImportFormat::Aimock => Some(Foreign::Aimock),
            _ => None,
        };
        if self.errors && !matches!(foreign, Some(Foreign::Vcr | Foreign::Har)) {
            return Err(Error::new("--errors is only for recordings of other tools: vcr, go-vcr, har"));
        }
        let format = match self.format {
            ImportFormat::Otlp => Some(TraceFormat::Otlp),
            ImportFormat::Langfuse => Some(TraceFormat::Langfuse),
            _ => None,
        };
        if let Some(format) = format {
            let traces = self.traces.clone().unwrap_or_default();
            return traces.import(format, self);
        }
        if self.traces.is_some() {
            let options = "--trace, --list, --listen, --scenario, --redact and --redact-pattern";
            return Err(Error::new(format!("{options} are only for traces: otlp, langfuse")));
        }
        let out = self.out.as_deref().ok_or_else(|| Error::new("--out is missing"))?;
        let project = self.project.open(out)?;
        let secrets = project.secrets()?;
        hide(secrets.scrub().clone());
        let read = match foreign {
            Some(form) => self.foreign(form, out, &project, secrets.scrub()).map(|found| (found, Fired::new())),
            None => self.own(out, &project, secrets.scrub()).map_err(|error| vec![error]),
        };
        let (Imported { fixture, left_out, notes, unread }, of_answers) = match read {
            Ok(read) => read,
            Err(errors) => return Ok(unreadable(&errors)),
        };
        unread.iter().for_each(terminal::error);
        notes.iter().for_each(terminal::note);
        note_each("left out", &left_out);
        let turns = fixture.table.turns().len();
        let found = fixture.scrub.names().union(&of_answers).cloned().collect();
        // What is masked in a journal is in no other file.
        let anew = if matches!(self.format, ImportFormat::Journal) { "record again" } else { "import again" };
        let none = format!("no turns: {} left out, nothing was written", left_out.len());
        if !write(&fixture, out, &none, (secrets.scrub(), &found, anew))? {
            return Ok(ExitCode::from(1));
        }
        terminal::note(format!("{} written to {}, {} left out", counted(turns, "turn"), out.display(), left_out.len()));
        if !unread.is_empty() {
            terminal::error(format!("{} could not be read, and left out", counted(unread.len(), "file")));
            return Ok(ExitCode::from(1));
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Reads files that Retake and deer-flow write, and folders of OpenHands conversations.
    /// Returns also the secrets in answers of files that hold no calls.
    fn own(&self, out: &Path, project: &OpenProject, scrub: &Scrub) -> Result<(Imported, Fired)> {
        let rules = &project.rules;
        let mut made: Option<Fixture> = None;
        let (mut left_out, mut notes, mut of_answers) = (Vec::new(), Vec::new(), Fired::new());
        for input in &self.input {
            let fixture = match self.format {
                ImportFormat::Journal => {
                    let read = call_log::to_fixture(None, input, out, notes_of(out, rules), rules, scrub)?;
                    left_out.extend(read.left_out);
                    notes.extend(read.warnings.iter().map(|warning| format!("warning: {warning}")));
                    read.fixture
                }
                ImportFormat::Openhands => {
                    let folder = find(input, self.conversation.as_deref())?;
                    let conversation = Conversation::read(&folder)?;
                    let of_folder = |line: &String| format!("{}: {line}", folder.display());
                    notes.extend(conversation.warnings.iter().map(of_folder));
                    let made = openhands::to_fixture(conversation, out, notes_of(out, rules), rules, scrub);
                    let (fixture, without_key) = made.map_err(|error| error.in_file(&folder))?;
                    left_out.extend(without_key.iter().map(of_folder));
                    fixture
                }
                _ => {
                    let (fixture, found) = Fixture::read(input, rules)?.scrubbed(scrub)?;
                    notes.extend(taken_out(input, &found));
                    of_answers.extend(found);
                    fixture
                }
            };
            made = Some(if let Some(earlier) = made { earlier.followed_by(fixture) } else { fixture });
        }
        let fixture = made.ok_or_else(|| Error::new("nothing to import"))?;
        Ok((Imported { fixture, left_out, notes, unread: Vec::new() }, of_answers))
    }

    fn foreign(&self, form: Foreign, out: &Path, project: &OpenProject, scrub: &Scrub) -> Result<Imported, Vec<Error>> {
        let rules = &project.rules;
        let caller = |headers: &_, call: &_| project.callers.caller_of(headers, call);
        let options = Options { rules, caller: &caller, errors: self.errors, scrub };
        let mut imported = to_fixture(form, &self.input, out, notes_of(out, rules), &options)?;
        let reminders = imported.fixture.reminders_over_messages(rules);
        imported.notes.extend(reminders.iter().map(|line| format!("warning: {line}")));
        Ok(imported)
    }
}

/// Says why no file could be read.
pub(super) fn unreadable(errors: &[Error]) -> ExitCode {
    errors.iter().for_each(terminal::error);
    terminal::note("nothing was written");
    ExitCode::from(2)
}

/// Writes a fixture, unless it holds no turn, or what seems to be a secret; then says so. Returns whether it did.
pub(super) fn write(fixture: &Fixture, out: &Path, none: &str, of: (&Scrub, &Fired, &str)) -> Result<bool> {
    let (scrub, found, anew) = of;
    if fixture.table.turns().is_empty() {
        terminal::error(none);
        return Ok(false);
    }
    if let Some(suspected) = Suspected::of(fixture, scrub, found) {
        terminal::error(suspected.error("import again", anew));
        return Ok(false);
    }
    fixture.write(out)?;
    Ok(true)
}

/// The warning about secrets that were removed from the answers of a fixture without conversations.
fn taken_out(file: &Path, found: &Fired) -> Option<String> {
    let names: Vec<&str> = found.iter().map(String::as_str).filter(|name| Scrub::is_form(name)).collect();
    (!names.is_empty()).then(|| {
        let (file, names) = (file.display(), names.join(", "));
        format!("warning: {file}: secrets were removed from its answers ({names}): a call that repeats one may miss")
    })
}

/// The notes of the fixture that will be replaced. They are kept, since people write prompt and context by hand.
pub(super) fn notes_of(out: &Path, rules: &Rules) -> BTreeMap<String, Json> {
    if out.exists() { Fixture::read(out, rules).map(|old| old.notes).unwrap_or_default() } else { BTreeMap::new() }
}
