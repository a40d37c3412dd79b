//! Decodes bodies that come compressed: requests of clients that compress them, and answers of providers that were asked not to. What
//! is decoded can be read, and searched for secrets.

use std::io::{self, Read as _, Write};

use brotli_decompressor::DecompressorWriter;
use bytes::Bytes;
use flate2::Decompress;
use flate2::write::{MultiGzDecoder, ZlibDecoder};

/// The most bytes that a body decodes to.
const MAX: usize = if cfg!(test) { 1 << 20 } else { 256 << 20 };

/// Decodes a body while it arrives.
pub struct Decoder {
    /// The encodings, in the order in which they are decoded.
    steps: Vec<(String, Step)>,
    /// Whether nothing has arrived. What has no body is not compressed either.
    is_empty: bool,
}

enum Step {
    Gzip(Box<MultiGzDecoder<Bounded>>),
    /// `deflate`, with the header of zlib or without.
    Deflate(Box<ZlibDecoder<Bounded>>),
    /// `deflate` before its first bytes, which say whether it has that header.
    Unknown(Vec<u8>),
    Brotli(Box<DecompressorWriter<Bounded>>),
    /// The decoder for zstd returns nothing before it has a window of it, so it is decoded when it is complete.
    Zstd(Vec<u8>),
}

impl Decoder {
    /// Returns the decoder for the value of a `Content-Encoding` header.
    /// Fails if an encoding is not known: its name.
    pub fn of(encodings: &str) -> Result<Decoder, String> {
        let names = encodings.split(',').map(|name| name.trim().to_ascii_lowercase()).rev();
        let mut steps = Vec::new();
        for name in names.filter(|name| !name.is_empty() && name != "identity") {
            let step = match name.as_str() {
                "gzip" | "x-gzip" => Step::Gzip(Box::new(MultiGzDecoder::new(Bounded::default()))),
                "deflate" => Step::Unknown(Vec::new()),
                "br" => Step::Brotli(Box::new(DecompressorWriter::new(Bounded::default(), 4096))),
                "zstd" => Step::Zstd(Vec::new()),
                _ => return Err(name),
            };
            steps.push((name, step));
        }
        Ok(Decoder { steps, is_empty: true })
    }

    /// Decodes a whole body.
    /// An error says what the body is, and why it cannot be read.
    pub fn whole(encodings: &str, body: Bytes) -> Result<Bytes, String> {
        let unknown = |name| format!("is compressed as `{name}`, but only gzip, deflate, br and zstd can be read");
        let mut decoder = Decoder::of(encodings).map_err(unknown)?;
        Ok([decoder.push(body)?, decoder.finish()?].concat().into())
    }

    /// Decodes the bytes that arrived.
    /// Fails if they are not encoded as the header said, or decode to too much: what the body is, and why it cannot be read.
    pub fn push(&mut self, bytes: Bytes) -> Result<Bytes, String> {
        if self.steps.is_empty() {
            return Ok(bytes);
        }
        self.is_empty &= bytes.is_empty();
        self.run(&bytes, Step::push)
    }

    /// Returns what is left at the end of the body.
    /// Errors are those of [`push`](Decoder::push), or if the body is not complete.
    pub fn finish(&mut self) -> Result<Bytes, String> {
        if self.is_empty {
            return Ok(Bytes::new());
        }
        self.run(&[], |step, bytes| Ok([step.push(bytes)?, step.finish()?].concat()))
    }

    fn run(
        &mut self,
        bytes: &[u8],
        mut decode: impl FnMut(&mut Step, &[u8]) -> io::Result<Vec<u8>>,
    ) -> Result<Bytes, String> {
        let mut bytes = bytes.to_owned();
        for (name, step) in &mut self.steps {
            bytes = decode(step, &bytes)
                .map_err(|e| format!("is said to be compressed as `{name}` and cannot be unpacked: {e}"))?;
        }
        Ok(bytes.into())
    }
}

impl Step {
    fn push(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        if let Step::Unknown(first) = self {
            first.extend_from_slice(bytes);
            let [a, b, ..] = first[..] else { return Ok(Vec::new()) };
            let first = std::mem::take(first);
            let is_zlib = a & 15 == 8 && (u16::from(a) << 8 | u16::from(b)) % 31 == 0;
            let decoder = ZlibDecoder::new_with_decompress(Bounded::default(), Decompress::new(is_zlib));
            *self = Step::Deflate(Box::new(decoder));
            return self.push(&first);
        }
        match self {
            Step::Gzip(decoder) => through(decoder.as_mut(), bytes).map(|()| decoder.get_mut().taken()),
            Step::Deflate(decoder) => through(decoder.as_mut(), bytes).map(|()| decoder.get_mut().taken()),
            Step::Brotli(decoder) => through(decoder.as_mut(), bytes).map(|()| decoder.get_mut().taken()),
            Step::Zstd(whole) | Step::Unknown(whole) => {
                whole.extend_from_slice(bytes);
                Ok(Vec::new())
            }
        }
    }

    fn finish(&mut self) -> io::Result<Vec<u8>> {
        match self {
            Step::Gzip(decoder) => decoder.try_finish().map(|()| decoder.get_mut().taken()),
            Step::Deflate(decoder) => decoder.try_finish().map(|()| decoder.get_mut().taken()),
            Step::Brotli(decoder) => decoder.close().map(|()| decoder.get_mut().taken()),
            Step::Zstd(whole) if !whole.is_empty() => {
                let decoder = ruzstd::decoding::StreamingDecoder::new(whole.as_slice()).map_err(io::Error::other)?;
                let mut out = Bounded::default();
                io::copy(&mut decoder.take(MAX as u64 + 1), &mut out)?;
                Ok(out.bytes)
            }
            Step::Zstd(_) | Step::Unknown(_) => Ok(Vec::new()),
        }
    }
}

/// Decodes all of what arrived, so that a stream goes on at once.
fn through(decoder: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    decoder.write_all(bytes)?;
    decoder.flush()
}

/// What was decoded and not taken yet. A few bytes can decode to any number of them.
#[derive(Debug, Default)]
struct Bounded {
    bytes: Vec<u8>,
    all: usize,
}

impl Bounded {
    fn taken(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.all = self.all.saturating_add(bytes.len());
        if self.all > MAX {
            return Err(io::Error::other(format!("it is larger than {} MB", MAX >> 20)));
        }
        self.bytes.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
