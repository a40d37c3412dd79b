//! Reads the files of traces: JSON, or JSON lines, of either format.

use std::path::{Path, PathBuf};

use retake_base::error::{Error, Place, Result};
use retake_core::json::Json;

use super::span::Span;
use super::{langfuse, otlp};
use crate::formats::files;
use crate::project::input;

/// The format of traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TraceFormat {
    Otlp,
    Langfuse,
}

/// The endings of files that are read from folders.
const ENDINGS: [&str; 3] = ["json", "jsonl", "ndjson"];

/// All spans of files and folders; `-` is standard input. Also lines about what was skipped.
/// One error for each file that cannot be read, with the place in it.
pub(super) fn read(format: TraceFormat, inputs: &[PathBuf]) -> Result<(Vec<Span>, Vec<String>), Vec<Error>> {
    let (found, mut skipped) = files::find(inputs, &ENDINGS).map_err(|error| vec![error])?;
    let (mut spans, mut errors) = (Vec::new(), Vec::new());
    for file in found {
        let is_input = file.path == Path::new("-");
        let read = input((!is_input).then_some(file.path.as_path())).and_then(|bytes| of_bytes(format, &bytes));
        match read {
            Ok(Some(of_file)) => spans.extend(of_file),
            Ok(None) if file.named => errors.push(Error::new(format.mismatch()).in_file(&file.path)),
            Ok(None) => skipped.push(format!("{}: skipped: {}", file.path.display(), format.mismatch())),
            Err(error) => errors.push(error.in_file(&file.path)),
        }
    }
    if errors.is_empty() { Ok((otlp::join_records(spans), skipped)) } else { Err(errors) }
}

/// The spans of a file; `None` if it has another format.
/// The first thing that is wrong with it, with its place.
pub(super) fn of_bytes(format: TraceFormat, bytes: &[u8]) -> Result<Option<Vec<Span>>> {
    let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let lines: Vec<(usize, &[u8])> =
        bytes.split(|byte| *byte == b'\n').enumerate().filter(|(_, line)| !line.trim_ascii().is_empty()).collect();
    let mut spans = Vec::new();
    // A file of lines is told by its first line, which is JSON by itself.
    if let [(number, first), rest @ ..] = &lines[..]
        && !rest.is_empty()
        && let Ok(first) = Json::parse_request(first)
    {
        if !format.is(&first) {
            return Ok(None);
        }
        spans.extend(format.spans(&first).map_err(|what| Error::new(what).at(Place { line: number + 1, column: 1 }))?);
        for (number, line) in rest {
            let at = |column| Place { line: number + 1, column };
            let value = Json::parse_request(line).map_err(|e| Error::new(e.message).at(at(e.column)))?;
            spans.extend(format.spans(&value).map_err(|what| Error::new(what).at(at(1)))?);
        }
        return Ok(Some(spans));
    }
    let value =
        Json::parse_request(bytes).map_err(|e| Error::new(e.message).at(Place { line: e.line, column: e.column }))?;
    let messages = value.as_array().unwrap_or(std::slice::from_ref(&value));
    if messages.is_empty() || !messages.iter().all(|message| format.is(message)) {
        return Ok(None);
    }
    for message in messages {
        spans.extend(format.spans(message).map_err(Error::new)?);
    }
    Ok(Some(spans))
}

impl TraceFormat {
    fn is(self, value: &Json) -> bool {
        match self {
            TraceFormat::Otlp => otlp::is_one(value),
            TraceFormat::Langfuse => langfuse::is_one(value),
        }
    }

    fn spans(self, value: &Json) -> Result<Vec<Span>, String> {
        match self {
            TraceFormat::Otlp => otlp::spans(value),
            TraceFormat::Langfuse => langfuse::spans(value),
        }
    }

    fn mismatch(self) -> &'static str {
        match self {
            TraceFormat::Otlp => "not OTLP: expected `resourceSpans` or `resourceLogs`",
            TraceFormat::Langfuse => {
                "not an export of Langfuse: expected `observations`, or an observation on each line"
            }
        }
    }
}
