//! The text of one file, with the name that errors about it use.

use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use retake_base::error::{Error, Place, Result};
use retake_base::files;

/// The text of a file, and its path relative to the root, which errors show.
#[derive(Clone, Debug)]
pub(super) struct Source {
    pub(super) file: Arc<Path>,
    pub(super) text: String,
}

impl Source {
    /// Reads `file` below `root`, which a person wrote by hand. A byte order mark is dropped.
    pub(super) fn read(root: &Path, file: &Path) -> Result<Source> {
        let written = check_size(&root.join(file)).map_err(|error| error.in_file(file));
        written.and_then(|()| Source::read_any(root, file))
    }

    /// Like [`Source::read`], but for a file of any size, such as the body of a request.
    pub(super) fn read_any(root: &Path, file: &Path) -> Result<Source> {
        files::inside(root, file)?;
        Source::of(file, read_bytes(&root.join(file)).map_err(|error| error.in_file(file))?)
    }

    /// Makes a source of bytes that are already read.
    pub(super) fn of(file: &Path, mut bytes: Vec<u8>) -> Result<Source> {
        if bytes.starts_with(b"\xef\xbb\xbf") {
            bytes.drain(..3);
        }
        let text = String::from_utf8(bytes).map_err(|error| {
            let (valid, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
            let place = Place::of(&String::from_utf8_lossy(valid), valid.len());
            let byte = rest.first().copied().unwrap_or_default();
            Error::new(format!("the byte 0x{byte:02x} is not UTF-8")).in_file(file).at(place)
        })?;
        Ok(Source { file: file.into(), text })
    }

    /// Returns the line and column of a byte offset.
    pub(super) fn place(&self, offset: usize) -> Place {
        Place::of(&self.text, offset)
    }

    /// Returns an error that points at a byte offset.
    pub(super) fn error(&self, offset: usize, what: impl Into<String>) -> Error {
        Error::new(what).in_file(&self.file).at(self.place(offset))
    }
}

/// The largest size of a file that a person writes, in bytes. A larger one is surely the wrong file.
const LARGEST: u64 = 16 << 20;

fn check_size(path: &Path) -> Result<()> {
    if let Some(size) = path.metadata().ok().map(|about| about.len()).filter(|size| *size > LARGEST) {
        let what = format!("the file is too large: {} MB, expected {} MB at most", size >> 20, LARGEST >> 20);
        return Err(Error::new(what));
    }
    Ok(())
}

/// Reads the bytes of any file. The error does not name the file.
pub(super) fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    if let Some(special) = files::special(path) {
        return Err(Error::new(format!("expected a file, found {special}")));
    }
    fs::read(path).map_err(|error| unreadable(path, &error))
}

/// Says why a file or folder cannot be read, without the error numbers of the operating system.
pub(super) fn unreadable(path: &Path, error: &io::Error) -> Error {
    if path.is_dir() && error.kind() != io::ErrorKind::PermissionDenied {
        return Error::new("expected a file, found a folder");
    }
    if let Some(link) = files::broken_link(path) {
        return Error::new(format!("expected a file, found {link}"));
    }
    Error::new(match error.kind() {
        io::ErrorKind::NotFound => "no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "no permission to read it".to_owned(),
        io::ErrorKind::NotADirectory => "expected a folder, found a file".to_owned(),
        _ => format!("it cannot be read: {error}"),
    })
}
