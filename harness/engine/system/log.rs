//! The output of a system: written to a file of the stage, with its end kept for failures to quote.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use regex::Regex;
use tokio::sync::watch;

use retake_base::lock::Mutex;
use retake_base::text::clipped;

/// The number of lines that a failure quotes.
const LINES: usize = 20;
/// The number of last lines that are kept, of which these are taken.
const KEPT: usize = 400;
/// The number of indented lines in a row of which the first and the last are quoted, such as the frames of a stack.
const FRAMES: usize = 3;
/// The number of characters of a line that are quoted.
const WIDTH: usize = 500;
/// The number of bytes of a log that are kept for a person to read. Of a longer log, this is the beginning.
const WHOLE: usize = 4 << 20;
/// The number of bytes of a line that are compared with the awaited line.
const LONGEST: usize = 64 << 10;

/// What a system printed, for a failure.
#[derive(Clone, Debug)]
pub struct LogOf {
    /// The name of the system.
    pub system: String,
    /// What a failure quotes: the last lines, and before them how the system ended, if it did before it was stopped.
    pub quoted: String,
    /// The whole log, up to 4 MB.
    pub whole: String,
}

/// The log of one system. Cloning shares it.
#[derive(Clone, Debug)]
pub(crate) struct Log(Arc<SystemLog>);

#[derive(Debug)]
struct SystemLog {
    printed: Mutex<Printed>,
    seen: watch::Sender<bool>,
}

#[derive(Debug, Default)]
struct Printed {
    file: Option<File>,
    /// The output from before the file existed.
    early: Vec<u8>,
    whole: Vec<u8>,
    /// The last lines, each with the number of times that it was printed in a row.
    last: VecDeque<(String, usize)>,
    line: Vec<u8>,
    awaited: Option<Regex>,
}

impl Log {
    /// Makes a log. `awaited` matches the line that [`Log::awaited`] waits for.
    pub(crate) fn new(awaited: Option<Regex>) -> Log {
        let printed = Mutex::new(Printed { awaited, ..Printed::default() });
        Log(Arc::new(SystemLog { printed, seen: watch::Sender::new(false) }))
    }

    /// Writes what was printed so far to a file, and from here on everything else too.
    pub(super) fn write_to(&self, path: &Path) {
        let mut printed = self.0.printed.lock();
        if let Ok(mut file) = File::options().create(true).append(true).open(path) {
            let early = std::mem::take(&mut printed.early);
            let _ = file.write_all(&early);
            printed.file = Some(file);
        }
    }

    /// Adds output.
    pub(crate) fn push(&self, bytes: &[u8]) {
        let mut printed = self.0.printed.lock();
        let room = WHOLE.saturating_sub(printed.whole.len());
        printed.whole.extend_from_slice(&bytes[..bytes.len().min(room)]);
        match &mut printed.file {
            // If the disk is full, failures can still quote the end.
            Some(file) => drop(file.write_all(bytes)),
            None => printed.early.extend_from_slice(bytes),
        }
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            let room = LONGEST.saturating_sub(printed.line.len());
            let end = part.ends_with(b"\n");
            printed.line.extend_from_slice(&part[..part.len().min(room)]);
            if end && printed.take_line() {
                printed.awaited = None;
                self.0.seen.send_replace(true);
            }
        }
    }

    /// Waits until the awaited line is printed.
    pub(super) async fn awaited(&self) {
        // The sender lives as long as `self`, so this cannot fail.
        let _ = self.0.seen.subscribe().wait_for(|seen| *seen).await;
    }

    /// Returns the whole log, up to 4 MB.
    pub(super) fn whole(&self) -> String {
        String::from_utf8_lossy(&self.0.printed.lock().whole).into_owned()
    }

    /// Returns the last lines.
    pub(crate) fn tail(&self) -> Vec<String> {
        let printed = self.0.printed.lock();
        let unfinished = plain(&printed.line);
        let unfinished = (!unfinished.is_empty()).then(|| clipped(&unfinished, WIDTH).into_owned());
        let often = |(line, times): &(String, usize)| {
            if *times == 1 { line.clone() } else { format!("{line}  ({times} times)") }
        };
        let lines: Vec<String> = printed.last.iter().map(often).chain(unfinished).collect();
        let lines = folded(&lines);
        lines[lines.len().saturating_sub(LINES)..].to_vec()
    }
}

impl Printed {
    /// Adds the line that is now complete. Returns whether it is the awaited one.
    fn take_line(&mut self) -> bool {
        let line = plain(&self.line);
        self.line.clear();
        let shown = clipped(&line, WIDTH);
        match self.last.back_mut() {
            Some((before, times)) if *before == shown => *times += 1,
            _ => self.last.push_back((shown.into_owned(), 1)),
        }
        if self.last.len() > KEPT {
            self.last.pop_front();
        }
        self.awaited.as_ref().is_some_and(|awaited| awaited.is_match(&line))
    }
}

/// Lines without the middle of many indented ones: what failed stands above and below the frames of a stack.
fn folded(lines: &[String]) -> Vec<String> {
    let is_indented = |line: &String| line.starts_with([' ', '\t']);
    let mut out = Vec::new();
    for block in lines.chunk_by(|one, other| is_indented(one) == is_indented(other)) {
        if block.len() <= 2 * FRAMES + 1 || !is_indented(&block[0]) {
            out.extend_from_slice(block);
            continue;
        }
        let (first, last) = (&block[..FRAMES], &block[block.len() - FRAMES..]);
        out.extend_from_slice(first);
        out.push(format!("    … {} more lines", block.len() - 2 * FRAMES));
        out.extend_from_slice(last);
    }
    out
}

/// Returns a line without trailing white space, and without the escape sequences that programs print for colours even where no
/// terminal shows them.
pub(crate) fn plain(line: &[u8]) -> String {
    console::strip_ansi_codes(String::from_utf8_lossy(line).trim_end()).trim_end().to_owned()
}

#[cfg(test)]
mod tests;
