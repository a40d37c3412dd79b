//! The progress of a recording: a line on a terminal while it runs, and the tokens of each model at the end.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use retake_base::text::{counted, in_thousands, printed};
use retake_core::conversation::Usage;
use retake_model::Tally;

/// A line that is redrawn in place. It is hidden if standard error is not a terminal.
#[derive(Clone, Debug)]
pub struct Progress(ProgressBar);

impl Progress {
    /// Shows a line that begins with a name.
    pub fn start(name: &str) -> Progress {
        // The bar hides itself if standard error is not a terminal.
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{spinner} {prefix}: {msg}, {elapsed}");
        bar.set_style(style.unwrap_or(ProgressStyle::default_spinner()));
        bar.set_prefix(printed(name).into_owned());
        bar.set_message(state(&Tally::default()));
        if !bar.is_hidden() {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        Progress(bar)
    }

    /// Updates the line.
    pub fn show(&self, tally: &Tally) {
        if !self.0.is_hidden() {
            self.0.set_message(state(tally));
        }
    }

    /// Hides the line while `print` prints something else.
    pub fn interrupted_by(&self, print: impl FnOnce()) {
        self.0.suspend(print);
    }

    /// Removes the line.
    pub fn end(&self) {
        self.0.finish_and_clear();
    }
}

/// The calls, callers and tokens on one line.
fn state(tally: &Tally) -> String {
    let mut parts = vec![counted(tally.calls, "call")];
    if tally.in_flight > 0 {
        parts.push(format!("{} in flight", tally.in_flight));
    }
    if !tally.callers.is_empty() {
        parts.push(tally.callers.iter().map(String::as_str).collect::<Vec<_>>().join(" "));
    }
    let tokens = tally.models.values().fold(Usage::default(), |all, of| Usage {
        input: all.input.saturating_add(of.tokens.input),
        output: all.output.saturating_add(of.tokens.output),
        ..Usage::default()
    });
    parts.extend(in_and_out(tokens));
    printed(&parts.join(", ")).into_owned()
}

/// One line for each model, with its calls and tokens.
pub fn summary(tally: &Tally) -> Vec<String> {
    let line = |(model, of): (&String, &retake_model::OfModel)| {
        let tokens = in_and_out(of.tokens).unwrap_or_else(|| "tokens not reported".to_owned());
        format!("{model}: {}, {tokens}", counted(of.calls, "call"))
    };
    tally.models.iter().map(line).collect()
}

/// The tokens, or `None` if no answer reported any: a call without tokens does not exist.
fn in_and_out(tokens: Usage) -> Option<String> {
    let any = tokens.input > 0 || tokens.output > 0;
    any.then(|| format!("{} tokens in, {} out", in_thousands(tokens.input), in_thousands(tokens.output)))
}

#[cfg(test)]
mod tests;
