//! Files and folders of a foreign format as one fixture.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::interaction::PlacedInteraction;
use super::options::Options;
use super::yaml::Node;
use super::{aimock, files, go_vcr, har, vcr};
use crate::error::{Error, Result};
use crate::fixture::{Fixture, Reads, Recorded, Turn};
use crate::json::Json;
use crate::key::Rules;
use crate::secrets::{Fired, Scrub};
use crate::wire::Known;

/// A form of recordings that other tools write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// VCR.py and Ruby's VCR.
    Vcr,
    /// go-vcr.
    GoVcr,
    /// HTTP archives of browsers and proxies.
    Har,
    /// CopilotKit's aimock, once llmock.
    Aimock,
}

/// The turns of recordings, and what became none.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) fixture: Fixture,
    /// A line for each interaction that is not a turn: file, interaction, reason.
    pub(crate) left_out: Vec<String>,
    /// What a person should know of the rest.
    pub(crate) notes: Vec<String>,
}

/// What one file holds.
enum Content {
    Interactions(Vec<PlacedInteraction>),
    /// Turns without a request: their conversation is computed of what the tool matches on.
    Turns(aimock::Read),
}

/// Makes a fixture of files and folders, in the order in which they are named; folders are read in name order.
///
/// # Errors
/// Every file that cannot be read or is not of the form. Nothing is left half-done then.
pub(crate) fn to_fixture(
    form: Foreign,
    inputs: &[PathBuf],
    out: &Path,
    notes: BTreeMap<String, Json>,
    options: &Options<'_>,
) -> Result<Imported, Vec<Error>> {
    let (found, mut said) = files::find(inputs, form.endings()).map_err(|error| vec![error])?;
    let (mut contents, mut errors, mut fired) = (Vec::new(), Vec::new(), Fired::new());
    for file in found {
        match form.read(&file.path, options, &mut fired) {
            Ok(Some(content)) => contents.push((file.path, content)),
            Ok(None) if file.named => errors.push(Error::new(form.not_of_it()).in_file(&file.path)),
            Ok(None) => said.push(format!("{}: skipped: {}", file.path.display(), form.not_of_it())),
            Err(error) => errors.push(error.in_file(&file.path)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let (mut recorded, mut turns, mut left_out, mut known) = (Vec::new(), Vec::new(), Vec::new(), Known::default());
    let mut reads = Reads::default();
    for (path, content) in contents {
        let at = |place: &str, what: String| format!("{}: {place}: {what}", path.display());
        match content {
            Content::Interactions(found) => {
                if found.is_empty() {
                    said.push(format!("{}: holds no interaction", path.display()));
                }
                for PlacedInteraction { place, interaction } in found {
                    match interaction.and_then(|interaction| interaction.recorded(options, &mut known, &mut fired)) {
                        Ok((turn, _)) if reads.repeat(&turn) => {}
                        Ok((turn, note)) => {
                            recorded.push(turn);
                            said.extend(note.map(|note| at(&place, note)));
                        }
                        Err(reason) => left_out.push(at(&place, reason)),
                    }
                }
            }
            Content::Turns(found) => {
                left_out.extend(found.left_out.into_iter().map(|(place, reason)| at(&place, reason)));
                said.extend(found.notes.into_iter().map(|note| format!("{}: {note}", path.display())));
                turns.extend(found.turns);
            }
        }
    }
    let mut fixture = assemble(out, notes, recorded, turns, options.rules);
    let fired = fired.iter().map(String::as_str);
    fixture.scrub = Scrub::of_names(fired, |_| None).map_err(|reason| vec![Error::new(reason)])?;
    Ok(Imported { fixture, left_out, notes: said })
}

/// A form has interactions or turns, never both.
fn assemble(
    out: &Path,
    notes: BTreeMap<String, Json>,
    recorded: Vec<Recorded>,
    turns: Vec<Turn>,
    rules: &Rules,
) -> Fixture {
    let mut fixture = Fixture::of_turns(out, notes, recorded, rules);
    if !turns.is_empty() {
        fixture.table = crate::fixture::Table::new(turns);
    }
    fixture
}

impl Foreign {
    /// The endings of its files.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Foreign::Vcr => &["yaml", "yml", "json"],
            Foreign::GoVcr => &["yaml", "yml"],
            Foreign::Har => &["har"],
            Foreign::Aimock => &["json"],
        }
    }

    fn not_of_it(self) -> &'static str {
        match self {
            Foreign::Vcr => "no cassette of VCR: expected a list under `interactions`",
            Foreign::GoVcr => "no cassette of go-vcr: expected a list under `interactions`",
            Foreign::Har => "no HTTP archive: expected a list under `log.entries`",
            Foreign::Aimock => "no fixture of aimock: expected a list under `fixtures`",
        }
    }

    /// What a file holds; `None` where it is of another form.
    fn read(self, path: &Path, options: &Options<'_>, fired: &mut Fired) -> Result<Option<Content>> {
        let bytes = crate::files::read(path)?;
        Ok(match self {
            Foreign::Vcr => vcr::interactions(&tree(&bytes)?).map(Content::Interactions),
            Foreign::GoVcr => go_vcr::interactions(&tree(&bytes)?).map(Content::Interactions),
            Foreign::Har => har::interactions(&json(&bytes)?).map(Content::Interactions),
            Foreign::Aimock => {
                let mut file = json(&bytes)?;
                options.scrub.json(&mut file, fired);
                aimock::turns(&file, options.rules).map(Content::Turns)
            }
        })
    }
}

fn json(bytes: &[u8]) -> Result<Json> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    Json::parse(bytes).map_err(|e| {
        Error::new(format!("not JSON: {}", e.message)).at(crate::error::Place { line: e.line, column: e.column })
    })
}

/// A file of YAML, or of JSON, which is kept in the same form.
fn tree(bytes: &[u8]) -> Result<Node> {
    if bytes.trim_ascii_start().starts_with(b"{")
        && let Ok(json) = json(bytes)
    {
        return Ok(Node::of_json(&json));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let before = String::from_utf8_lossy(&bytes[..e.valid_up_to()]);
        Error::new("not YAML: a byte that is not UTF-8").at(crate::error::Place::of(&before, before.len()))
    })?;
    Node::parse(text)
}
