//! What model calls cost: for each caller how many there are, how much they read and write, and how much of them a provider's cache
//! could keep. Pure.
//!
//! A cache keeps the beginning of a request, so a request is read in the order in which providers do: tools, system, messages. What
//! equals an earlier call of the caller costs a tenth; the first byte that differs ends it. Such a byte may be the same in one run,
//! as a clock is: a second run, whose clock is another, shows it.

mod line;
mod request;

use serde::{Deserialize, Serialize};

pub use line::{HEAD, differences, in_money};
pub use request::{ORDER, Request};

use crate::days::Days;
use request::Parting;

/// A model call as it was sent, and what the recording says of its turn.
#[derive(Clone, Debug)]
pub struct SentCall {
    /// Who makes it, in words between which one space stands.
    pub caller: String,
    /// The index of the turn that answered it.
    pub turn: usize,
    pub request: Request,
    /// How many tokens it has by the recorded usage; `None` if nobody counted them.
    pub input: Option<u64>,
    /// How many tokens its answer has.
    pub output: u64,
}

/// What the calls of a caller cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "CostData"))]
pub struct CallerCost {
    /// The caller.
    pub caller: String,
    /// The number of its calls.
    pub calls: usize,
    /// How many bytes they say.
    pub bytes: usize,
    /// The tokens that they read, estimated by the recorded usage.
    pub input: u64,
    /// The tokens that they write.
    pub output: u64,
    /// How much of each call but the first equals the beginning of an earlier one, in percent; absent if there is one call only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<u64>,
    /// Where that beginning ends, as a pointer into the request; absent if it goes on to the end of an earlier call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ends: Option<String>,
    /// Whether it ends there because it differs from run to run.
    pub varies: bool,
    /// The same in words, with what stands there in the earlier and in the later call.
    pub words: String,
    /// What the calls cost by the suite's prices, if the prefix is in the provider's cache; absent if a model has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<f64>,
    /// Where the service marks what may be kept: the number of calls that do, and the first place.
    #[serde(skip)]
    pub marks: Option<(usize, String)>,
}

/// The tokens of what had so many when it was longer by some bytes, or shorter. What a provider adds by itself, such as a tool of its
/// own, does not grow with a text, so only the difference is estimated: four bytes of text are a token, where no usage tells.
pub fn tokens_after(tokens: u64, grown: isize) -> u64 {
    tokens.saturating_add_signed((grown / 4) as i64)
}

/// The calls of another run, and the days by which its clock is moved.
pub type Again = (Vec<SentCall>, Days);

/// What calls cost, by caller. `known` is what a golden says: how many tokens so many bytes are, since a fixture does not know all that was
/// sent, and what varies, which is not tried again.
pub fn measured(mut calls: Vec<SentCall>, again: Option<&Again>, known: &[CallerCost]) -> Vec<CallerCost> {
    calls.sort_by(|one, other| (&one.caller, one.turn).cmp(&(&other.caller, other.turn)));
    calls.chunk_by(|one, other| one.caller == other.caller).map(|calls| of_caller(calls, again, known)).collect()
}

fn of_caller(calls: &[SentCall], again: Option<&Again>, known: &[CallerCost]) -> CallerCost {
    let marked: Vec<_> = calls.iter().filter_map(|call| call.request.marks.first()).collect();
    let mut cost = CallerCost { caller: calls[0].caller.clone(), calls: calls.len(), ..CallerCost::default() };
    let (mut kept, mut of, mut ends) = (0, 0, None::<Parting>);
    for (nth, call) in calls.iter().enumerate() {
        let bytes = call.request.bytes;
        cost.bytes += bytes;
        cost.input += call.input.unwrap_or(tokens_after(0, bytes.cast_signed()));
        cost.output += call.output;
        let earlier = calls[..nth].iter().map(|earlier| earlier.request.parting(&call.request, !marked.is_empty()));
        let most = earlier.max_by_key(|parting| parting.bytes);
        let moved = again.and_then(|(again, days)| {
            call.request.varied(&again.iter().find(|other| other.turn == call.turn)?.request, days)
        });
        cost.varies |= moved.is_some();
        // What one call alone could keep, only another run tells.
        if nth > 0 || (calls.len() == 1 && moved.is_some()) {
            kept += most.iter().chain(&moved).map(|parting| parting.kept).min().unwrap_or_default();
            of += bytes;
        }
        let found = ends.into_iter().chain(most).chain(moved).filter(|parting| parting.pointer.is_some());
        ends = found.min_by_key(|parting| parting.bytes);
    }
    let ends = ends.unwrap_or_default();
    cost.prefix = (kept * 100).checked_div(of).map(|percent| percent as u64);
    cost.ends = ends.pointer;
    cost.marks = marked.first().map(|first| (marked.len(), first.1.clone()));
    if let Some(was) = known.iter().find(|was| was.caller == cost.caller) {
        cost.input = tokens_after(was.input, cost.bytes.cast_signed() - was.bytes.cast_signed());
        if was.varies && again.is_none() {
            (cost.prefix, cost.ends, cost.varies) = (was.prefix, was.ends.clone(), true);
        }
    }
    cost.words = cost.in_words(&ends.texts);
    cost
}

#[cfg(test)]
mod tests;
