//! What plays just now, for the person who waits: a line for each scenario while it plays, below what libtest prints, and the
//! slowest at the end.
//!
//! The lines stand below the cursor: whatever is printed next takes their place, and they are drawn anew below it. No line is
//! longer than the one that libtest prints of that scenario, so that nothing is left of it.

use std::io::{IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::terminal;

/// How often the lines are drawn.
const PERIOD: Duration = Duration::from_millis(200);
/// How many lines there are at most.
const LINES: usize = 8;
/// The slowest are told where more scenarios than this ran, and how many of them.
const MANY: usize = 10;
const SLOWEST: usize = 5;

/// The scenarios that play, and how long others took.
#[derive(Debug, Default)]
pub(crate) struct Running {
    state: Arc<Mutex<State>>,
    drawing: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct State {
    playing: Vec<(String, Instant)>,
    took: Vec<(String, Duration)>,
    over: bool,
}

/// A scenario that plays until this is dropped.
#[derive(Debug)]
pub(crate) struct Playing<'a>(&'a Running, String);

impl Drop for Playing<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        if let Some(at) = state.playing.iter().position(|(name, _)| *name == self.1) {
            let (name, began) = state.playing.remove(at);
            state.took.push((name, began.elapsed()));
        }
    }
}

impl Running {
    /// Begins to draw, where a person looks at a terminal.
    pub(crate) fn draw(&self) {
        let looked_at = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if !looked_at || set("CI") || std::env::var_os("TERM").is_none_or(|term| term == "dumb") {
            return;
        }
        let state = self.state.clone();
        let drawing = std::thread::spawn(move || {
            loop {
                {
                    let state = state.lock().unwrap_or_else(PoisonError::into_inner);
                    let lines = if state.over { Vec::new() } else { lines(&state.playing, Instant::now()) };
                    let mut out = std::io::stderr().lock();
                    let _ = out.write_all(drawn(&lines).as_bytes()).and_then(|()| out.flush());
                    if state.over {
                        return;
                    }
                }
                std::thread::park_timeout(PERIOD);
            }
        });
        *self.drawing.lock().unwrap_or_else(PoisonError::into_inner) = Some(drawing);
    }

    /// Notes that a scenario plays.
    pub(crate) fn begin(&self, name: &str) -> Playing<'_> {
        self.state().playing.push((name.to_owned(), Instant::now()));
        Playing(self, name.to_owned())
    }

    /// Takes the lines away, and says which scenarios were slowest, where `told` and many ran.
    pub(crate) fn end(&self, told: bool) {
        self.state().over = true;
        if let Some(drawing) = self.drawing.lock().unwrap_or_else(PoisonError::into_inner).take() {
            drawing.thread().unpark();
            let _ = drawing.join();
        }
        if let Some(slowest) = slowest(&self.state().took).filter(|_| told) {
            terminal::note(slowest);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A line for each that plays, the longest first.
fn lines(playing: &[(String, Instant)], now: Instant) -> Vec<String> {
    let line = |(name, began): &(String, Instant)| {
        format!("  {name} {} s", now.saturating_duration_since(*began).as_secs().min(9_999))
    };
    let mut lines: Vec<String> = playing.iter().take(LINES).map(line).collect();
    if playing.len() > LINES {
        lines.push(format!("  … {} more", playing.len() - LINES));
    }
    lines
}

/// What draws lines below the cursor and leaves it where it was: all below is cleared first.
fn drawn(lines: &[String]) -> String {
    let back = if lines.is_empty() { String::new() } else { format!("\u{1b}[{}A\r", lines.len()) };
    let ended: Vec<&str> = lines.iter().flat_map(|line| [line.as_str(), "\r\n"]).collect();
    format!("\r\u{1b}[J{}{back}", ended.concat())
}

/// The slowest of many scenarios, in a line.
fn slowest(took: &[(String, Duration)]) -> Option<String> {
    if took.len() <= MANY {
        return None;
    }
    let mut slowest: Vec<&(String, Duration)> = took.iter().collect();
    slowest.sort_by(|(a, took), (b, other)| other.cmp(took).then(a.cmp(b)));
    let told = |(name, took): &&(String, Duration)| format!("{name} {:.1} s", took.as_secs_f64());
    Some(format!("slowest: {}", slowest.iter().take(SLOWEST).map(told).collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests;
