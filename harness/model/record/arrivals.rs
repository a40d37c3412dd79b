//! When the bytes of an answer came: from it the delays of its frames are known.

use tokio::time::Instant;

use crate::wire::Frames;

/// In what steps delays are kept, in milliseconds. What is shorter is nobody's intent, and would make a fixture another one
/// each time that it is recorded.
const STEP: u32 = 10;

/// When the bytes of an answer came.
pub(super) struct Arrivals {
    began: Instant,
    /// How many bytes had come, and how many steps after the beginning that was.
    came: Vec<(usize, u32)>,
}

impl Arrivals {
    /// An answer that begins now.
    pub(super) fn begin() -> Arrivals {
        Arrivals { began: Instant::now(), came: Vec::new() }
    }

    /// Notes how many bytes have come by now.
    pub(super) fn note(&mut self, bytes: usize) {
        let steps = self.began.elapsed().as_millis() / u128::from(STEP);
        // A number that is too large is of an answer that took longer than a year.
        self.at(bytes, u32::try_from(steps).unwrap_or(u32::MAX / STEP));
    }

    fn at(&mut self, bytes: usize, steps: u32) {
        match self.came.last_mut() {
            Some(last) if last.1 == steps => last.0 = bytes,
            _ => self.came.push((bytes, steps)),
        }
    }

    /// How long after the frame before it each frame was whole, in milliseconds.
    pub(super) fn delays(&self, frames: &Frames) -> Vec<u32> {
        let (mut end, mut before) = (0, 0);
        let mut came = self.came.iter().peekable();
        let delay = |frame: &str| {
            end += frame.len();
            while came.next_if(|(bytes, _)| *bytes < end).is_some() {}
            let steps = came.peek().map_or(before, |(_, steps)| *steps);
            (steps - std::mem::replace(&mut before, steps)) * STEP
        };
        frames.iter().map(delay).collect()
    }
}

#[cfg(test)]
mod tests;
