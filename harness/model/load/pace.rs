//! When each piece of an answer is due, counted from the moment at which its call came.

use std::collections::HashMap;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use retake_base::lock::Mutex;
use retake_core::conversation::{Answer, Block};
use retake_core::json::Layout;
use retake_wire::fixture::Turn;
use retake_wire::{Api, Body, Response};

/// How slowly answers are sent.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    of: Of,
    /// By which part of its length a wait may be longer or shorter.
    jitter: f64,
    seed: u64,
    /// How often each turn was sent. The nth time, it gets the same waits in each run.
    sent: Arc<Mutex<HashMap<usize, u64>>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Of {
    /// At once.
    #[default]
    None,
    /// As it was recorded, and this many times as slowly.
    Recorded(f64),
    /// The first piece after this time, the others so that this many tokens come in a second; `None` if they come at once.
    Steady { first: Duration, tokens: Option<f64> },
}

impl Pace {
    /// As slowly as it was recorded.
    pub fn recorded() -> Pace {
        Pace { of: Of::Recorded(1.0), ..Pace::default() }
    }

    /// Whether answers are sent as they were recorded, so that the recording has to hold delays.
    pub fn is_recorded(&self) -> bool {
        matches!(self.of, Of::Recorded(_))
    }

    /// Returns when each piece of a response is due: each frame of a stream, or the whole of any other body. Empty if it is sent
    /// at once.
    pub(super) fn due(&self, index: usize, turn: &Turn, response: &Response) -> Vec<Duration> {
        let pieces = match &response.body {
            Body::Frames(frames) => frames.bytes().count(),
            _ => 1,
        };
        let waits: Vec<Duration> = match self.of {
            Of::None => return Vec::new(),
            Of::Recorded(factor) => {
                let recorded = turn.wire.as_ref().map(|wire| wire.response.delays_of(response)).unwrap_or_default();
                recorded.iter().map(|millis| Duration::from_millis((*millis).into()).mul_f64(factor)).collect()
            }
            Of::Steady { first, tokens: per_second } => {
                let tokens = tokens_of(turn);
                let all = per_second.map_or(Duration::ZERO, |per_second| {
                    #[expect(clippy::cast_precision_loss, reason = "nobody waits for that many tokens")]
                    Duration::try_from_secs_f64(tokens as f64 / per_second).unwrap_or(LONGEST).min(LONGEST)
                });
                match u32::try_from(pieces.saturating_sub(1)) {
                    // A body that is no stream comes when the last token would have come.
                    Ok(0) | Err(_) => vec![first + all],
                    Ok(rest) => std::iter::once(first).chain((0..rest).map(|_| all / rest)).collect(),
                }
            }
        };
        let mut draws = self.draws(index);
        let mut at = Duration::ZERO;
        let waited = waits.into_iter().map(|wait| {
            at += wait.mul_f64(1.0 + self.jitter * draws.as_mut().map_or(0.0, Draws::next));
            at
        });
        let mut due: Vec<Duration> = waited.collect();
        if !due.is_empty() {
            due.resize(pieces, at);
        }
        due
    }

    /// Begins anew with the first waits of each turn.
    pub(super) fn reset(&self) {
        self.sent.lock().clear();
    }

    /// Returns the draws for the next time that a turn is sent; `None` if its waits do not vary.
    fn draws(&self, index: usize) -> Option<Draws> {
        if self.jitter == 0.0 {
            return None;
        }
        let mut sent = self.sent.lock();
        let times = sent.entry(index).or_default();
        *times += 1;
        let mut draws = Draws(self.seed);
        draws.0 ^= draws.word().wrapping_add(index as u64);
        draws.0 ^= draws.word().wrapping_add(*times);
        Some(draws)
    }
}

/// The longest time that one answer may take.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

/// Returns how many tokens the model wrote. If the recording does not say it: a fourth of the characters. An error and an answer
/// of no chat model have none.
fn tokens_of(turn: &Turn) -> u64 {
    let no_chat = |wire: &retake_wire::fixture::Wire| wire.api == Api::Opaque || wire.response.status >= 300;
    if turn.wire.as_ref().is_some_and(no_chat) {
        return 0;
    }
    let reported = turn.output.usage.map(|usage| usage.output).filter(|tokens| *tokens > 0);
    reported.unwrap_or_else(|| (characters(&turn.output) as u64).div_ceil(4))
}

fn characters(answer: &Answer) -> usize {
    let of_block = |block: &Block| match block {
        Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text) => text.chars().count(),
        Block::ToolCall(call) => call.name.len() + call.args.print(Layout::Compact).chars().count(),
        Block::Native(native) => native.block.print(Layout::Compact).chars().count(),
    };
    answer.blocks.iter().map(of_block).sum()
}

/// Numbers that look random and follow from a seed (splitmix64).
pub(crate) struct Draws(pub(crate) u64);

impl Draws {
    pub(crate) fn word(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// Returns a number between -1 and 1.
    fn next(&mut self) -> f64 {
        f64::from(u32::try_from(self.word() >> 32).unwrap_or_default()) / f64::from(u32::MAX) * 2.0 - 1.0
    }
}

impl FromStr for Pace {
    type Err = String;

    /// Reads `none`, `recorded`, `0.5x` or `ttft=400ms,tps=60`; all but `none` can be followed by `jitter=10%` and `seed=7`.
    fn from_str(text: &str) -> Result<Pace, String> {
        let mut pace = Pace::default();
        let (mut base, mut first, mut tokens, mut jitter, mut seed) = (None, None, None, None, None);
        for part in text.split(',').map(str::trim) {
            let repeated = match part.split_once('=') {
                Some(("ttft", value)) => first.replace(duration(value)?).is_some(),
                Some(("tps", value)) => tokens.replace(positive(part, value, 1e6)?).is_some(),
                Some(("jitter", value)) => {
                    let percent = value.strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
                    let part_of = percent.filter(|of| (0.0..=100.0).contains(of)).map(|percent| percent / 100.0);
                    jitter.replace(part_of.ok_or_else(|| format!("`{part}`: write a part from 0% to 100%"))?).is_some()
                }
                Some(("seed", value)) => {
                    seed.replace(value.parse().map_err(|_| format!("`{part}`: write a whole number"))?).is_some()
                }
                Some((name, _)) => return Err(format!("`{name}` is unknown; known are ttft, tps, jitter and seed")),
                None => base.replace(of_word(part)?).is_some(),
            };
            if repeated {
                return Err(format!("`{part}` is given twice"));
            }
        }
        pace.of = match (base, first, tokens) {
            (Some(base), None, None) => base,
            (None, None, None) => return Err(KNOWN.to_owned()),
            (None, first, tokens) => Of::Steady { first: first.unwrap_or_default(), tokens },
            (Some(_), ..) => {
                return Err("answers come either as they were recorded, or with ttft and tps of their own".to_owned());
            }
        };
        if pace.of == Of::None && (jitter.is_some() || seed.is_some()) {
            return Err("with `none` there are no delays to vary: leave out jitter and seed".to_owned());
        }
        if seed.is_some() && jitter.is_none() {
            return Err("a seed has an effect only with jitter=…%".to_owned());
        }
        (pace.jitter, pace.seed) = (jitter.unwrap_or_default(), seed.unwrap_or_default());
        Ok(pace)
    }
}

const KNOWN: &str = "write recorded, none, 0.5x (half of what was recorded) or ttft=400ms,tps=60,jitter=10%";

fn of_word(word: &str) -> Result<Of, String> {
    match word {
        "none" => Ok(Of::None),
        "recorded" => Ok(Of::Recorded(1.0)),
        _ => match word.strip_suffix('x') {
            Some(factor) => positive(word, factor, 1e3).map(Of::Recorded),
            None => Err(format!("`{word}` is unknown: {KNOWN}")),
        },
    }
}

fn positive(part: &str, number: &str, most: f64) -> Result<f64, String> {
    let number = number.parse::<f64>().ok().filter(|number| *number > 0.0 && *number <= most);
    number.ok_or_else(|| format!("`{part}`: write a number above 0 and up to {most}"))
}

/// Reads a time with its unit: `400ms`, `1.5s`, `1m`.
fn duration(text: &str) -> Result<Duration, String> {
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    let seconds = match unit {
        "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        _ => f64::NAN,
    };
    let time = number.parse::<f64>().ok().and_then(|number| Duration::try_from_secs_f64(number * seconds).ok());
    time.filter(|time| *time <= LONGEST).ok_or_else(|| format!("`{text}` is not a time: write 400ms, 1.5s or 1m"))
}

#[cfg(test)]
mod tests;
