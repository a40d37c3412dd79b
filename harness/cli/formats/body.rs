//! Bodies of recordings, which may be compressed, and which may have a content type or not.

use std::io::Read;

use retake_core::json::Json;
use retake_wire::{self as wire, Response};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// The bytes of the body, either as they were sent or as the recorder decompressed them.
    Bytes(Vec<u8>),
    /// JSON that the recorder had parsed.
    Json(Json),
}

/// The maximum size of a decompressed body, in bytes.
const MAX_UNPACKED: u64 = 256 << 20;

/// Decompresses a body. Many recorders store the decompressed body but keep the header that names the compression, so the bytes
/// themselves decide where possible.
/// Fails if the body is neither text nor compressed as `encodings` says.
pub(super) fn unpacked(bytes: Vec<u8>, encodings: &str) -> Result<Vec<u8>, String> {
    let mut bytes = bytes;
    for encoding in encodings.split(',').map(|name| name.trim().to_ascii_lowercase()).rev() {
        bytes = match encoding.as_str() {
            // Recognized by the bytes below, since some recorders leave out the headers.
            "" | "identity" | "gzip" | "x-gzip" | "zstd" => bytes,
            _ if is_text(&bytes) => bytes,
            "br" => read_all(brotli_decompressor::Decompressor::new(bytes.as_slice(), 4096), "br")?,
            "deflate" => {
                let zlib = read_all(flate2::read::ZlibDecoder::new(bytes.as_slice()), "deflate");
                zlib.or_else(|_| read_all(flate2::read::DeflateDecoder::new(bytes.as_slice()), "deflate"))?
            }
            other => return Err(format!("packed with the unknown content encoding `{other}`")),
        };
        bytes = unpacked_by_magic(bytes)?;
    }
    Ok(bytes)
}

/// Decompresses a body that begins with the magic number of gzip or zstd.
fn unpacked_by_magic(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if bytes.starts_with(&[0x1f, 0x8b]) {
        return read_all(flate2::read::MultiGzDecoder::new(bytes.as_slice()), "gzip");
    }
    if bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
        let decoder = ruzstd::decoding::StreamingDecoder::new(bytes.as_slice());
        return read_all(decoder.map_err(|e| format!("not zstd: {e}"))?, "zstd");
    }
    Ok(bytes)
}

fn read_all(reader: impl Read, name: &str) -> Result<Vec<u8>, String> {
    let mut out = Vec::new();
    let read = reader.take(MAX_UNPACKED + 1).read_to_end(&mut out);
    read.map_err(|e| format!("packed with {name}, and cannot be unpacked: {e}"))?;
    if out.len() as u64 > MAX_UNPACKED {
        return Err(format!("unpacks to more than {} MB", MAX_UNPACKED >> 20));
    }
    Ok(out)
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// Creates a response. The content type may be empty or wrong; if it is empty, it is chosen by the kind of the body.
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
