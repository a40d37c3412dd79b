//! Bodies of recordings, which may be compressed, and which may have a content type or not.

use retake_core::json::Json;
use retake_wire::{self as wire, Decoder, Response};

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// The bytes of the body, either as they were sent or as the recorder decompressed them.
    Bytes(Vec<u8>),
    /// JSON that the recorder had parsed.
    Json(Json),
}

/// Decompresses a body. Many recorders store the decompressed body but keep the header that names the compression, so the bytes
/// themselves decide where possible.
/// Fails if the body is neither text nor compressed as `encodings` says.
pub(super) fn unpacked(bytes: Vec<u8>, encodings: &str) -> Result<Vec<u8>, String> {
    let mut bytes = bytes;
    for encoding in encodings.split(',').map(|name| name.trim().to_ascii_lowercase()).rev() {
        let name = match bytes[..] {
            [0x1f, 0x8b, ..] => "gzip",
            [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd",
            // Some recorders leave out the headers.
            _ if is_text(&bytes) || ["", "identity", "gzip", "x-gzip", "zstd"].contains(&encoding.as_str()) => continue,
            _ => &encoding,
        };
        bytes = Decoder::whole(name, bytes.into()).map_err(|reason| format!("it {reason}"))?.into();
    }
    Ok(bytes)
}

fn is_text(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_ok()
}

/// Creates a response. The content type may be empty, masked or wrong; if it is no media type, it is chosen by the kind of the body.
pub(super) fn response(status: u16, content_type: &str, body: Body) -> Response {
    let content_type = Some(content_type.trim()).filter(|named| named.contains('/')).unwrap_or_default();
    let mut response = match body {
        Body::Json(json) => Response::json(status, json),
        Body::Bytes(bytes) => Response::received(status, content_type, bytes),
    };
    response.content_type = String::from(match &response.body {
        _ if !content_type.is_empty() => content_type,
        wire::Body::Json(_) => "application/json",
        wire::Body::Frames(frames) if frames.is_of_aws() => "application/vnd.amazon.eventstream",
        wire::Body::Frames(frames) if frames.text().trim_ascii_start().starts_with(b"{") => "application/x-ndjson",
        wire::Body::Frames(_) => "text/event-stream",
        wire::Body::Text(_) => "text/plain",
        wire::Body::Binary(_) => "application/octet-stream",
    });
    response
}

#[cfg(test)]
mod tests;
