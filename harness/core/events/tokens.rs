//! Numbers that are the model's: how many tokens turns of the recording took. A golden says which turns these are, so that a service
//! that adds them up otherwise is red, and a recording with other numbers changes nothing.

use super::recorded::Recorded;
use crate::mark::more_tokens;

/// What stands between the kind of tokens and the turns.
pub(super) const OF: &str = " tokens of turn";

impl Recorded {
    /// Returns of which turns that follow one another a number is the tokens: `input tokens of turns 1 to 3`. `fits` says it of a name,
    /// and of how many more these turns have in a run with more tokens. The total of a turn may be told there by itself.
    pub(super) fn tokens(&self, number: u64, fits: &dyn Fn(&str, u64) -> bool) -> Option<String> {
        for first in 0..self.used.len() {
            let (mut sums, mut more) = ([("input", 0), ("output", 0), ("all", 0_u64)], 0);
            for (last, usage) in self.used.iter().enumerate().skip(first) {
                more += more_tokens(last);
                for ((kind, sum), of) in sums.iter_mut().zip([usage.input, usage.output, usage.input + usage.output]) {
                    *sum = sum.saturating_add(of);
                    let turns = if first == last { String::new() } else { format!("s {} to", first + 1) };
                    let name = format!("{kind}{OF}{turns} {}", last + 1);
                    if *sum == number && number > 0 && fits(&name, more) {
                        return Some(name);
                    }
                }
                if sums.iter().all(|(_, sum)| *sum > number) {
                    break;
                }
            }
        }
        None
    }
}

#[cfg(test)]
mod tests;
