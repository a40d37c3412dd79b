//! Bodies as recorders keep them: compressed or not, with a content type or with none.

use std::io::Read;

use crate::json::Json;
use crate::wire::Response;

/// A body.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// As it went over the wire, or as its recorder unpacked it.
    Bytes(Vec<u8>),
    /// JSON that its recorder had read.
    Json(Json),
}

/// The most that a body may unpack to, in bytes.
const MAX_UNPACKED: u64 = 256 << 20;

/// A body without its compression. Many recorders unpack it and leave the header that names it.
///
/// # Errors
/// What the header names, where the body is neither that nor text.
pub(super) fn unpacked(bytes: Vec<u8>, encodings: &str) -> Result<Vec<u8>, String> {
    let mut bytes = bytes;
    for encoding in encodings.split(',').map(|name| name.trim().to_ascii_lowercase()).rev() {
        bytes = match encoding.as_str() {
            // Seen from the bytes, since some recorders leave the headers out.
            "" | "identity" | "gzip" | "x-gzip" | "zstd" => bytes,
            _ if is_text(&bytes) => bytes,
            "br" => read_all(brotli_decompressor::Decompressor::new(bytes.as_slice(), 4096), "br")?,
            "deflate" => {
                let zlib = read_all(flate2::read::ZlibDecoder::new(bytes.as_slice()), "deflate");
                zlib.or_else(|_| read_all(flate2::read::DeflateDecoder::new(bytes.as_slice()), "deflate"))?
            }
            other => return Err(format!("the body has the content encoding `{other}`, which is not known")),
        };
        bytes = unpacked_by_sight(bytes)?;
    }
    Ok(bytes)
}

fn unpacked_by_sight(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return read_all(flate2::read::MultiGzDecoder::new(bytes.as_slice()), "gzip");
    }
    if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = ruzstd::decoding::StreamingDecoder::new(bytes.as_slice());
        return read_all(decoder.map_err(|e| format!("the body is no zstd: {e}"))?, "zstd");
    }
    Ok(bytes)
}

fn read_all(reader: impl Read, name: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let read = reader.take(MAX_UNPACKED + 1).read_to_end(&mut out);
    read.map_err(|e| format!("the body has the content encoding `{name}` and cannot be unpacked: {e}"))?;
    if out.len() as u64 > MAX_UNPACKED {
        return Err(format!("the body unpacks to more than {} MB", MAX_UNPACKED >> 20));
    }
    Ok(out)
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// An answer of a status, a content type (which may be blank or wrong), and a body.
pub(super) fn response(status: u16, content_type: &str, body: Body) -> Response {
    let content_type = content_type.trim();
    let (kind, mut response) = match body {
        Body::Json(json) => ("application/json", Response::json(status, json)),
        Body::Bytes(bytes) => {
            let kind = kind_of(content_type, &bytes);
            (kind, Response::received(status, kind, bytes))
        }
    };
    response.content_type = String::from(if content_type.is_empty() { kind } else { content_type });
    response
}

const STREAM: &str = "text/event-stream";
const LINES: &str = "application/x-ndjson";

/// The content type that a body has by its looks, whatever it is said to be; else the one that is said.
fn kind_of<'a>(said: &'a str, bytes: &[u8]) -> &'a str {
    let Ok(text) = std::str::from_utf8(bytes) else {
        return if said.is_empty() { "application/octet-stream" } else { said };
    };
    let said_is = |kind: &str| said.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(kind);
    let fields = ["data:", "event:", "id:", "retry:", ":"];
    let first_line =
        text.trim_start_matches('\u{feff}').lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    if said_is(LINES) {
        LINES
    } else if fields.iter().any(|field| first_line.starts_with(field)) {
        STREAM
    } else if Json::parse(bytes).is_ok() {
        "application/json"
    } else if said_is(STREAM) {
        STREAM
    } else if first_line.starts_with('{')
        && text.lines().all(|line| line.trim().is_empty() || Json::parse(line.as_bytes()).is_ok())
    {
        LINES
    } else if said.is_empty() {
        "text/plain"
    } else {
        said
    }
}

#[cfg(test)]
mod tests;
