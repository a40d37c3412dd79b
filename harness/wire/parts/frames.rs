//! The pieces of a stream, kept as one text: a recorded stream is put together once, and sent without a copy.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

/// The pieces of a stream, in order. Cloning shares them.
#[derive(Clone, PartialEq, Eq)]
pub struct Frames {
    text: Bytes,
    /// Where each piece ends in the text.
    ends: Arc<[usize]>,
    /// How long after the piece before it each one came, in milliseconds; none where that is not known.
    delays: Arc<[u32]>,
    /// Whether the client left behind them, before the end.
    open: bool,
}

impl Frames {
    /// The pieces.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        // The text was put together from strings, and is parted where they met.
        self.ranges().map(|(from, to)| std::str::from_utf8(&self.text[from..to]).unwrap_or_default())
    }

    /// The pieces, as they go over HTTP.
    pub fn bytes(&self) -> impl Iterator<Item = Bytes> + Send + use<> {
        let Frames { text, ends, .. } = self.clone();
        let mut from = 0;
        (0..ends.len()).map(move |at| text.slice(std::mem::replace(&mut from, ends[at])..ends[at]))
    }

    /// All pieces in a row.
    #[must_use]
    pub fn text(&self) -> Bytes {
        self.text.clone()
    }

    /// How long after the piece before it each piece came, in milliseconds: one a piece, or none where that is not known.
    #[must_use]
    pub fn delays(&self) -> &[u32] {
        &self.delays
    }

    /// The same pieces with their delays, one a piece. Where all are nothing, or are not as many, there are none.
    #[must_use]
    pub fn with_delays(self, delays: &[u32]) -> Frames {
        let told = delays.len() == self.ends.len() && delays.iter().any(|delay| *delay > 0);
        Frames { delays: if told { delays.into() } else { Arc::default() }, ..self }
    }

    /// Whether these are all that the client had of a stream when it left: nothing comes behind them, and no end.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The same pieces, as those of a stream that goes on or does not.
    #[must_use]
    pub fn with_open(self, open: bool) -> Frames {
        Frames { open, ..self }
    }

    fn ranges(&self) -> impl Iterator<Item = (usize, usize)> {
        let mut from = 0;
        self.ends.iter().map(move |to| (std::mem::replace(&mut from, *to), *to))
    }
}

impl<F: AsRef<str>> FromIterator<F> for Frames {
    fn from_iter<I: IntoIterator<Item = F>>(frames: I) -> Frames {
        let mut text = String::new();
        let ends = frames.into_iter().map(|frame| {
            text.push_str(frame.as_ref());
            text.len()
        });
        let ends = ends.collect();
        Frames { text: text.into_boxed_str().into_boxed_bytes().into(), ends, delays: Arc::default(), open: false }
    }
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests;
