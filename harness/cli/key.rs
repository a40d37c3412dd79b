use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::project::ProjectOption;
use retake::__private::report::terminal;
use retake_base::error::{Error, Place, Result};
use retake_base::files;
use retake_base::text::counted;
use retake_core::json::{Json, Layout};
use retake_core::key::{Rules, keep_order, message_from_langchain};
use retake_wire::fixture::{FORMAT, Fixture};

/// Print the match key of each conversation in a JSON Lines file
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    echo '{\"caller\": \"lead_agent\", \"messages\": [{\"type\": \"human\",\n         \
    \"data\": {\"content\": \"hi\"}}]}' | retake key\n\n\
    Each line is an object with a caller and its messages, which are in the form of LangChain's messages_to_dict. \
    Keys are of version 1, with the rules of the suite of the project that contains the file (for standard input, the \
    current folder).\n\n\
    Carry a fixture of an older format over to the newest:\n  retake key --write fixtures/chat.json\n\n\
    It says what the older format did not keep. In a fixture of `retake/1`, an `output` that differs from its `wire` \
    is left out. A fixture that has only hashes, as deer-flow's, is refused: nothing can be computed from them.")]
pub(super) struct KeyOf {
    /// A file of JSON lines [default: standard input]
    #[arg(conflicts_with = "write")]
    file: Option<PathBuf>,
    /// Write this fixture in the newest format. A response that is odd is taken to be what the service sent
    #[arg(long, value_name = "FIXTURE")]
    write: Option<PathBuf>,
    #[command(flatten)]
    project: ProjectOption,
}

impl KeyOf {
    pub(super) fn run(&self) -> Result<ExitCode> {
        if let Some(fixture) = &self.write {
            return self.carry_over(fixture);
        }
        let bytes = super::project::input(self.file.as_deref())?;
        let name = self.file.clone().unwrap_or_else(|| PathBuf::from("(standard input)"));
        // Standard input counts as a file of the current folder.
        let of = self.file.clone().unwrap_or_else(|| PathBuf::from("-"));
        let rules = self.project.open(&of)?.rules;
        for (i, line) in bytes.split(|b| *b == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let at = |column| Place { line: i + 1, column };
            let mut json = Json::parse(line)
                .map_err(|e| Error::new(format!("not JSON: {}", e.message)).in_file(&name).at(at(e.column)))?;
            keep_order(&mut json, line, &["data"]);
            let key = key_of(json, &rules).map_err(|reason| Error::new(reason).in_file(&name).at(at(1)))?;
            terminal::out(key.print(Layout::Python));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn carry_over(&self, file: &Path) -> Result<ExitCode> {
        retake::__private::run::may_write_fixtures("carrying fixtures over")?;
        let rules = self.project.open(file)?.rules;
        let old = files::read(file)?;
        let fixture = Fixture::carried_over(file, &old, &rules)?;
        let text = fixture.print();
        let shown = file.display();
        if text.as_bytes() == old {
            terminal::note(format!("{shown}: unchanged, nothing in it is older than {FORMAT}"));
            return Ok(ExitCode::SUCCESS);
        }
        files::write_whole(file, text.as_bytes())?;
        let turns = counted(fixture.table.turns().len(), "turn");
        let unknown = if fixture.is_old { fixture.unknown() } else { Vec::new() };
        let lines = unknown.iter().map(|what| format!("\n  not known: {what}"));
        terminal::note(format!("{shown}: {turns} written as {FORMAT}{}", lines.collect::<String>()));
        Ok(ExitCode::SUCCESS)
    }
}

fn key_of(call: Json, rules: &Rules) -> Result<Json, String> {
    let mut call = call.into_object().unwrap_or_default();
    let caller = match call.remove("caller") {
        None | Some(Json::Null) => None,
        Some(Json::Str(caller)) => Some(caller),
        Some(other) => return Err(format!("`caller`: expected a string or null, found {}", other.kind())),
    };
    let Some(Json::Array(messages)) = call.remove("messages") else {
        return Err("`messages`: expected a list of messages".to_owned());
    };
    let message = |(i, m)| message_from_langchain(m).map_err(|e| format!("messages[{i}]: {e}"));
    let messages = messages.into_iter().enumerate().map(message).collect::<Result<Vec<_>, _>>()?;
    let key = rules.key(&rules.canonical(messages), caller.as_deref());
    Ok(Json::object([
        ("conversation_hash", Json::Str(key.conversation_hash.to_string())),
        ("input_hash", Json::Str(key.input_hash.to_string())),
    ]))
}
