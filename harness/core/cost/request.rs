//! A request in the order in which a provider reads it, and where two of them part.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::value::RawValue;

use crate::days::{Days, Which};
use retake_base::text::apart;

/// Where the parts of a request to a provider stand, in the order in which it reads them. What stands nowhere here is not read.
pub const ORDER: [&[&str]; 5] = [
    &["/model"],
    &["/tools", "/functions", "/toolConfig"],
    &["/response_format", "/output_config", "/output_format", "/generationConfig/response", "/text/format"],
    &["/system", "/instructions"],
    &["/messages", "/input", "/contents"],
];
/// What comes after these: the messages from the model's first one on.
const LATE: usize = ORDER.len();
/// Keys that mark what may be kept. They are no part of what the model reads, and agents move them from message to message.
const MARKS: [&str; 2] = ["/cache_control", "/cachePoint"];
/// What a text has or lacks, depending on whether it is written as a list of blocks: keys, and the types of blocks.
const OF_FORM: [&str; 3] = ["content", "text", "parts"];
const TYPES_OF_TEXT: [&str; 3] = ["text", "input_text", "output_text"];
/// Where signatures and pictures stand.
const SEALED: [&str; 5] = ["/signature", "/thoughtSignature", "/thought_signature", "/encrypted_content", "/data"];
/// What a message of the model has.
const OF_MODEL: [(&str, &str); 4] =
    [("role", "assistant"), ("role", "model"), ("type", "reasoning"), ("type", "function_call")];
/// How many characters are shown of each text.
const SHOWN: usize = 40;

/// What a request says, in the order in which a provider reads it.
#[derive(Clone, Debug)]
pub struct Request {
    /// The size of what it says.
    pub bytes: usize,
    /// Keys, and values that are neither objects nor lists, each with its place.
    parts: Vec<(String, String)>,
    /// How many parts come before the end of each place that is marked, and the place.
    pub(super) marks: BTreeSet<(usize, String)>,
    /// How many bytes come before the model's first message.
    early: usize,
}

/// Where a request no longer says what another one said.
#[derive(Clone, Debug, Default)]
pub(super) struct Parting {
    /// How many bytes are the same.
    pub(super) bytes: usize,
    /// How many of these a cache keeps.
    pub(super) kept: usize,
    /// The place; `None` if the request goes on where the other one ends.
    pub(super) pointer: Option<String>,
    pub(super) texts: (String, String),
}

impl Request {
    /// Reads the body of a request, whose model, tools, formats, prompt and messages stand at these places. `named` puts the names of a
    /// run's places into a text.
    pub fn read(order: &[&[impl AsRef<str>]; 5], body: &[u8], named: &dyn Fn(&str) -> String) -> Request {
        let (mut ranks, mut marks, mut late) = (<[Vec<_>; LATE + 1]>::default(), BTreeSet::new(), false);
        each_value(std::str::from_utf8(body).unwrap_or_default(), "", &mut |pointer, text| {
            let mark = MARKS.iter().find_map(|mark| pointer.find(mark));
            let rank = order.iter().position(|places| places.iter().any(|place| pointer.starts_with(place.as_ref())));
            let rank = rank.or(mark.and(Some(LATE)));
            let (Some(rank), Some((_, key))) = (rank, pointer.rsplit_once('/')) else { return };
            late |= rank == LATE - 1 && OF_MODEL.contains(&(key, text));
            let rank = rank + usize::from(late && rank == LATE - 1);
            if let Some(mark) = mark {
                marks.insert((rank, ranks[rank].len(), pointer[..mark.max(1)].to_owned()));
            } else if key != "type" || !TYPES_OF_TEXT.contains(&text) {
                let says_no_more = OF_FORM.contains(&key) || key.bytes().all(|c| c.is_ascii_digit());
                let said = [if says_no_more { String::new() } else { key.to_owned() }, named(text)];
                ranks[rank].extend(said.into_iter().filter(|it| !it.is_empty()).map(|it| (pointer.to_owned(), it)));
            }
        });
        let before = |rank: usize| ranks[..rank].iter().map(Vec::len).sum::<usize>();
        let marks = marks.into_iter().map(|(rank, nth, place)| (before(rank) + nth, place)).collect();
        let parts = ranks.concat();
        Request { bytes: bytes(&parts), marks, early: bytes(&parts[..before(LATE)]), parts }
    }

    /// Where another request parts from this earlier one. Where the service marks what may be kept, no more than that is.
    pub(super) fn parting(&self, other: &Request, is_marked: bool) -> Parting {
        let same = self.parts.iter().zip(&other.parts).take_while(|(was, is)| was.1 == is.1).count();
        let (was, is) = (self.parts.get(same), other.parts.get(same));
        let [before, after] = [was, is].map(|part| part.map_or("", |(_, text)| text));
        let shared = before.bytes().zip(after.bytes()).take_while(|(a, b)| a == b).count();
        let bytes_of = |parts: usize| bytes(&self.parts[..parts]);
        let bytes = bytes_of(same) + was.map_or(0, |was| shared.min(bytes(std::slice::from_ref(was))));
        let marks = self.marks.iter().map(|(at, _)| *at).filter(|at| *at <= same && !other.marks.is_empty());
        let kept = if is_marked { marks.max().map(bytes_of).unwrap_or_default() } else { bytes };
        Parting { bytes, kept, pointer: was.map(|was| is.unwrap_or(was).0.clone()), texts: apart(before, after, SHOWN) }
    }

    /// Where the same call of another run differs before the model's first message, whatever day it is there. What comes later is
    /// what tools have said: it is new in each conversation.
    pub(super) fn varied(&self, other: &Request, days: &Days) -> Option<Parting> {
        let is_early = |parting: &Parting| parting.bytes < self.early && parting.pointer.is_some();
        let plain = Some(self.parting(other, false)).filter(is_early)?;
        let by_day = days.by_each_clock().map(|day| {
            let mut back = other.clone();
            back.parts.iter_mut().for_each(|(_, text)| *text = day.put_back(text, Which::All));
            self.parting(&back, false)
        });
        by_day.chain([plain]).max_by_key(|parting| parting.bytes).filter(is_early)
    }
}

/// Calls `found` with each value of a JSON text and its pointer, in the order in which they are written, but with a mark after what it
/// marks. An object or a list is an empty text, and comes before what is in it.
fn each_value(text: &str, at: &str, found: &mut dyn FnMut(&str, &str)) {
    let list = serde_json::from_str::<Vec<&RawValue>>(text);
    let list = list.map(|list| (0..).map(|nth: usize| nth.to_string()).zip(list).collect::<Vec<_>>());
    let object = serde_json::from_str::<BTreeMap<String, &RawValue>>(text);
    let Ok(mut below) = list.or(object.map(|object| object.into_iter().collect())) else {
        return found(at, serde_json::from_str::<String>(text).as_deref().unwrap_or(text));
    };
    // All of them are parts of one text.
    below.sort_by_key(|(key, value)| (MARKS.contains(&&*format!("/{key}")), value.get().as_ptr()));
    found(at, "");
    for (key, value) in below {
        each_value(value.get(), &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found);
    }
}

/// How many bytes parts have. Signatures and pictures are no text: how many tokens they are does not depend on their length.
fn bytes(parts: &[(String, String)]) -> usize {
    let is_sealed = |at: &str, text: &str| SEALED.iter().any(|key| at.ends_with(key)) || text.starts_with("data:");
    parts.iter().map(|(place, text)| if is_sealed(place, text) { 0 } else { text.len() }).sum()
}
