//! Bodies as recorders keep them: compressed or not, with a content type or with none.

use std::io::Read;

use crate::json::Json;
use crate::wire::{self, Response};

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
        return read_all(decoder.map_err(|e| format!("the body is not zstd: {e}"))?, "zstd");
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
    let mut response = match body {
        Body::Json(json) => Response::json(status, json),
        Body::Bytes(bytes) => Response::received(status, content_type, bytes),
    };
    response.content_type = String::from(match &response.body {
        _ if !content_type.is_empty() => content_type,
        wire::Body::Json(_) => "application/json",
        wire::Body::Frames(frames) if frames.text().trim_ascii_start().starts_with(b"{") => "application/x-ndjson",
        wire::Body::Frames(_) => "text/event-stream",
        wire::Body::Text(_) => "text/plain",
        wire::Body::Binary(_) => "application/octet-stream",
    });
    response
}

#[cfg(test)]
mod tests;
