//! Makes one fixture from files and folders of another tool's format.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use axum::http::HeaderMap;

use super::interaction::PlacedInteraction;
use super::yaml::Node;
use super::{aimock, files, go_vcr, har, vcr};
use retake_base::error::{Error, Result};
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_core::secrets::{Fired, Scrub};
use retake_wire::fixture::{Fixture, Reads};
use retake_wire::{Call, Known};

/// The format of another tool's recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// The cassettes of VCR.py and Ruby's VCR.
    Vcr,
    GoVcr,
    /// The HTTP archives of browsers and proxies.
    Har,
    /// The fixtures of CopilotKit's aimock, formerly llmock.
    Aimock,
}

/// The turns of recordings, and what did not become a turn.
#[derive(Debug)]
pub(crate) struct Imported {
    pub(crate) fixture: Fixture,
    /// One line for each interaction that did not become a turn: file, interaction, reason.
    pub(crate) left_out: Vec<String>,
    /// What a person should know about the import.
    pub(crate) notes: Vec<String>,
}

/// The content of one file.
enum Content {
    Interactions(Vec<PlacedInteraction>),
    /// Turns without requests. Their conversations follow from what the tool matches on.
    Turns(aimock::Read),
}

/// Interactions of one file that cannot be read for the same reason.
struct Unreadable {
    /// The index of the line about them.
    line: usize,
    place: String,
    reason: String,
    more: usize,
}

/// Makes a fixture from files and folders, in the order in which they are named. The files of a folder are read in name order.
/// One error for every file that cannot be read or has another format.
pub(crate) fn to_fixture(
    form: Foreign,
    inputs: &[PathBuf],
    out: &Path,
    notes: BTreeMap<String, Json>,
    options: &Options<'_>,
) -> Result<Imported, Vec<Error>> {
    let (found, mut remarks) = files::find(inputs, form.endings()).map_err(|error| vec![error])?;
    let (mut contents, mut errors, mut fired) = (Vec::new(), Vec::new(), Fired::new());
    for file in found {
        match form.read(&file.path, options, &mut fired) {
            Ok(Some(content)) => contents.push((file.path, content)),
            Ok(None) if file.named => errors.push(Error::new(form.mismatch()).in_file(&file.path)),
            Ok(None) => remarks.push(format!("{}: skipped: {}", file.path.display(), form.mismatch())),
            Err(error) => errors.push(error.in_file(&file.path)),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let (mut recorded, mut left_out, mut known) = (Vec::new(), Vec::new(), Known::default());
    let mut reads = Reads::default();
    for (path, content) in contents {
        let at = |place: &str, what: String| format!("{}: {place}: {what}", path.display());
        match content {
            Content::Interactions(found) => {
                if found.is_empty() {
                    remarks.push(format!("{}: contains no interactions", path.display()));
                }
                // Interactions that are not even one of HTTP, each kind in one line.
                let mut unreadable: Vec<Unreadable> = Vec::new();
                for PlacedInteraction { place, interaction } in found {
                    let interaction = match interaction {
                        Ok(interaction) => interaction,
                        Err(reason) => {
                            if let Some(known) = unreadable.iter_mut().find(|known| known.reason == reason) {
                                known.more += 1;
                                continue;
                            }
                            unreadable.push(Unreadable { line: left_out.len(), place, reason, more: 0 });
                            left_out.push(String::new());
                            continue;
                        }
                    };
                    match interaction.recorded(options, &mut known, &mut fired) {
                        Ok((turn, _)) if reads.repeat(&turn) => {}
                        Ok((turn, note)) => {
                            recorded.push(turn);
                            remarks.extend(note.map(|note| at(&place, note)));
                        }
                        Err(reason) => left_out.push(at(&place, reason)),
                    }
                }
                for Unreadable { line, place, reason, more } in unreadable {
                    let place = if more == 0 { place } else { format!("{place} and {more} more") };
                    left_out[line] = at(&place, reason);
                }
            }
            Content::Turns(found) => {
                left_out.extend(found.left_out.into_iter().map(|(place, reason)| at(&place, reason)));
                remarks.extend(found.notes.into_iter().map(|note| format!("{}: {note}", path.display())));
                recorded.extend(found.turns);
            }
        }
    }
    let mut fixture = Fixture::of_turns(out, notes, recorded, options.rules);
    let fired = fired.iter().map(String::as_str);
    fixture.scrub = Scrub::of_names(fired, |_| None).map_err(|reason| vec![Error::new(reason)])?;
    Ok(Imported { fixture, left_out, notes: remarks })
}

impl Foreign {
    /// The endings of file names in this format.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Foreign::Vcr => &["yaml", "yml", "json"],
            Foreign::GoVcr => &["yaml", "yml"],
            Foreign::Har => &["har"],
            Foreign::Aimock => &["json"],
        }
    }

    /// The message about a file of another format.
    fn mismatch(self) -> &'static str {
        match self {
            Foreign::Vcr => "not a VCR cassette: expected a list under `interactions`",
            Foreign::GoVcr => "not a go-vcr cassette: expected a list under `interactions`",
            Foreign::Har => "not an HTTP archive: expected a list under `log.entries`",
            Foreign::Aimock => "not an aimock fixture: expected a list under `fixtures`",
        }
    }

    /// Reads the content of a file; `None` if the file has another format.
    fn read(self, path: &Path, options: &Options<'_>, fired: &mut Fired) -> Result<Option<Content>> {
        let bytes = retake_base::files::read(path)?;
        Ok(match self {
            Foreign::Vcr => vcr::interactions(&*tree(&bytes)?).map(Content::Interactions),
            Foreign::GoVcr => go_vcr::interactions(&*tree(&bytes)?).map(Content::Interactions),
            Foreign::Har => har::interactions(&json(&bytes)?).map(Content::Interactions),
            Foreign::Aimock => {
                let mut file = json(&bytes)?;
                options.scrub.json(&mut file, fired);
                aimock::turns(&file, options.rules).map(Content::Turns)
            }
        })
    }
}

pub(super) fn json(bytes: &[u8]) -> Result<Json> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    Json::parse(bytes).map_err(|e| {
        Error::new(format!("not JSON: {}", e.message)).at(retake_base::error::Place { line: e.line, column: e.column })
    })
}

/// Parses a file of YAML or JSON.
pub(super) fn tree(bytes: &[u8]) -> Result<Rc<Node>> {
    if bytes.trim_ascii_start().starts_with(b"{")
        && let Ok(json) = json(bytes)
    {
        return Ok(Node::of_json(&json));
    }
    let text = std::str::from_utf8(bytes).map_err(|e| {
        let before = String::from_utf8_lossy(&bytes[..e.valid_up_to()]);
        Error::new("not YAML: a byte that is not UTF-8").at(retake_base::error::Place::of(&before, before.len()))
    })?;
    Node::parse(text)
}

/// The options of an import.
pub(crate) struct Options<'a> {
    /// The rules for computing keys.
    pub(crate) rules: &'a Rules,
    pub(crate) caller: &'a dyn Fn(&HeaderMap, &Call) -> Option<String>,
    /// Whether failed answers become turns.
    pub(crate) errors: bool,
    /// The secrets to remove from the recordings.
    pub(crate) scrub: &'a Scrub,
}
