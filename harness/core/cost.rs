//! What model calls cost: for each caller how many there are, how much they read and write, and how much of them a provider's cache
//! could keep. Pure.
//!
//! A cache keeps the beginning of a request, so a request is read in the order in which providers do: tools, system, messages. What
//! equals an earlier call of the caller costs a tenth; the first byte that differs ends it. Such a byte may be the same in one run,
//! as a clock is: a second run, whose clock is another, shows it.

mod line;
mod request;

use std::collections::BTreeMap;

pub use line::differences;
pub use request::Request;

use crate::days::Days;
use request::Parting;

/// A model call as it was sent, and what the recording says of its turn.
#[derive(Clone, Debug)]
pub struct SentCall {
    pub caller: String,
    /// The index of the turn that answered it.
    pub turn: usize,
    pub request: Request,
    /// How many tokens it has by the recorded usage; `None` if nobody counted them.
    pub input: Option<u64>,
    /// How many tokens its answer has.
    pub output: u64,
}

/// What the calls of one caller cost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallerCost {
    pub caller: String,
    pub calls: usize,
    /// The size of what the calls say, after the places of the run have their names.
    pub bytes: usize,
    /// The tokens that the calls read, estimated.
    pub input: u64,
    /// The tokens that they write.
    pub output: u64,
    /// How much of each call but the first equals the beginning of an earlier one, in percent. `None` where there is one call only.
    pub prefix: Option<u64>,
    /// Where it ends, if it does not go on to the end of an earlier call.
    pub ends: Option<String>,
    /// Whether it ends there because the same call of another run differs.
    pub varies: bool,
    /// Where the service marks what may be kept: the number of calls that do, and the first place.
    pub marks: Option<(usize, String)>,
    /// What stands in the earlier and in the later call where the prefix ends. No golden holds this.
    pub texts: (String, String),
}

/// How many bytes of text are a token, where no usage tells.
const BYTES_OF_A_TOKEN: isize = 4;

/// The tokens of what had so many when it was longer by some bytes, or shorter. What a provider adds by itself, such as a tool of its
/// own, does not grow with a text, so only the difference is estimated.
pub fn tokens_after(tokens: u64, grown: isize) -> u64 {
    tokens.saturating_add_signed((grown / BYTES_OF_A_TOKEN) as i64)
}

/// What calls cost, by caller. `again` has calls of another run, whose day is moved by `days`.
pub fn measured(mut calls: Vec<SentCall>, again: &[SentCall], days: &Days) -> Vec<CallerCost> {
    calls.sort_by_key(|call| call.turn);
    let mut callers: BTreeMap<&str, Vec<&SentCall>> = BTreeMap::new();
    for call in &calls {
        callers.entry(&call.caller).or_default().push(call);
    }
    callers.into_iter().map(|(caller, calls)| of_caller(caller, &calls, again, days)).collect()
}

fn of_caller(caller: &str, calls: &[&SentCall], again: &[SentCall], days: &Days) -> CallerCost {
    let is_marked = calls.iter().any(|call| call.request.first_mark().is_some());
    let (mut kept, mut of) = (0, 0);
    let mut ends: Option<Parting> = None;
    let mut varies = false;
    for (nth, call) in calls.iter().enumerate() {
        let earlier = calls[..nth].iter().map(|earlier| earlier.request.parted(&call.request, is_marked));
        let most = earlier.max_by_key(|parting| parting.bytes);
        let other = again.iter().find(|other| other.turn == call.turn);
        let moved = other.and_then(|other| call.request.varied(&other.request, days));
        // What one call alone could keep, only another run tells.
        if nth > 0 || (calls.len() == 1 && moved.is_some()) {
            let bytes = most.iter().map(|parting| parting.kept).chain(moved.iter().map(|parting| parting.bytes)).min();
            (kept, of) = (kept + bytes.unwrap_or_default(), of + call.request.bytes());
        }
        varies |= moved.is_some();
        let found = most.into_iter().chain(moved).filter(|parting| parting.pointer.is_some());
        ends = ends.into_iter().chain(found).min_by_key(|parting| parting.bytes);
    }
    let bytes = calls.iter().map(|call| call.request.bytes()).sum();
    let marked: Vec<&str> = calls.iter().filter_map(|call| call.request.first_mark()).collect();
    let Parting { pointer, texts, .. } = ends.unwrap_or_default();
    CallerCost {
        caller: caller.split_whitespace().collect::<Vec<_>>().join(" "),
        calls: calls.len(),
        bytes,
        input: calls.iter().map(|call| call.input.unwrap_or(tokens_after(0, call.request.bytes().cast_signed()))).sum(),
        output: calls.iter().map(|call| call.output).sum(),
        prefix: (kept * 100).checked_div(of).map(|percent| percent as u64),
        ends: pointer,
        varies,
        marks: marked.first().map(|first| (marked.len(), (*first).to_owned())),
        texts,
    }
}

#[cfg(test)]
mod tests;
