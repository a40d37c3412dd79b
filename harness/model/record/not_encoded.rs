//! In a build that reaches no provider nothing compressed arrives.

use axum::body::Bytes;

/// Passes a body on.
pub(super) struct Decoder;

impl Decoder {
    /// # Errors
    /// For every encoding: its name.
    pub(super) fn of(encodings: &str) -> Result<Decoder, String> {
        if encodings.is_empty() { Ok(Decoder) } else { Err(encodings.to_owned()) }
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the interface of the decoder that decodes")]
    pub(super) fn push(&mut self, bytes: Bytes) -> Result<Bytes, String> {
        Ok(bytes)
    }

    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "the interface of the decoder that decodes")]
    pub(super) fn finish(&mut self) -> Result<Bytes, String> {
        Ok(Bytes::new())
    }
}
