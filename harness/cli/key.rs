use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;

use super::project::ProjectOption;
use crate::error::{Error, Place, Result};
use crate::files;
use crate::fixture::Fixture;
use crate::json::{Json, Layout};
use crate::key::{Rules, message_from_langchain};
use crate::report::terminal;
use crate::text::counted;

/// Compute keys: JSON lines of {"caller", "messages"} in, hashes out
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  \
    echo '{\"caller\": \"lead_agent\", \"messages\": [{\"type\": \"human\",\n         \
    \"data\": {\"content\": \"hi\"}}]}' | retake key\n\n\
    Messages are in LangChain's messages_to_dict form. The key is version 1, with the rules of the\n\
    suite where the project that the file lies in (of standard input, this folder) has some.\n\n\
    After [[normalize]] or [aliases] of scenarios/suite.toml changed, or a turn was edited by hand\n\
    (an `output` that is not what `wire` brings is restored from it):\n  \
    retake key --write fixtures/chat.json")]
pub(super) struct KeyOf {
    /// A file of JSON lines; standard input where absent
    #[arg(conflicts_with = "write")]
    file: Option<PathBuf>,
    /// Key the turns of this fixture anew, from what was recorded and by the suite's rules of today, restore each `output`
    /// that is not what `wire` brings, and write it
    #[arg(long, value_name = "FIXTURE")]
    write: Option<PathBuf>,
    #[command(flatten)]
    project: ProjectOption,
}

impl KeyOf {
    pub(super) fn run(&self) -> Result<ExitCode> {
        if let Some(fixture) = &self.write {
            return self.key_anew(fixture);
        }
        let bytes = super::input::input(self.file.as_deref())?;
        let name = self.file.clone().unwrap_or_else(|| PathBuf::from("(standard input)"));
        // Standard input is taken for a file of this folder.
        let of = self.file.clone().unwrap_or_else(|| PathBuf::from("-"));
        let rules = self.project.open(&of)?.rules;
        for (i, line) in bytes.split(|b| *b == b'\n').enumerate() {
            if line.trim_ascii().is_empty() {
                continue;
            }
            let at = |column| Place { line: i + 1, column };
            let json = Json::parse(line)
                .map_err(|e| Error::new(format!("not JSON: {}", e.message)).in_file(&name).at(at(e.column)))?;
            let key = key_of(json, &rules).map_err(|reason| Error::new(reason).in_file(&name).at(at(1)))?;
            terminal::out(key.print(Layout::Python));
        }
        Ok(ExitCode::SUCCESS)
    }

    fn key_anew(&self, file: &Path) -> Result<ExitCode> {
        crate::run::policy::may_write_fixtures("keying anew")?;
        let rules = self.project.open(file)?.rules;
        let old = files::read(file)?;
        let fixture = Fixture::keyed_anew(file, &old, &rules)?;
        let text = fixture.print();
        let shown = file.display();
        if text.as_bytes() == old {
            terminal::note(format!(
                "{shown}: unchanged, each key is that of its call, each `output` what its `wire` brings"
            ));
            return Ok(ExitCode::SUCCESS);
        }
        files::write_whole(file, text.as_bytes())?;
        terminal::note(format!("{shown}: {} keyed anew", counted(fixture.table.turns().len(), "turn")));
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
