//! Decodes answers that come compressed. The relay asks providers for answers that are not, but a provider, or a proxy before
//! it, may compress anyway. What is decoded can be searched for secrets, and the recorder and its client get it without the compression.

use std::io::{Read as _, Write};

use axum::body::Bytes;
use brotli_decompressor::DecompressorWriter;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};

/// The maximum size of a decoded answer, in bytes.
const MAX: usize = 256 << 20;

/// Decodes a body while it arrives.
pub(super) struct Decoder {
    /// The encodings, in the order in which they are decoded.
    steps: Vec<(String, Step)>,
    decoded: usize,
    /// Whether nothing has arrived. What has no body is not compressed either.
    is_empty: bool,
}

enum Step {
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
    Zlib(Box<ZlibDecoder<Vec<u8>>>),
    Deflate(Box<DeflateDecoder<Vec<u8>>>),
    /// `deflate` before its first bytes, which say whether it is the one or the other.
    Unknown(Vec<u8>),
    Brotli(Box<DecompressorWriter<Vec<u8>>>),
    /// The decoder for zstd returns nothing before it has a window of it, so it is decoded when it is complete.
    Zstd(Vec<u8>),
}

impl Decoder {
    /// Returns the decoder for the value of a `Content-Encoding` header.
    /// Fails if an encoding is not known: its name.
    pub(super) fn of(encodings: &str) -> Result<Decoder, String> {
        let names = encodings.split(',').map(|name| name.trim().to_ascii_lowercase()).rev();
        let mut steps = Vec::new();
        for name in names.filter(|name| !name.is_empty() && name != "identity") {
            let step = match name.as_str() {
                "gzip" | "x-gzip" => Step::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
                "deflate" => Step::Unknown(Vec::new()),
                "br" => Step::Brotli(Box::new(DecompressorWriter::new(Vec::new(), 4096))),
                "zstd" => Step::Zstd(Vec::new()),
                _ => return Err(name),
            };
            steps.push((name, step));
        }
        Ok(Decoder { steps, decoded: 0, is_empty: true })
    }

    /// Decodes the bytes that arrived.
    /// Fails if they are not encoded as the header said, or decode to too much.
    pub(super) fn push(&mut self, bytes: Bytes) -> Result<Bytes, String> {
        if self.steps.is_empty() {
            return Ok(bytes);
        }
        self.is_empty &= bytes.is_empty();
        self.run(&bytes, Step::push)
    }

    /// Returns what is left at the end of the body.
    /// Errors are those of [`push`](Decoder::push), or if the body is not complete.
    pub(super) fn finish(&mut self) -> Result<Bytes, String> {
        if self.is_empty {
            return Ok(Bytes::new());
        }
        self.run(&[], |step, bytes| {
            let mut out = step.push(bytes)?;
            out.append(&mut step.finish()?);
            Ok(out)
        })
    }

    fn run(
        &mut self,
        bytes: &[u8],
        mut decode: impl FnMut(&mut Step, &[u8]) -> std::io::Result<Vec<u8>>,
    ) -> Result<Bytes, String> {
        let mut bytes = bytes.to_owned();
        for (name, step) in &mut self.steps {
            bytes = decode(step, &bytes)
                .map_err(|e| format!("the answer is said to be compressed as `{name}` and cannot be unpacked: {e}"))?;
        }
        self.decoded += bytes.len();
        if self.decoded > MAX {
            return Err(format!("the answer unpacks to more than {} MB", MAX >> 20));
        }
        Ok(bytes.into())
    }
}

impl Step {
    fn push(&mut self, bytes: &[u8]) -> std::io::Result<Vec<u8>> {
        if let Step::Unknown(first) = self {
            first.extend_from_slice(bytes);
            let [a, b, ..] = first[..] else { return Ok(Vec::new()) };
            let first = std::mem::take(first);
            let is_zlib = a & 15 == 8 && (u16::from(a) << 8 | u16::from(b)) % 31 == 0;
            *self = if is_zlib {
                Step::Zlib(Box::new(ZlibDecoder::new(Vec::new())))
            } else {
                Step::Deflate(Box::new(DeflateDecoder::new(Vec::new())))
            };
            return self.push(&first);
        }
        match self {
            Step::Gzip(decoder) => through(decoder.as_mut(), bytes).map(|()| std::mem::take(decoder.get_mut())),
            Step::Zlib(decoder) => through(decoder.as_mut(), bytes).map(|()| std::mem::take(decoder.get_mut())),
            Step::Deflate(decoder) => through(decoder.as_mut(), bytes).map(|()| std::mem::take(decoder.get_mut())),
            Step::Brotli(decoder) => through(decoder.as_mut(), bytes).map(|()| std::mem::take(decoder.get_mut())),
            Step::Zstd(whole) | Step::Unknown(whole) => {
                whole.extend_from_slice(bytes);
                Ok(Vec::new())
            }
        }
    }

    fn finish(&mut self) -> std::io::Result<Vec<u8>> {
        match self {
            Step::Gzip(decoder) => decoder.try_finish().map(|()| std::mem::take(decoder.get_mut())),
            Step::Zlib(decoder) => decoder.try_finish().map(|()| std::mem::take(decoder.get_mut())),
            Step::Deflate(decoder) => decoder.try_finish().map(|()| std::mem::take(decoder.get_mut())),
            Step::Brotli(decoder) => decoder.close().map(|()| std::mem::take(decoder.get_mut())),
            Step::Zstd(whole) if !whole.is_empty() => {
                let mut decoder = ruzstd::decoding::StreamingDecoder::new(whole.as_slice()).map_err(other)?;
                let mut out = Vec::new();
                decoder.by_ref().take(MAX as u64 + 1).read_to_end(&mut out)?;
                Ok(out)
            }
            Step::Zstd(_) | Step::Unknown(_) => Ok(Vec::new()),
        }
    }
}

/// Decodes all of what arrived, so that a stream goes on at once.
fn through(decoder: &mut impl Write, bytes: &[u8]) -> std::io::Result<()> {
    decoder.write_all(bytes)?;
    decoder.flush()
}

fn other(error: impl std::fmt::Display) -> std::io::Error {
    std::io::Error::other(error.to_string())
}

#[cfg(test)]
mod tests;
