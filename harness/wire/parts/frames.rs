//! The pieces of a stream, stored as one text, so that a recorded stream is assembled once and sent without copying.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;

use super::events;

/// The pieces of a stream, in order. Cloning shares them.
#[derive(Clone, PartialEq, Eq)]
pub struct Frames {
    text: Bytes,
    /// The end of each piece, as an offset in the text.
    ends: Arc<[usize]>,
    /// The same as it is sent, if that is not the text: the messages of AWS's event stream.
    sent: Option<Arc<(Bytes, Arc<[usize]>)>>,
    /// The milliseconds between each piece and the one before it; empty if they are not known.
    delays: Arc<[u32]>,
    /// Whether the client left after these pieces, before the end of the stream.
    open: bool,
}

impl Frames {
    /// Iterates over the pieces.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        // The text was joined from strings and is cut where they meet, so each piece is valid UTF-8.
        self.ranges().map(|(from, to)| std::str::from_utf8(&self.text[from..to]).unwrap_or_default())
    }

    /// Iterates over the pieces as bytes that are ready to send.
    pub fn bytes(&self) -> impl Iterator<Item = Bytes> + Send + use<> {
        let Frames { text, ends, sent, .. } = self.clone();
        let (text, ends) = sent.map_or((text, ends), Arc::unwrap_or_clone);
        let mut from = 0;
        (0..ends.len()).map(move |at| text.slice(std::mem::replace(&mut from, ends[at])..ends[at]))
    }

    /// All pieces, joined as they are sent.
    pub fn text(&self) -> Bytes {
        self.sent.as_ref().map_or_else(|| self.text.clone(), |sent| sent.0.clone())
    }

    /// Whether the pieces are messages of AWS's event stream.
    pub fn is_of_aws(&self) -> bool {
        self.sent.is_some()
    }

    /// The milliseconds between each piece and the one before it: one number for each piece, or none if they are not known.
    pub fn delays(&self) -> &[u32] {
        &self.delays
    }

    /// Returns the same pieces with these delays, one for each piece. If all delays are 0, or their number is not the number of
    /// pieces, the result has no delays.
    pub fn with_delays(self, delays: &[u32]) -> Frames {
        let known = delays.len() == self.ends.len() && delays.iter().any(|delay| *delay > 0);
        Frames { delays: if known { delays.into() } else { Arc::default() }, ..self }
    }

    /// Whether the client left the stream after these pieces, so that its end was never recorded.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Returns the same pieces with [`Frames::is_open`] set to `open`.
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
        let (mut text, mut sent, mut ends_sent) = (String::new(), Vec::new(), Vec::new());
        let ends = frames.into_iter().map(|frame| {
            text.push_str(frame.as_ref());
            if let Some(message) = events::encoded(frame.as_ref()) {
                sent.extend(message);
                ends_sent.push(sent.len());
            }
            text.len()
        });
        let ends: Arc<[usize]> = ends.collect();
        let sent =
            (!ends_sent.is_empty() && ends_sent.len() == ends.len()).then(|| Arc::new((sent.into(), ends_sent.into())));
        let text = text.into_boxed_str().into_boxed_bytes().into();
        Frames { text, ends, sent, delays: Arc::default(), open: false }
    }
}

impl fmt::Debug for Frames {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests;
