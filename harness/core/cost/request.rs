//! A request in the order in which a provider reads it, and where two of them part.

use crate::days::Days;
use crate::json::{Json, Layout, each_value};
use retake_base::text::apart;

/// Where a request's parts stand, in the order in which providers read them. What stands nowhere here is not read.
const ORDER: [&[&str]; 5] = [
    &["/model"],
    &["/tools", "/functions", "/toolConfig"],
    &["/response_format", "/output_config", "/output_format", "/generationConfig/response", "/text/format"],
    &["/system", "/instructions"],
    &["/messages", "/input", "/contents"],
];
/// Keys that mark what may be kept. They are no part of what the model reads, and agents move them from message to message.
const MARKS: [&str; 2] = ["cache_control", "cachePoint"];
/// Keys that a text has or lacks, depending on whether it is written as a list of blocks.
const OF_FORM: [&str; 3] = ["content", "text", "parts"];
/// Keys of what is no text: signatures and pictures. How many tokens these are does not depend on their length.
const SEALED: [&str; 5] = ["signature", "thoughtSignature", "thought_signature", "encrypted_content", "data"];
/// How many characters are shown of each text.
const SHOWN: usize = 40;

/// What a request says, in the order in which a provider reads it.
#[derive(Clone, Debug, Default)]
pub struct Request {
    parts: Vec<Part>,
    /// The places that are marked, and how many bytes come before the end of each.
    marks: Vec<(String, usize)>,
    /// How many bytes come before the model's first message.
    head: usize,
}

/// A key, or a value that is neither an object nor a list.
#[derive(Clone, Debug)]
struct Part {
    rank: usize,
    pointer: String,
    key: String,
    text: String,
    /// How many bytes the request has up to its end.
    ends: usize,
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
    /// Reads the body of a request. `named` puts the names of a run's places into a text.
    pub fn read(body: &[u8], named: &dyn Fn(&str) -> String) -> Request {
        Request::read_in(&ORDER, body, named)
    }

    /// The same for an API whose model, tools, formats, prompt and messages stand at these places.
    pub fn read_in(order: &[&[impl AsRef<str>]; 5], body: &[u8], named: &dyn Fn(&str) -> String) -> Request {
        let (mut parts, mut marked) = (Vec::new(), Vec::new());
        each_value(body, &mut |pointer, value| {
            if let Some(mark) = MARKS.iter().find_map(|mark| pointer.find(&format!("/{mark}"))) {
                marked.push(pointer[..mark].to_owned());
                return;
            }
            let rank = order.iter().position(|places| places.iter().any(|place| pointer.starts_with(place.as_ref())));
            let Some(rank) = rank else { return };
            let key = pointer.rsplit('/').next().unwrap_or_default();
            let says_no_more = OF_FORM.contains(&key) || key.bytes().all(|c| c.is_ascii_digit());
            let key = if says_no_more { "" } else { key };
            let text = match value {
                Some(Json::Str(text)) => named(text),
                Some(value) => value.print(Layout::Compact),
                None => String::new(),
            };
            let is_of_form = key == "type" && ["text", "input_text", "output_text"].contains(&&*text);
            let says_nothing = key.is_empty() && text.is_empty();
            if !is_of_form && !says_nothing {
                let (pointer, key) = (pointer.replace(", ", ",_"), key.to_owned());
                parts.push(Part { rank, pointer, key, text, ends: 0 });
            }
        });
        parts.sort_by_key(|part| part.rank);
        let mut bytes = 0;
        for part in &mut parts {
            let is_sealed = SEALED.contains(&&*part.key) || part.text.starts_with("data:");
            bytes += part.key.len() + if is_sealed { 0 } else { part.text.len() };
            part.ends = bytes;
        }
        marked.dedup();
        let end_of = |place: &String| {
            let within = |part: &&Part| part.pointer.strip_prefix(&**place).is_some_and(|rest| rest.starts_with('/'));
            parts.iter().rfind(within).map(|part| (place.clone(), part.ends))
        };
        let mut marks: Vec<(String, usize)> = marked.iter().filter_map(end_of).collect();
        marks.sort_by_key(|(_, at)| *at);
        let head = head(&parts).unwrap_or(bytes);
        Request { parts, marks, head }
    }

    /// The size of what the request says.
    pub fn bytes(&self) -> usize {
        self.parts.last().map_or(0, |part| part.ends)
    }

    /// The first place that is marked.
    pub(super) fn first_mark(&self) -> Option<&str> {
        self.marks.first().map(|(place, _)| if place.is_empty() { "/" } else { place.as_str() })
    }

    /// Where a later request parts from this one. Where the service marks what may be kept, no more than that is.
    pub(super) fn parted(&self, later: &Request, is_marked: bool) -> Parting {
        let mut parting = self.parting(later);
        if is_marked {
            let kept = self.marks.iter().map(|(_, at)| *at).filter(|at| *at <= parting.bytes).max();
            parting.kept = kept.filter(|_| !later.marks.is_empty()).unwrap_or_default();
        }
        parting
    }

    /// Where the same call of another run differs before the model's first message, whatever day it is there. What comes later is
    /// what tools have said: it is new in each conversation.
    pub(super) fn varied(&self, other: &Request, days: &Days) -> Option<Parting> {
        let is_early = |parting: &Parting| parting.bytes < self.head && parting.pointer.is_some();
        let plain = Some(self.parting(other)).filter(is_early)?;
        let by_day = days.by_each_clock().map(|day| {
            let mut back = other.clone();
            back.parts.iter_mut().for_each(|part| part.text = day.put_back(&part.text));
            self.parting(&back)
        });
        by_day.chain([plain]).max_by_key(|parting| parting.bytes).filter(is_early)
    }

    fn parting(&self, other: &Request) -> Parting {
        let is_same = |(a, b): &(&Part, &Part)| a.key == b.key && a.text == b.text;
        let same = self.parts.iter().zip(&other.parts).take_while(is_same).count();
        let bytes = same.checked_sub(1).map_or(0, |last| self.parts[last].ends);
        let Some(was) = self.parts.get(same) else { return Parting { bytes, kept: bytes, ..Parting::default() } };
        let is = other.parts.get(same);
        let text = is.filter(|is| is.key == was.key).map(|is| &*is.text).unwrap_or_default();
        let shared = was.text.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        let shown = |part: &Part| if part.text.is_empty() { part.key.clone() } else { part.text.clone() };
        let texts = apart(&shown(was), &is.map(shown).unwrap_or_default(), SHOWN);
        let bytes = (bytes + shared).min(was.ends);
        Parting { bytes, kept: bytes, pointer: Some(is.unwrap_or(was).pointer.clone()), texts }
    }
}

/// The number of bytes before the first message of the model.
fn head(parts: &[Part]) -> Option<usize> {
    let is_of_model = |part: &&Part| match &*part.key {
        "role" => ["assistant", "model"].contains(&&*part.text),
        "type" => ["reasoning", "function_call"].contains(&&*part.text),
        _ => false,
    };
    let of_model = parts.iter().filter(|part| part.rank == 4).find(is_of_model)?;
    let message = &of_model.pointer[..=of_model.pointer.rfind('/')?];
    let before = parts.iter().take_while(|part| !part.pointer.starts_with(message)).last();
    Some(before.map_or(0, |part| part.ends))
}
