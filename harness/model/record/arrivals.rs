//! Notes when the bytes of an answer arrive, to compute the delays of its frames.

use tokio::time::Instant;

use axum::body::Bytes;
use retake_wire::Frames;

/// Delays are rounded down to multiples of this many milliseconds. Shorter differences mean nothing, and would change a fixture
/// each time it is recorded.
const STEP: u32 = 10;

/// The times at which the bytes of an answer arrived.
pub(super) struct Arrivals {
    began: Instant,
    /// The number of bytes that had arrived, and the number of steps since the beginning.
    came: Vec<(usize, u32)>,
}

impl Arrivals {
    /// Starts to count now.
    pub(super) fn begin() -> Arrivals {
        Arrivals { began: Instant::now(), came: Vec::new() }
    }

    /// Notes how many bytes have arrived by now.
    pub(super) fn note(&mut self, bytes: usize) {
        let steps = self.began.elapsed().as_millis() / u128::from(STEP);
        // The number of steps overflows only if an answer takes longer than a year.
        self.at(bytes, u32::try_from(steps).unwrap_or(u32::MAX / STEP));
    }

    fn at(&mut self, bytes: usize, steps: u32) {
        match self.came.last_mut() {
            Some(last) if last.1 == steps => last.0 = bytes,
            _ => self.came.push((bytes, steps)),
        }
    }

    /// Returns after how many milliseconds the last bytes arrived.
    pub(super) fn whole(&self) -> u32 {
        self.came.last().map_or(0, |(_, steps)| steps * STEP)
    }

    /// Returns for each frame how many milliseconds after the previous frame it was complete; for the first one, after the
    /// beginning.
    pub(super) fn delays(&self, frames: &Frames) -> Vec<u32> {
        let (mut end, mut before) = (0, 0);
        let mut came = self.came.iter().peekable();
        let delay = |frame: Bytes| {
            end += frame.len();
            while came.next_if(|(bytes, _)| *bytes < end).is_some() {}
            let steps = came.peek().map_or(before, |(_, steps)| *steps);
            (steps - std::mem::replace(&mut before, steps)) * STEP
        };
        frames.bytes().map(delay).collect()
    }
}

#[cfg(test)]
mod tests;
