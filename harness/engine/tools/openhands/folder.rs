//! Finds the folder of a conversation, and reads its files.

use std::path::{Path, PathBuf};

use super::conversation::Named;
use retake_base::error::{Error, Place, Result};
use retake_base::files;
use retake_core::json::Json;

const EVENTS: &str = "events";
/// The maximum depth of a conversation below the folder that a person named.
const DEEPEST: usize = 8;

/// Returns the folder of the conversation with an id, which is `<base>/<uuid hex>` or a folder anywhere below `base`. Without an
/// id, returns the only conversation that there is.
///
/// # Errors
/// If there is no such conversation, or several could be meant. The error lists the conversations.
pub fn find(base: &Path, id: Option<&str>) -> Result<PathBuf> {
    if !base.is_dir() {
        let what = if base.exists() { "it is not a folder" } else { "no such folder" };
        return Err(Error::new(format!("{what}, expected a folder with a conversation")).in_file(base));
    }
    if let Some(id) = id {
        let hex = hex(id);
        if base.join(&hex).join(EVENTS).is_dir() {
            return Ok(base.join(hex));
        }
    } else if base.join(EVENTS).is_dir() {
        return Ok(base.to_owned());
    }
    let mut found = Vec::new();
    search(base, DEEPEST, &mut found)?;
    let listed = |error: Error| found.iter().take(20).fold(error, |error, path| error.help(shown(base, path)));
    let Some(id) = id else {
        return match &found[..] {
            [] => {
                let what = format!("there is no conversation: no folder below contains `{EVENTS}/`");
                Err(Error::new(what).in_file(base))
            }
            [only] => Ok(only.clone()),
            several => {
                let what = format!("there are {} conversations, expected one", several.len());
                Err(listed(Error::new(what).in_file(base).help("name one of them with --conversation ID:")))
            }
        };
    };
    let is_it = |path: &&PathBuf| path.file_name().is_some_and(|name| hex(&name.to_string_lossy()) == hex(id));
    match &found.iter().filter(is_it).collect::<Vec<_>>()[..] {
        [only] => Ok((*only).clone()),
        [] if found.is_empty() => {
            Err(Error::new(format!("there is no conversation `{id}`: the folder holds none")).in_file(base))
        }
        [] => Err(listed(Error::new(format!("there is no conversation `{id}`")).in_file(base).help("the others are:"))),
        _ => Err(listed(Error::new(format!("the conversation `{id}` is in several folders")).in_file(base))),
    }
}

/// Reads the files of a conversation: its events in the order of their numbers; the id of the last event on the active branch, `None` if
/// that is the last of all events; and warnings.
/// An error names the file and the reason: it does not parse, a number is missing or exists twice, or there are no events.
pub(super) fn read(folder: &Path) -> Result<(Vec<Named>, Option<String>, Vec<String>)> {
    let events = folder.join(EVENTS);
    let entries = std::fs::read_dir(&events).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let entries = entries.map_err(|e| files::failed("read", &events, &e))?;
    let (mut numbered, mut warnings) = (Vec::new(), Vec::new());
    for entry in entries {
        let name = entry.file_name().to_string_lossy().into_owned();
        match number(&name) {
            Some(number) => numbered.push((number, name)),
            // Locks and markers.
            None if name.starts_with('.') => {}
            None => warnings.push(format!("{EVENTS}/{name}: ignored, its name is not event-NNNNN-<id>.json")),
        }
    }
    numbered.sort();
    warnings.sort();
    if numbered.is_empty() {
        return Err(Error::new("the conversation is empty: there is no event-NNNNN-<id>.json").in_file(&events));
    }
    let mut named = Vec::with_capacity(numbered.len());
    for (expected, (number, name)) in numbered.into_iter().enumerate() {
        let path = events.join(&name);
        if number < expected {
            return Err(Error::new(format!("there are two events with the number {number}")).in_file(&path));
        }
        if number > expected {
            let what =
                format!("the event with the number {expected} is missing before it, so the conversation has a gap");
            return Err(Error::new(what).in_file(&path));
        }
        named.push(Named { json: json(&path)?, name: format!("{EVENTS}/{name}") });
    }
    let state = folder.join("base_state.json");
    let leaf = if state.exists() { json(&state)?.str_of("leaf_event_id").map(str::to_owned) } else { None };
    Ok((named, leaf, warnings))
}

fn json(path: &Path) -> Result<Json> {
    let parsed = Json::parse(&files::read(path)?);
    parsed.map_err(|e| {
        let place = Place { line: e.line, column: e.column };
        Error::new(format!("not JSON: {}", e.message)).at(place).in_file(path)
    })
}

/// Returns the number in the name of an event's file, which has five or more digits.
fn number(name: &str) -> Option<usize> {
    let (number, id) = name.strip_prefix("event-")?.strip_suffix(".json")?.split_once('-')?;
    (number.len() >= 5 && !id.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then(|| number.parse().ok())?
}

/// Collects all conversations below a folder, in name order. A conversation inside of another one counts separately.
fn search(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).and_then(Iterator::collect::<std::io::Result<Vec<_>>>);
    let mut entries = entries.map_err(|e| files::failed("read", folder, &e))?;
    entries.sort_by_key(std::fs::DirEntry::file_name);
    // Links to folders are not followed, since they may form a cycle.
    for entry in entries.iter().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        let path = entry.path();
        if path.join(EVENTS).is_dir() {
            found.push(path.clone());
        }
        if depth > 0 && entry.file_name() != EVENTS {
            search(&path, depth - 1, found)?;
        }
    }
    Ok(())
}

/// Returns an id as folders are named: the digits of the conversation's UUID. A person may give the UUID with dashes.
fn hex(id: &str) -> String {
    uuid::Uuid::parse_str(id).map_or_else(|_| id.to_owned(), |uuid| uuid.simple().to_string())
}

fn shown(base: &Path, path: &Path) -> String {
    path.strip_prefix(base).unwrap_or(path).display().to_string()
}
