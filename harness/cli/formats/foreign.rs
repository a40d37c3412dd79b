//! Makes one fixture from files and folders of another tool's format.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use axum::http::HeaderMap;

use super::interaction::{PlacedInteraction, hosts_of_calls};
use super::yaml::Node;
use super::{aimock, body, files, har, vcr};
use retake_base::error::{Error, Result};
use retake_core::json::Json;
use retake_core::key::Rules;
use retake_core::secrets::{Fired, Scrub};
use retake_wire::fixture::{Fixture, Recorded, ToolExchanges};
use retake_wire::{Call, Known};

/// The format of another tool's recordings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Foreign {
    /// The cassettes of VCR.py, Ruby's VCR and go-vcr.
    Vcr,
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
    /// One error for each file that cannot be read or has another format.
    pub(crate) unread: Vec<Error>,
}

/// The content of one file.
#[derive(Default)]
pub(super) struct Content {
    pub(super) interactions: Vec<PlacedInteraction>,
    /// Turns without requests. Their conversations follow from what the tool matches on.
    pub(super) turns: Vec<Recorded>,
    /// The places of what did not become a turn, and the reasons.
    pub(super) left_out: Vec<(String, String)>,
    pub(super) notes: Vec<String>,
}

/// Makes a fixture from files and folders, in the order in which they are named. The files of a folder are read in name order.
/// Fails if none of them can be read, with an error for each.
pub(crate) fn to_fixture(
    form: Foreign,
    inputs: &[PathBuf],
    out: &Path,
    notes: BTreeMap<String, Json>,
    options: &Options<'_>,
) -> Result<Imported, Vec<Error>> {
    let mut fired = Fired::new();
    let (endings, what, list) = form.looks();
    let mismatch = || format!("not {what}: expected a list under `{list}`");
    let read = |path: &Path| Ok(form.read(path, options, &mut fired)?.ok_or_else(mismatch));
    let (contents, mut remarks, errors) = files::each(inputs, endings, read).map_err(|error| vec![error])?;
    if contents.is_empty() && !errors.is_empty() {
        return Err(errors);
    }
    let hosts = hosts_of_calls(contents.iter().flat_map(|(_, content)| &content.interactions));
    let (mut recorded, mut left_out, mut known) = (Vec::new(), Vec::new(), Known::default());
    for (path, content) in contents {
        let at = |place: &str, what: String| format!("{}: {place}: {what}", path.display());
        // Interactions that are not even one of HTTP, each kind in one line.
        let mut unreadable: HashMap<&str, usize> = HashMap::new();
        for reason in content.interactions.iter().filter_map(|placed| placed.interaction.as_ref().err()) {
            *unreadable.entry(reason).or_default() += 1;
        }
        for PlacedInteraction { place, interaction } in &content.interactions {
            let found = match interaction {
                Ok(interaction) => interaction.recorded(options, &hosts, &mut known, &mut fired),
                Err(reason) => {
                    left_out.extend(unreadable.remove(&**reason).map(|count| match count {
                        1 => at(place, reason.clone()),
                        _ => at(&format!("{place} and {} more", count - 1), reason.clone()),
                    }));
                    continue;
                }
            };
            match found {
                Ok((turn, note)) => {
                    recorded.push(turn);
                    remarks.extend(note.map(|note| at(place, note)));
                }
                Err(reason) => left_out.push(at(place, reason)),
            }
        }
        left_out.extend(content.left_out.into_iter().map(|(place, reason)| at(&place, reason)));
        remarks.extend(content.notes.into_iter().map(|note| format!("{}: {note}", path.display())));
        recorded.extend(content.turns);
    }
    let mut kept = Recorded::kept(&recorded).into_iter();
    recorded.retain(|_| kept.next().unwrap_or(true));
    let mut fixture = Fixture::of_foreign(out, notes, recorded, &ToolExchanges::new(), options.rules);
    let fired = fired.iter().map(String::as_str);
    fixture.scrub = Scrub::of_names(fired, |_| None).map_err(|reason| vec![Error::new(reason)])?;
    Ok(Imported { fixture, left_out, notes: remarks, unread: errors })
}

impl Foreign {
    /// The endings of file names in this format, what a file of it is, and where such a file has its list.
    fn looks(self) -> (&'static [&'static str], &'static str, &'static str) {
        match self {
            Foreign::Vcr => (&["yaml", "yml", "json"], "a VCR cassette", "interactions"),
            Foreign::Har => (&["har"], "an HTTP archive", "log.entries"),
            Foreign::Aimock => (&["json"], "an aimock fixture", "fixtures"),
        }
    }

    /// Reads the content of a file; `None` if the file has another format.
    fn read(self, path: &Path, options: &Options<'_>, fired: &mut Fired) -> Result<Option<Content>> {
        let bytes = bytes(path)?;
        let interactions = match self {
            Foreign::Vcr => vcr::interactions(&*tree(&bytes)?),
            Foreign::Har => har::interactions(&json(&bytes)?),
            Foreign::Aimock => {
                let mut file = json(&bytes)?;
                options.scrub.json(&mut file, fired);
                return Ok(aimock::turns(&file, options.rules));
            }
        };
        let note = |found: &Vec<_>| found.is_empty().then(|| "contains no interactions".to_owned());
        Ok(interactions.map(|found| Content {
            notes: note(&found).into_iter().collect(),
            interactions: found,
            ..Content::default()
        }))
    }
}

/// Reads a file, which may be packed.
pub(super) fn bytes(path: &Path) -> Result<Vec<u8>> {
    body::unpacked(retake_base::files::read(path)?, "").map_err(Error::new)
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
