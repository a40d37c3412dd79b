//! Goldens: the committed insta snapshots of scenarios. The only module that names insta.
//!
//! insta keeps the format: it reads the files, and `cargo insta review` shows and accepts what waits beside them. The assertions of
//! insta are not used, since they obey its variables, print, and truncate a file before they write it. A golden is written with a
//! header of its own, in one step: `input_file:` names the scenario, and no `source:` the file of an assertion, so that a golden is
//! the same whether the command or a test program writes it.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::policy::Policy;
use retake_base::error::{Error, Place, Result, conflict};
use retake_base::files;
use retake_core::events::{Golden, GoldenFormat};
use retake_core::json::{Json, Layout};
use retake_engine::system::minute;
use retake_scenario::ClockFrom;
use retake_wire::fixture::Minute;

/// How a text compares with the one that was committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The texts are the same.
    Same,
    /// There is no golden yet.
    New,
    /// A golden of an older format holds less, and that is the same.
    FormatOnly,
    /// The text differs from the golden, whose text this is.
    Differs(String),
}

impl Compared {
    /// What happened to a golden that was written, as a word.
    pub(super) fn change(&self) -> &'static str {
        match self {
            Compared::Same => "unchanged",
            Compared::New => "new",
            Compared::FormatOnly => "format only",
            Compared::Differs(_) => "changed",
        }
    }
}

/// The golden of a scenario, as it was committed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Committed {
    pub(crate) golden: Golden,
    pub(crate) format: GoldenFormat,
    /// When it was written, and by which clock. Its day is that of its values.
    pub(crate) written: (Option<Minute>, ClockFrom),
}

impl Committed {
    /// A golden that was made by this version.
    pub(crate) fn now(golden: Golden) -> Arc<Committed> {
        Arc::new(Committed { golden, format: GoldenFormat::THIS, written: Default::default() })
    }

    /// Whether the golden has an older format, and so holds less.
    pub(crate) fn is_older(&self) -> bool {
        self.format < GoldenFormat::THIS
    }
}

/// What the file of a golden holds.
struct Read {
    text: String,
    /// The number of lines above the text.
    above: usize,
    /// The scenario's file, as the header names it.
    input: Option<String>,
    format: GoldenFormat,
    written: (Option<Minute>, ClockFrom),
}

/// The folder of what goldens hold of one recording, and how its files end.
pub(super) const VALUES: (&str, &str) = ("fixtures", ".snap");
/// The words before the minute of a golden, in its header: that in which it was written, or by the clock of the recording.
const WRITTEN: [(&str, ClockFrom); 2] = [("written: ", ClockFrom::Now), ("recorded: ", ClockFrom::Recorded)];
/// The words before the number of the format in the field `description` of a header. The first formats had no such field.
const FORMAT_OF: &str = "retake golden ";

/// The goldens of a project.
#[derive(Clone, Debug)]
pub struct Goldens {
    folder: PathBuf,
    /// The folder of all goldens of the project.
    all: PathBuf,
    /// What this run may write.
    pub(crate) policy: Policy,
    /// The minute of the recording, if it is that of what is written.
    recorded: Option<Minute>,
}

impl Goldens {
    /// The goldens in a folder.
    pub fn new(folder: PathBuf, policy: Policy) -> Goldens {
        Goldens { all: folder.clone(), folder, policy, recorded: None }
    }

    /// Goldens by the clock of the recording, if it has this minute.
    pub(crate) fn by(&self, recorded: Option<Minute>) -> Goldens {
        Goldens { recorded, ..self.clone() }
    }

    /// The tables of worlds, which are goldens in a folder of their own.
    pub fn of_worlds(&self) -> Goldens {
        Goldens { folder: self.all.join("worlds"), ..self.clone() }
    }

    /// What goldens hold that is true of one recording. It lies beside the fixtures, so another recording changes no golden.
    fn values(&self) -> Goldens {
        Goldens { folder: self.all.with_file_name(VALUES.0), ..self.clone() }
    }

    /// The file of a golden.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.snap"))
    }

    /// The text of a golden, if it exists and can be read.
    pub fn text(&self, name: &str) -> Option<String> {
        self.committed(&self.file(name)).ok().flatten()
    }

    /// The golden of a scenario; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read, is not a golden, or was written by a newer version of Retake.
    pub(crate) fn golden(&self, name: &str) -> Result<Option<Arc<Committed>>> {
        self.golden_in(&self.file(name), &self.values().file(name))
    }

    fn golden_in(&self, file: &Path, values: &Path) -> Result<Option<Arc<Committed>>> {
        let Some(Read { text, above, format, written, .. }) = self.read(file)? else { return Ok(None) };
        if format > GoldenFormat::THIS {
            return Err(Error::new("it was written by a newer version of Retake").in_file(self.shown(file)));
        }
        let mut golden = Golden::parse(&text).map_err(|error| error.below(above).in_file(self.shown(file)))?;
        if let Some(Read { text, above, .. }) = self.read(values)? {
            let values = Golden::parse(&text).map_err(|error| error.below(above).in_file(self.shown(values)))?;
            golden.add_values(&values);
        }
        Ok(Some(Arc::new(Committed { golden, format, written })))
    }

    /// The golden with which a run is compared; `None` if goldens are to be written, or it cannot be read.
    pub(crate) fn compared(&self, name: &str) -> Option<Arc<Committed>> {
        if self.policy == Policy::Overwrite { None } else { self.golden(name).ok().flatten() }
    }

    /// Whether a newer version of Retake wrote a golden.
    pub(crate) fn is_newer(&self, name: &str) -> bool {
        self.read(&self.file(name)).ok().flatten().is_some_and(|golden| golden.format > GoldenFormat::THIS)
    }

    /// The golden as it would be with what waits for a decision; `None` if there is none, and none waits.
    ///
    /// # Errors
    /// If it cannot be read, or is not a golden.
    pub(crate) fn proposed_golden(&self, name: &str) -> Result<Option<Arc<Committed>>> {
        let [file, values] = [self.clone(), self.values()].map(|goldens| {
            Some(goldens.pending(name)).filter(|file| file.is_file()).unwrap_or_else(|| goldens.file(name))
        });
        self.golden_in(&file, &values)
    }

    /// Compares a golden with the committed one, and writes what the policy allows, as [`Goldens::compare`] does with texts.
    ///
    /// # Errors
    /// If a file exists but cannot be read, or cannot be written.
    pub(crate) fn compare_golden(&self, name: &str, golden: &Golden, input: &Path, held: bool) -> Result<Compared> {
        let (golden, values) = golden.apart();
        let compared = self.compare(name, &golden.to_string(), input, held)?;
        let of_values = match values {
            Some(values) => self.values().compare(name, &values.to_string(), input, held)?,
            None if self.policy == Policy::Overwrite => {
                files::remove(&self.values().file(name)).map(|()| Compared::Same)?
            }
            None => Compared::Same,
        };
        Ok(if compared == Compared::Same && matches!(of_values, Compared::Differs(_)) { of_values } else { compared })
    }

    /// Writes a golden next to the committed one, for a decision, as far as the two differ. Returns whether they differ.
    pub(crate) fn propose_golden(&self, name: &str, golden: &Golden, input: &Path) -> bool {
        let (golden, values) = golden.apart();
        let texts = [(self.clone(), Some(golden)), (self.values(), values)];
        let texts = texts.into_iter().filter_map(|(goldens, golden)| Some((goldens, golden?.to_string())));
        texts.fold(false, |differs, (goldens, text)| {
            let is_same = goldens.text(name) == Some(normal(&text));
            (!is_same && goldens.propose(name, &text, input)) || differs
        })
    }

    /// The text of a golden with what is true of its recording, as it is committed; `None` if it cannot be read.
    pub(crate) fn whole_text(&self, name: &str) -> Option<String> {
        let has_values = self.values().file(name).is_file();
        if has_values { Some(self.golden(name).ok().flatten()?.golden.to_string()) } else { self.text(name) }
    }

    /// Compares a text with its golden, and writes what the policy allows. `input` is the scenario's file, which the golden
    /// names in its header. `held` says of a golden of an older format, or of another day, whether what it holds is the same.
    ///
    /// # Errors
    /// If the golden exists but cannot be read, or cannot be written.
    pub fn compare(&self, name: &str, text: &str, input: &Path, held: bool) -> Result<Compared> {
        let file = self.file(name);
        let golden = match self.read(&file) {
            // A file that is not a golden is overwritten.
            Err(_) if self.policy == Policy::Overwrite && file.is_file() => None,
            golden => golden?,
        };
        if golden.is_some() {
            note_reference(&file);
        }
        let of_another = golden.as_ref().and_then(|golden| golden.of_another(&file, input));
        if let Some(other) = of_another.as_ref().filter(|_| self.policy != Policy::Overwrite) {
            let shown = self.shown(&file);
            let what = format!("`input_file` says that it is the golden of {other}, expected {}", named(input));
            let error = Error::new(what).in_file(shown).at(Place { line: 2, column: 1 });
            return Err(error.help(format!("to get the one back that was committed: git checkout {}", shown.display())));
        }
        let is_outdated = golden.as_ref().is_some_and(|golden| golden.format != GoldenFormat::THIS);
        let clock = if self.recorded.is_some() { ClockFrom::Recorded } else { ClockFrom::Now };
        let by_another = self.keep_days() && golden.as_ref().is_some_and(|golden| golden.written.1 != clock);
        // A header of an older version is rewritten. Otherwise the minute stays, since the day of what the golden holds does.
        let is_whole = golden.as_ref().is_some_and(|it| !is_outdated && (it.written.0.is_some() || !self.keep_days()));
        let compared = match golden {
            None => Compared::New,
            Some(_) if is_outdated && held => Compared::FormatOnly,
            Some(golden) if by_another && (held || golden.text == normal(text)) => Compared::FormatOnly,
            Some(golden) if held || golden.text == normal(text) => Compared::Same,
            Some(golden) => Compared::Differs(golden.text),
        };
        let is_same = match compared {
            Compared::Same => self.policy != Policy::Overwrite || is_whole && of_another.is_none(),
            Compared::FormatOnly => self.policy != Policy::Overwrite,
            _ => false,
        };
        if self.policy == Policy::Overwrite && !is_same {
            files::write_whole(&file, self.printed(text, input).as_bytes()).map_err(|error| {
                // Show the path relative to the project's folder.
                let error = Error::new(error.what()).in_file(self.shown(&file));
                error.help("is there permission to write it, and room on the disk?")
            })?;
        }
        if self.policy == Policy::Overwrite || (self.policy == Policy::Propose && is_same) {
            // Remove what an earlier run proposed.
            files::remove(&self.pending(name))?;
        } else if self.policy == Policy::Propose {
            self.write_proposal(name, text, input);
        }
        Ok(compared)
    }

    /// Writes a text next to its golden, for a decision, if the two differ. Returns whether they differ. If the proposal cannot
    /// be written, that is not an error.
    pub fn propose(&self, name: &str, text: &str, input: &Path) -> bool {
        if self.policy != Policy::Overwrite && self.text(name).is_some_and(|committed| committed == normal(text)) {
            return false;
        }
        if self.policy != Policy::Verify {
            self.write_proposal(name, text, input);
        }
        true
    }

    fn write_proposal(&self, name: &str, text: &str, input: &Path) {
        let _ = files::write_whole(&self.pending(name), self.printed(text, input).as_bytes());
    }

    /// The file of a golden with this text.
    fn printed(&self, text: &str, input: &Path) -> String {
        let input = self.shown(input).iter().map(|name| name.to_string_lossy()).collect::<Vec<_>>().join("/");
        // YAML reads a text in JSON's quotes as it is.
        let quoted = input.contains(|c: char| c.is_control() || ":{}[],#`\"'\\".contains(c));
        let input = if quoted { Json::Str(input).print(Layout::Compact) } else { input };
        let [(now, _), (then, _)] = WRITTEN;
        let written = self.recorded.map_or_else(|| format!("{now}{}", minute()), |at| format!("{then}{at}"));
        let written = if self.keep_days() { format!("info:\n  {written}\n") } else { String::new() };
        let format = GoldenFormat::THIS.0;
        format!("---\ndescription: {FORMAT_OF}{format}\n{written}input_file: {input}\n---\n{}\n", normal(text))
    }

    /// Whether these goldens say when they were written. Tables of worlds have no day.
    fn keep_days(&self) -> bool {
        self.folder == self.all
    }

    /// The text of the new golden that waits for a decision; `None` if none waits.
    ///
    /// # Errors
    /// If it cannot be read, or is not a golden.
    pub fn proposed(&self, name: &str) -> Result<Option<String>> {
        self.committed(&self.pending(name))
    }

    /// A file relative to the project's folder, as errors show it.
    pub fn shown<'a>(&self, file: &'a Path) -> &'a Path {
        self.all.parent().and_then(|root| file.strip_prefix(root).ok()).unwrap_or(file)
    }

    /// The file next to a golden, with a text that differs from it.
    fn pending(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.snap.new"))
    }

    /// The text of a golden's file; `None` if the file does not exist.
    ///
    /// # Errors
    /// If it cannot be read, or is not a golden.
    pub fn committed(&self, file: &Path) -> Result<Option<String>> {
        Ok(self.read(file)?.map(|golden| golden.text))
    }

    fn read(&self, file: &Path) -> Result<Option<Read>> {
        if file.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
            return Ok(None);
        }
        let shown = self.shown(file);
        files::inside(self.all.parent().unwrap_or(&self.all), shown)?;
        // Check the file first, to report errors ourselves: insta takes a file without a header for an old format, prints a
        // message and continues.
        let bytes = files::read_as(shown, file)?;
        check(&bytes).map_err(|error| error.in_file(shown))?;
        let snapshot = insta::Snapshot::from_file(file).map_err(|_| {
            let expected = "expected the field `input_file` between two lines `---`";
            Error::new(format!("its header is not that of a snapshot: {expected}")).in_file(shown)
        })?;
        let text = snapshot.as_text().ok_or_else(|| Error::new("a binary snapshot, expected text").in_file(shown))?;
        let header = snapshot.metadata();
        let format = header.description().and_then(|said| said.trim().strip_prefix(FORMAT_OF)?.parse().ok());
        let text = text.to_string();
        let whole = String::from_utf8_lossy(&bytes).into_owned();
        let above = text.lines().next().and_then(|first| whole.lines().skip(1).position(|line| line == first));
        // The lines of the header.
        let mut lines = whole.lines().skip(1).take_while(|line| line.trim_end() != "---");
        let minute = |line: &str, (name, clock): (&str, _)| {
            Some((Some(line.trim().strip_prefix(name)?.trim_matches('"').parse().ok()?), clock))
        };
        Ok(Some(Read {
            above: above.map_or(0, |above| above + 1),
            text,
            written: lines.find_map(|line| WRITTEN.into_iter().find_map(|of| minute(line, of))).unwrap_or_default(),
            input: header.input_file().map(str::to_owned),
            // The first versions named the file of an assertion.
            format: GoldenFormat(format.unwrap_or_else(|| u32::from(header.source().is_none()))),
        }))
    }
}

impl Read {
    /// The scenario that the header names, if it is not the one that has this golden: the golden was copied. A link to another
    /// golden says openly that both scenarios share it.
    fn of_another(&self, file: &Path, input: &Path) -> Option<String> {
        // Only the scenario's own name counts: the project may be in another folder than when the golden was written.
        let said = named(Path::new(self.input.as_deref()?));
        (said != named(input) && !file.is_symlink()).then_some(said)
    }
}

/// The end of a scenario's path, which names it: `hello/scenario.toml`.
fn named(scenario: &Path) -> String {
    let names: Vec<_> = scenario.iter().map(|name| name.to_string_lossy()).collect();
    names[names.len().saturating_sub(2)..].join("/")
}

/// A text as insta stores and compares it.
fn normal(text: &str) -> String {
    text.trim_end().replace("\r\n", "\n")
}

/// Notes that a golden is in use, if `cargo insta test --unreferenced` collects these.
fn note_reference(golden: &Path) {
    let Some(list) = std::env::var_os("INSTA_SNAPSHOT_REFERENCES_FILE") else { return };
    let list = File::options().append(true).create(true).open(list);
    let _ = list.and_then(|mut list| writeln!(list, "{}", golden.display()));
}

/// Refuses a file that insta would misread.
fn check(bytes: &[u8]) -> Result<()> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        let byte = rest.first().copied().unwrap_or_default();
        let place = Place::of(&String::from_utf8_lossy(valid), valid.len());
        Error::new(format!("the byte 0x{byte:02x} is not UTF-8")).at(place)
    })?;
    conflict(text).map_or(Ok(()), Err)?;
    let expected = "expected `---` as the first line of a golden";
    let found = match text.lines().next().map(str::trim_end) {
        Some("---") => return Ok(()),
        None => return Err(Error::new(format!("the file is empty, {expected}"))),
        Some(_) if text.starts_with('\u{feff}') => "a byte-order mark before it".to_owned(),
        Some(line) => format!("`{}`", line.chars().take(60).collect::<String>()),
    };
    Err(Error::new(format!("{expected}, found {found}")).at(Place { line: 1, column: 1 }))
}
