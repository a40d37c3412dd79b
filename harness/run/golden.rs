//! Goldens: the committed insta snapshots of scenarios. The only module that names insta.
//!
//! insta reads its environment once, and prints to standard output, which belongs to the test runner. So insta is kept silent,
//! and only the result of its comparison is used. Nor does insta write into the project: it works on a copy of the golden in a
//! temporary folder, and its result is then written to the project in one step. Its header's `source:`, the file of the
//! assertion, is dropped, so that a golden is the same whether the command or a test program writes it. `input_file:` names the
//! scenario instead.

use std::cell::{Cell, RefCell};
use std::ffi::OsString;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::policy::Policy;
use retake_base::error::{Error, Place, Result, conflict};
use retake_base::files;

/// The assertion of one golden by its name and text, expanded in the user's file.
pub type Assert = fn(name: &str, text: &str);

/// Expands to the assertion of a golden, an [`Assert`].
#[doc(hidden)]
#[macro_export]
macro_rules! assert_golden {
    () => {
        |name: &str, text: &str| $crate::__private::insta::assert_snapshot!(name, text)
    };
}

/// The environment variables that insta needs from the start of the process.
pub fn environment(policy: Policy, root: &Path) -> [(&'static str, OsString); 8] {
    let update = match policy {
        Policy::Verify => "no",
        Policy::Propose => "new",
        Policy::Overwrite => "always",
    };
    [
        ("INSTA_UPDATE", update.into()),
        ("INSTA_OUTPUT", "none".into()),
        // Override the user's own settings of insta, which would change the result.
        ("INSTA_FORCE_PASS", "0".into()),
        ("INSTA_FORCE_UPDATE", "0".into()),
        ("INSTA_FORCE_UPDATE_SNAPSHOTS", "0".into()),
        ("INSTA_REQUIRE_FULL_MATCH", "0".into()),
        ("INSTA_PENDING_DIR", "".into()),
        // Also saves insta a call of `cargo metadata`.
        ("INSTA_WORKSPACE_ROOT", root.into()),
    ]
}

/// How a scenario's text compares with its golden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The text equals the golden.
    Same,
    /// There is no golden yet.
    New,
    /// The text differs from the golden, whose text this is.
    Differs(String),
}

impl Compared {
    /// What happened to a golden that was written, as a word.
    pub(super) fn change(&self) -> &'static str {
        match self {
            Compared::Same => "unchanged",
            Compared::New => "new",
            Compared::Differs(_) => "changed",
        }
    }
}

/// The version of Retake that wrote a golden, as its format tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrittenBy {
    /// One with the format of this version.
    This,
    /// One with an older format.
    Older,
    /// One with a newer format.
    Newer,
}

/// The words before the number of the format in the field `description` of a header. The first format had no such field.
const FORMAT_OF: &str = "retake golden ";
/// The number of this version's format.
const FORMAT: u32 = 2;

/// The result of insta's comparison in a folder with a copy of the golden.
struct Written {
    /// Whether the two are equal, or insta was told to write the golden and did.
    equal: bool,
    /// The bytes of the golden's copy, if they now contain the text.
    golden: Option<Vec<u8>>,
    /// The bytes of the `.snap.new` file for review, if insta wrote one.
    proposed: Option<Vec<u8>>,
}

/// The goldens of a project.
#[derive(Clone, Debug)]
pub struct Goldens {
    folder: PathBuf,
    /// The folder of all goldens of the project.
    all: PathBuf,
    policy: Policy,
    assert: Assert,
}

/// A golden as its file has it.
#[derive(Clone, Debug)]
struct Read {
    text: String,
    /// The number of the format in its header.
    format: u32,
    /// The end of the scenario's path in its header.
    of: Option<String>,
}

/// When a file was written, and how long it is.
type Stamp = (SystemTime, u64);

/// Two changes of a file within this time may leave the same stamp.
const SURE: Duration = Duration::from_secs(2);

thread_local! {
    static SILENT: Cell<bool> = const { Cell::new(false) };
    /// The golden that this thread read last. A trial needs its own several times.
    static LAST: RefCell<Option<(PathBuf, Stamp, Read)>> = const { RefCell::new(None) };
}

/// Keeps the panic of a failed comparison off standard error: the failure reports it with a diff.
pub fn silence_comparisons() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !SILENT.get() {
            report(panic);
        }
    }));
}

impl Goldens {
    /// The goldens in a folder.
    pub fn new(folder: PathBuf, policy: Policy, assert: Assert) -> Goldens {
        Goldens { all: folder.clone(), folder, policy, assert }
    }

    /// The tables of worlds, which are goldens in a folder of their own.
    #[must_use]
    pub fn of_worlds(&self) -> Goldens {
        Goldens { folder: self.all.join("worlds"), ..self.clone() }
    }

    /// The file of a golden.
    pub fn file(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.snap"))
    }

    /// The names of all existing goldens, sorted.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn names(&self) -> Result<Vec<String>> {
        files::names(&self.folder, ".snap")
    }

    /// What this run may write.
    pub fn policy(&self) -> Policy {
        self.policy
    }

    /// The text of a golden, if it exists and can be read.
    pub fn text(&self, name: &str) -> Option<String> {
        self.committed(&self.file(name)).ok().flatten()
    }

    /// The text of a golden with which a run is compared; `None` if goldens are to be written.
    pub(crate) fn compared(&self, name: &str) -> Option<String> {
        self.text(name).filter(|_| self.policy != Policy::Overwrite)
    }

    /// Which version of Retake wrote a golden. One that does not exist or cannot be read counts as this version's.
    pub(crate) fn written_by(&self, name: &str) -> WrittenBy {
        match self.read(&self.file(name)) {
            Ok(Some(Read { format: ..FORMAT, .. })) => WrittenBy::Older,
            Ok(Some(Read { format, .. })) if format > FORMAT => WrittenBy::Newer,
            _ => WrittenBy::This,
        }
    }

    /// Compares a text with its golden, and writes what the policy allows. `input` is the scenario's file, which the golden
    /// names in its header.
    ///
    /// # Errors
    /// If the golden exists but cannot be read, or cannot be written.
    pub fn compare(&self, name: &str, text: &str, input: &Path) -> Result<Compared> {
        let file = self.file(name);
        let committed = match self.committed(&file) {
            // A file that is not a golden is overwritten.
            Err(_) if self.policy == Policy::Overwrite && file.is_file() => None,
            committed => committed?,
        };
        if let Some(committed) = committed.as_deref().filter(|_| wants_references()) {
            // Compare the golden with itself: insta notes the reference and writes nothing.
            self.assert(&self.folder, name, committed, input);
        }
        // Compare without insta if possible: it scans the folder at each assertion, which is slow with a thousand goldens.
        let is_same = committed.as_deref() == Some(text.trim_end());
        let of_another = self.of_another(&file, input);
        if let Some(other) = of_another.as_ref().filter(|_| self.policy != Policy::Overwrite) {
            let shown = self.shown(&file);
            let what = format!("`input_file` says that it is the golden of {other}, expected {}", named(input));
            let error = Error::new(what).in_file(shown).at(Place { line: 2, column: 1 });
            return Err(error.help(format!("to get the one back that was committed: git checkout {}", shown.display())));
        }
        // A header of an older version is rewritten.
        let outdated = || of_another.is_some() || has_source(&file) || self.written_by(name) != WrittenBy::This;
        let is_same = is_same && !(self.policy == Policy::Overwrite && outdated());
        let compared = match self.policy {
            _ if is_same => Compared::Same,
            // insta writes nothing with this policy.
            Policy::Verify if self.assert(&self.folder, name, text, input) => Compared::Same,
            Policy::Verify => committed.map_or(Compared::New, Compared::Differs),
            Policy::Propose if self.propose(name, text, input) => committed.map_or(Compared::New, Compared::Differs),
            Policy::Propose => Compared::Same,
            Policy::Overwrite => self.overwrite(name, text, input, committed)?,
        };
        if self.policy == Policy::Overwrite || (self.policy == Policy::Propose && compared == Compared::Same) {
            // Remove what an earlier run proposed.
            files::remove(&self.pending(name))?;
        }
        Ok(compared)
    }

    /// Writes a text next to its golden, for a decision, if the two differ. Returns whether they differ. If the proposal cannot
    /// be written, that is not an error.
    pub fn propose(&self, name: &str, text: &str, input: &Path) -> bool {
        let proposed = match (self.policy, self.on_copy(name, text, input)) {
            // insta was told to write goldens, so the copy contains the new text.
            (Policy::Overwrite, written) => written.ok().and_then(|written| written.golden),
            (_, Ok(Written { equal: true, .. })) => return false,
            (_, written) => written.ok().and_then(|written| written.proposed),
        };
        let _ = proposed.map(|proposed| files::write_whole(&self.pending(name), &proposed));
        true
    }

    /// The text of the new golden that waits for a decision; `None` if none waits.
    ///
    /// # Errors
    /// If it cannot be read, or is not a golden.
    pub fn proposed(&self, name: &str) -> Result<Option<String>> {
        self.committed(&self.pending(name))
    }

    fn overwrite(&self, name: &str, text: &str, input: &Path, old: Option<String>) -> Result<Compared> {
        let file = self.file(name);
        let write = || {
            let written = self.on_copy(name, text, input)?;
            let golden = written.golden.filter(|_| written.equal);
            let golden = golden.ok_or_else(|| Error::new("insta did not write the golden"))?;
            files::write_whole(&file, &golden)?;
            self.committed(&file)
        };
        let written = write().map_err(|error| {
            // Show the path relative to the project's folder.
            let error = Error::new(error.what()).in_file(self.shown(&file));
            error.help("is there permission to write it, and room on the disk?")
        })?;
        Ok(match old {
            None => Compared::New,
            Some(old) if Some(&old) == written.as_ref() => Compared::Same,
            Some(old) => Compared::Differs(old),
        })
    }

    /// Lets insta compare a text in a temporary folder that contains only a copy of its golden. insta truncates a file before it
    /// writes it, so a kill or a full disk would leave half a golden.
    fn on_copy(&self, name: &str, text: &str, input: &Path) -> Result<Written> {
        let folder = tempfile::tempdir().map_err(|e| files::failed("make", &std::env::temp_dir(), &e))?;
        let (golden, copy) = (self.file(name), folder.path().join(format!("{name}.snap")));
        // insta keeps the header of a golden whose text is equal, also if it is of another version or names another scenario.
        let is_this = self.policy != Policy::Overwrite || self.written_by(name) == WrittenBy::This;
        if is_this
            && self.of_another(&golden, input).is_none()
            && self.committed(&golden).is_ok_and(|committed| committed.is_some())
        {
            // Only the contents: the copy has to be writable, although the golden may not be.
            std::fs::write(&copy, files::read(&golden)?).map_err(|e| files::failed("write", &copy, &e))?;
        }
        let equal = self.assert(folder.path(), name, text, input);
        // A file that was cut off cannot be read, or contains less than the text.
        let whole = |file: &Path| {
            let snapshot = insta::Snapshot::from_file(file).ok()?;
            let is_whole = snapshot.as_text().is_some_and(|found| found.to_string().trim_end() == text.trim_end());
            std::fs::read(file).ok().filter(|_| is_whole).map(|bytes| without_source(&bytes))
        };
        Ok(Written { equal, golden: whole(&copy), proposed: whole(&copy.with_extension("snap.new")) })
    }

    /// Whether insta finds a text equal to its golden in a folder, or was told to write the golden there and did.
    fn assert(&self, folder: &Path, name: &str, text: &str, input: &Path) -> bool {
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(folder);
        settings.set_prepend_module_to_snapshot(false);
        settings.set_omit_expression(true);
        settings.set_input_file(input);
        settings.set_description(format!("{FORMAT_OF}{FORMAT}"));
        SILENT.set(true);
        let equal = catch_unwind(AssertUnwindSafe(|| settings.bind(|| (self.assert)(name, text)))).is_ok();
        SILENT.set(false);
        equal
    }

    /// A golden's file relative to the project's folder, as errors show it.
    pub fn shown<'a>(&self, file: &'a Path) -> &'a Path {
        self.all.parent().and_then(|root| file.strip_prefix(root).ok()).unwrap_or(file)
    }

    /// The file that insta writes next to a golden that differs.
    fn pending(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.snap.new"))
    }

    /// The text of a golden's file; `None` if the file does not exist.
    ///
    /// # Errors
    /// If it cannot be read, or is not a golden.
    pub fn committed(&self, file: &Path) -> Result<Option<String>> {
        Ok(self.read(file)?.map(|read| read.text))
    }

    /// Reads a golden's file, unless this thread read it last and it did not change.
    fn read(&self, file: &Path) -> Result<Option<Read>> {
        let found = match file.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            found => found.ok(),
        };
        let stamp =
            found.filter(std::fs::Metadata::is_file).and_then(|found| Some((found.modified().ok()?, found.len())));
        let stamp = stamp.filter(|(at, _)| at.elapsed().is_ok_and(|age| age > SURE));
        let last = LAST.with_borrow(|last| {
            let (path, of, read) = last.as_ref()?;
            (path == file && Some(of) == stamp.as_ref()).then(|| read.clone())
        });
        if last.is_some() {
            return Ok(last);
        }
        let read = self.read_anew(file)?;
        LAST.set(stamp.map(|stamp| (file.to_owned(), stamp, read.clone())));
        Ok(Some(read))
    }

    fn read_anew(&self, file: &Path) -> Result<Read> {
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
        // Only the scenario's own name counts: the project may be in another folder than when the golden was written.
        let of = snapshot.metadata().input_file().map(|input| named(Path::new(input)));
        Ok(Read { text: text.to_string(), format: format_of(&bytes), of })
    }

    /// The scenario that a golden names in its header, if it is not the one that has this golden: the golden was copied. A link
    /// to another golden says openly that both scenarios share it.
    fn of_another(&self, file: &Path, input: &Path) -> Option<String> {
        let said = self.read(file).ok().flatten()?.of.filter(|_| !file.is_symlink())?;
        (said != named(input)).then_some(said)
    }
}

/// The end of a scenario's path, which names it: `hello/scenario.toml`.
fn named(scenario: &Path) -> String {
    let names: Vec<_> = scenario.iter().map(|name| name.to_string_lossy()).collect();
    names[names.len().saturating_sub(2)..].join("/")
}

/// Whether the header of a golden names the file of the assertion, as older versions wrote it.
fn has_source(file: &Path) -> bool {
    std::fs::read(file).is_ok_and(|bytes| without_source(&bytes) != bytes)
}

/// The number of the format in the header of a golden.
fn format_of(golden: &[u8]) -> u32 {
    let text = String::from_utf8_lossy(golden);
    let header = text.lines().skip(1).take_while(|line| !line.starts_with("---"));
    let mut format = header.filter_map(|line| line.strip_prefix("description:")?.trim().strip_prefix(FORMAT_OF));
    format.find_map(|number| number.parse().ok()).unwrap_or(1)
}

/// A snapshot's file without the line of its header that names the file of the assertion.
fn without_source(snapshot: &[u8]) -> Vec<u8> {
    let mut lines = snapshot.split_inclusive(|byte| *byte == b'\n');
    let mut kept: Vec<u8> = lines.next().unwrap_or_default().to_vec();
    let mut in_header = true;
    for line in lines {
        in_header &= !line.starts_with(b"---");
        if !(in_header && line.starts_with(b"source:")) {
            kept.extend_from_slice(line);
        }
    }
    kept
}

/// Whether `cargo insta test --unreferenced` is collecting the goldens in use. If so, insta itself has to compare each one.
fn wants_references() -> bool {
    std::env::var_os("INSTA_SNAPSHOT_REFERENCES_FILE").is_some()
}

/// Refuses a file that insta would misread.
fn check(bytes: &[u8]) -> Result<()> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        let byte = rest.first().copied().unwrap_or_default();
        let place = Place::of(&String::from_utf8_lossy(valid), valid.len());
        Error::new(format!("the byte 0x{byte:02x} is not UTF-8")).at(place)
    })?;
    if let Some(conflict) = conflict(text) {
        return Err(conflict);
    }
    let expected = "expected `---` as the first line of a golden";
    match text.lines().next().map(str::trim_end) {
        Some("---") => Ok(()),
        None => Err(Error::new(format!("the file is empty, {expected}"))),
        Some(_) if text.starts_with('\u{feff}') => {
            Err(Error::new(format!("{expected}, found a byte-order mark before it")).at(Place { line: 1, column: 1 }))
        }
        Some(line) => {
            let line: String = line.chars().take(60).collect();
            Err(Error::new(format!("{expected}, found `{line}`")).at(Place { line: 1, column: 1 }))
        }
    }
}
