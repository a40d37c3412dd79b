//! What a recording is doing, for the person who waits: a line on a terminal while it runs, the tokens of each model after.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::conversation::Usage;
use crate::model::Tally;
use crate::text::counted;

/// A line that is redrawn in place; nothing where stderr is not a terminal.
#[derive(Clone, Debug)]
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Begins a line under a name.
    pub(crate) fn start(name: &str) -> Progress {
        // It hides itself where stderr is not a terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.set_style(
            ProgressStyle::with_template("{spinner} {prefix}: {msg}, {elapsed}")
                .unwrap_or(ProgressStyle::default_spinner()),
        );
        bar.set_prefix(name.to_owned());
        bar.set_message(state(&Tally::default()));
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Progress(bar)
    }

    /// Shows where the calls are.
    pub(crate) fn show(&self, tally: &Tally) {
        if !self.0.is_hidden() {
            self.0.set_message(state(tally));
        }
    }

    /// Prints something else while the line is there.
    pub(crate) fn beside(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// Calls, callers and tokens in one line.
fn state(tally: &Tally) -> String {
    let mut parts = vec![counted(tally.calls, "call")];
    if tally.in_flight > 0 {
        parts.push(format!("{} under way", tally.in_flight));
    }
    if !tally.callers.is_empty() {
        parts.push(tally.callers.iter().map(String::as_str).collect::<Vec<_>>().join(" "));
    }
    let tokens = tally.models.values().fold(Usage::default(), |all, of| Usage {
        input: all.input.saturating_add(of.tokens.input),
        output: all.output.saturating_add(of.tokens.output),
        ..Usage::default()
    });
    parts.push(in_and_out(tokens));
    parts.join(", ")
}

/// A line for each model: calls and tokens.
pub(crate) fn summary(tally: &Tally) -> Vec<String> {
    let line = |(model, of): (&String, &crate::model::OfModel)| {
        format!("{model}: {}, {}", counted(of.calls, "call"), in_and_out(of.tokens))
    };
    tally.models.iter().map(line).collect()
}

fn in_and_out(tokens: Usage) -> String {
    format!("{} tokens in, {} out", in_thousands(tokens.input), in_thousands(tokens.output))
}

/// `1,204`
fn in_thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests;
