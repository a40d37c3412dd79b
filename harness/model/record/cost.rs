//! An estimate of what recorded calls cost.

use std::fmt;

use retake_base::text::counted;
use retake_core::conversation::Answer;
use retake_core::json::{Json, Layout};
use retake_core::key::Rules;
use retake_wire::fixture::call_log::LoggedCall;
use retake_wire::fixture::{Fixture, Recorded};

/// Roughly how many bytes make one token, used if the provider did not count tokens.
const BYTES_A_TOKEN: usize = 4;

/// A number of calls, and roughly how many tokens they cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The number of calls.
    pub calls: usize,
    /// The tokens read and written: as the provider counted them, or else estimated from the length of the texts.
    pub tokens: u64,
}

impl Cost {
    /// Adds a call that cost this many tokens.
    pub(super) fn add(&mut self, tokens: u64) {
        self.calls += 1;
        self.tokens += tokens;
    }

    /// Returns what a fixture cost when it was recorded.
    pub fn of_fixture(fixture: &Fixture, rules: &Rules) -> Cost {
        Cost::of_turns(fixture, 0, rules)
    }

    /// Returns what its turns from this one on cost.
    pub fn of_turns(fixture: &Fixture, from: usize, rules: &Rules) -> Cost {
        let mut cost = Cost::default();
        for (index, turn) in fixture.table.turns().iter().enumerate().skip(from) {
            cost.add(tokens(&turn.output, fixture.conversation(index, rules).as_deref().unwrap_or_default()));
        }
        cost
    }

    /// Returns what the turns of a journal cost.
    pub fn of_journal(turns: &[(Recorded, LoggedCall)]) -> Cost {
        let mut cost = Cost::default();
        for (call, _) in turns {
            cost.add(tokens(&call.output, &call.conversation));
        }
        cost
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.tokens == 1 { "" } else { "s" };
        write!(f, "{} and about {} token{plural}", counted(self.calls, "call"), self.tokens)
    }
}

/// Returns the tokens of an answer and of the conversation that it answers.
pub(super) fn tokens(output: &Answer, conversation: &[Json]) -> u64 {
    if let Some(usage) = output.usage {
        return usage.input + usage.output;
    }
    let read: usize = conversation.iter().map(|message| message.print(Layout::Compact).len()).sum();
    ((read + output.text().len()) / BYTES_A_TOKEN) as u64
}
