//! Shows which scenarios are running: a line for each one below libtest's output, and the slowest scenarios at the end.
//!
//! The lines are below the cursor, so the next output overwrites them, and they are drawn again below it. No line is longer than
//! the one that libtest prints for that scenario, so no part of it remains visible.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::terminal;
use retake_base::lock::Mutex;
use retake_model::threads;

/// The time between two updates.
const PERIOD: Duration = Duration::from_millis(200);
/// The most lines.
const LINES: usize = 8;
/// The slowest scenarios are printed only if more than this many ran.
const MANY: usize = 10;
/// How many of the slowest scenarios are printed.
const SLOWEST: usize = 5;

/// The running scenarios, and how long the others took.
#[derive(Debug, Default)]
pub struct Running {
    state: Arc<Mutex<State>>,
    drawing: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct State {
    playing: Vec<(String, Instant)>,
    took: Vec<(String, Duration)>,
    over: bool,
}

/// A running scenario. Dropping this marks its end.
#[derive(Debug)]
pub struct Playing<'a>(&'a Running, String);

impl Drop for Playing<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock();
        if let Some(at) = state.playing.iter().position(|(name, _)| *name == self.1) {
            let (name, began) = state.playing.remove(at);
            state.took.push((name, began.elapsed()));
        }
    }
}

impl Running {
    /// Starts drawing, if the output goes to a terminal.
    pub fn draw(&self) {
        let is_terminal = std::io::stderr().is_terminal() && std::io::stdout().is_terminal();
        if !is_terminal || retake_base::env::in_ci() || std::env::var_os("TERM").is_none_or(|term| term == "dumb") {
            return;
        }
        let state = self.state.clone();
        let drawing = std::thread::spawn(move || {
            threads::this_is_own();
            loop {
                {
                    let state = state.lock();
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
        *self.drawing.lock() = Some(drawing);
    }

    /// Marks a scenario as running until the returned value is dropped.
    pub fn begin(&self, name: &str) -> Playing<'_> {
        self.state.lock().playing.push((name.to_owned(), Instant::now()));
        Playing(self, name.to_owned())
    }

    /// Removes the lines. With `print_slowest`, prints the slowest scenarios if many ran.
    pub fn end(&self, print_slowest: bool) {
        self.state.lock().over = true;
        if let Some(drawing) = self.drawing.lock().take() {
            drawing.thread().unpark();
            let _ = drawing.join();
        }
        if let Some(slowest) = slowest(&self.state.lock().took).filter(|_| print_slowest) {
            terminal::note(slowest);
        }
    }
}

/// One line for each running scenario, the one that has run longest first.
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

/// The output that clears everything below the cursor, draws the lines there, and moves the cursor back.
fn drawn(lines: &[String]) -> String {
    let back = if lines.is_empty() { String::new() } else { format!("\u{1b}[{}A\r", lines.len()) };
    let ended: Vec<&str> = lines.iter().flat_map(|line| [line.as_str(), "\r\n"]).collect();
    format!("\r\u{1b}[J{}{back}", ended.concat())
}

/// The slowest scenarios on one line; `None` if not many ran.
fn slowest(took: &[(String, Duration)]) -> Option<String> {
    if took.len() <= MANY {
        return None;
    }
    let mut slowest: Vec<&(String, Duration)> = took.iter().collect();
    slowest.sort_by(|(a, took), (b, other)| other.cmp(took).then(a.cmp(b)));
    let text = |(name, took): &&(String, Duration)| format!("{name} {:.1} s", took.as_secs_f64());
    Some(format!("slowest: {}", slowest.iter().take(SLOWEST).map(text).collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests;
