//! The lengths of the lists under one key of neighbouring events.

use std::fmt;

/// The largest number of pieces to show.
const PIECES: usize = 4;

/// Lengths in the order of the events: `3`, or `1..40` if each is one more than the last, or `1..3, 2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lengths {
    /// Pieces, as first and last length. Within a piece, each length is one more than the previous, or all are the same.
    pieces: Vec<(usize, usize)>,
    /// The smallest and the largest length of all.
    range: (usize, usize),
}

impl Lengths {
    pub(super) fn of(length: usize) -> Lengths {
        Lengths { pieces: vec![(length, length)], range: (length, length) }
    }

    pub(super) fn add(&mut self, others: &Lengths) {
        self.range = (self.range.0.min(others.range.0), self.range.1.max(others.range.1));
        for &(first, end) in &others.pieces {
            let count = self.pieces.len();
            match self.pieces.last_mut() {
                Some(last) if *last == (first, end) && first == end => {}
                Some((_, last)) if *last + 1 == first => *last = end,
                _ if count <= PIECES => self.pieces.push((first, end)),
                _ => {}
            }
        }
    }
}

impl fmt::Display for Lengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |f: &mut fmt::Formatter<'_>, (first, last): (usize, usize), dots| {
            if first == last { write!(f, "{first}") } else { write!(f, "{first}{dots}{last}") }
        };
        if self.pieces.len() > PIECES {
            return range(f, self.range, "…");
        }
        for (nth, piece) in self.pieces.iter().enumerate() {
            f.write_str(if nth == 0 { "" } else { ", " })?;
            range(f, *piece, "..")?;
        }
        Ok(())
    }
}
