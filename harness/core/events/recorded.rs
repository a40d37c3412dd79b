//! The texts that the model gave in a recording, and how much of a text they explain. White space does not count, since
//! services trim texts and print arguments again.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;

use super::notation::{hash, name, pointer_token};
use crate::conversation::{Answer, Block, Usage};
use crate::json::{Json, Layout};

/// The fewest characters of a recorded text that is looked for inside longer texts: shorter ones are in many texts by chance.
const LONG_ENOUGH: usize = 4;

/// A text of a turn's answer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Source {
    /// Counted from 1.
    pub(super) turn: usize,
    /// Which of the turn's texts it is, as it is written; empty if it is all that the model said.
    pub(super) part: String,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "turn {}", self.turn)?;
        if self.part.is_empty() { Ok(()) } else { write!(f, "'s {}", self.part) }
    }
}

/// The texts, the reasoning and the arguments of tool calls in recorded answers.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Without white space, the longest first.
    texts: Vec<String>,
    /// The strings inside of arguments, without white space.
    parsed: Vec<String>,
    /// The number of all their bytes.
    size: usize,
    /// What the model said in each turn, as it said it.
    pub(super) said: Vec<(Source, String)>,
    /// The tokens of each turn.
    pub(super) used: Vec<Usage>,
    /// The ids of the answers and of their tool calls.
    pub(super) ids: BTreeSet<String>,
    /// The turns that broke off after a text.
    pub(super) broken_off: BTreeSet<usize>,
    /// The same answers as they are stored, if a run served them with values of its own.
    stored: Option<Box<Recorded>>,
}

/// How much of a text is recorded, in bytes without white space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Cover {
    /// What consists of whole recorded texts.
    pub(super) whole: usize,
    /// What is a part of a recorded text.
    pub(super) part: usize,
    /// The size of that recorded text.
    pub(super) part_of: usize,
    /// The size of the text.
    pub(super) all: usize,
}

impl Cover {
    /// How much of the text is recorded.
    pub(super) fn known(&self) -> usize {
        self.whole + self.part
    }

    /// Whether all of the text is recorded.
    pub(super) fn is_all(&self) -> bool {
        self.all > 0 && self.known() == self.all
    }
}

impl Recorded {
    /// Whether a text is a piece of what the model said.
    pub(super) fn has_piece(&self, piece: &str) -> bool {
        self.said.iter().any(|(_, said)| said.contains(piece))
    }

    /// The texts of these answers.
    pub fn of<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Recorded {
        let (mut texts, mut parsed, mut all) = (Vec::new(), Vec::new(), Vec::new());
        let (mut used, mut ids, mut broken_off) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
        let answers = answers.into_iter().enumerate().inspect(|(nth, answer)| {
            broken_off.extend((answer.is_untold() && !answer.text().is_empty()).then_some(nth + 1));
            used.push(answer.usage.unwrap_or_default());
            ids.extend(answer.id.iter().chain(answer.tool_calls().into_iter().map(|call| &call.id)).cloned());
            said(nth + 1, answer, &mut all);
        });
        for block in answers.flat_map(|(_, answer)| &answer.blocks) {
            match block {
                Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text) => texts.push(bare(text)),
                Block::ToolCall(call) => arguments(&call.args, &mut texts, &mut parsed),
                Block::Native(_) => {}
            }
        }
        ids.remove("");
        texts.extend_from_slice(&parsed);
        texts.retain(|text| !text.is_empty());
        texts.sort_by_key(|text| Reverse(text.len()));
        let size = texts.iter().map(String::len).sum();
        Recorded { size, texts, parsed, said: all, used, ids, broken_off, stored: None }
    }

    /// The texts of these answers, which a run `served` with values of its own.
    pub fn as_served(self, served: Recorded) -> Recorded {
        Recorded { stored: Some(Box::new(self)), ..served }
    }

    /// A hash of all that the model said and took.
    pub(in crate::events) fn hash(&self) -> String {
        if let Some(stored) = &self.stored {
            return stored.hash();
        }
        let said = self.said.iter().flat_map(|(source, text)| [source.to_string(), text.clone()]);
        let used = self.used.iter().map(|of| format!("{of:?}"));
        hash(said.chain(used).chain(self.texts.iter().cloned()).collect::<Vec<_>>().join("\0"))
    }

    pub(super) fn is_one(&self, text: &str) -> bool {
        self.texts.contains(&bare(text))
    }

    /// Whether a text is a string inside of arguments, or a part of one.
    pub(super) fn is_parsed(&self, text: &str) -> bool {
        let text = bare(text);
        self.parsed.iter().any(|around| around.contains(&text))
    }

    /// How much of a text is recorded. Each recorded text counts once.
    pub(super) fn cover(&self, text: &str) -> Cover {
        let text = bare(text);
        let all = text.len();
        let none = Cover { all, ..Cover::default() };
        if all == 0 || all / 2 > self.size {
            return none;
        }
        if self.texts.contains(&text) {
            return Cover { whole: all, ..none };
        }
        let mut cover = none;
        let mut used = vec![false; self.texts.len()];
        let mut rest = text.as_str();
        while let Some(first) = rest.chars().next() {
            let fits = |text: &String| text.len() >= LONG_ENOUGH && rest.starts_with(text.as_str());
            if let Some(at) = (0..self.texts.len()).find(|at| !used[*at] && fits(&self.texts[*at])) {
                used[at] = true;
                cover.whole += self.texts[at].len();
                rest = &rest[self.texts[at].len()..];
            } else if let Some(at) = (0..self.texts.len())
                .find(|at| !used[*at] && rest.len() >= LONG_ENOUGH && self.texts[*at].starts_with(rest))
            {
                // The end was cut off.
                (cover.part, cover.part_of) = (rest.len(), self.texts[at].len());
                break;
            } else {
                rest = &rest[first.len_utf8()..];
            }
        }
        if !cover.is_all()
            && let Some(around) = self.texts.iter().rev().find(|around| around.contains(&text))
        {
            return Cover { part: all, part_of: around.len(), ..none };
        }
        cover
    }
}

/// Adds what the model said in a turn: all of its text, each of several texts, and each text in one that is JSON.
fn said(turn: usize, answer: &Answer, all: &mut Vec<(Source, String)>) {
    let mut add = |part: &str, text: String| all.push((Source { turn, part: part.to_owned() }, text));
    let texts = answer.blocks.iter().filter_map(|of| if let Block::Text(text) = of { Some(&**text) } else { None });
    let texts: Vec<&str> = texts.collect();
    add("", texts.concat());
    for (nth, text) in texts.iter().enumerate().filter(|_| texts.len() > 1) {
        add(&format!("text {}", nth + 1), (*text).to_owned());
    }
    for block in &answer.blocks {
        match block {
            Block::Reasoning(text) => add("reasoning", text.clone()),
            Block::Refusal(text) => add("refusal", text.clone()),
            _ => {}
        }
    }
    let Ok(json @ (Json::Object(_) | Json::Array(_))) = Json::parse(texts.concat().as_bytes()) else { return };
    inner(&json, "", &mut add);
}

/// Calls `add` with each text in a value, and its pointer.
fn inner(json: &Json, pointer: &str, add: &mut dyn FnMut(&str, String)) {
    match json {
        Json::Str(text) => add(&name(pointer), text.clone()),
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(at, item)| inner(item, &format!("{pointer}/{at}"), add));
        }
        Json::Object(object) => {
            object.iter().for_each(|(key, value)| inner(value, &format!("{pointer}/{}", pointer_token(key)), add));
        }
        _ => {}
    }
}

/// Adds the forms in which services send arguments: as one text, and parsed.
fn arguments(args: &Json, texts: &mut Vec<String>, parsed: &mut Vec<String>) {
    match args {
        Json::Str(text) => texts.push(bare(text)),
        args => {
            texts.push(bare(&args.print(Layout::Compact)));
            args.each_text(&mut |text| parsed.push(bare(text)));
        }
    }
}

/// A text without white space. Characters that JSON escapes, as Python does by default, are themselves.
fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escaped)) = rest.split_once("\\u") {
        out.extend(before.chars().filter(|c| !c.is_whitespace()));
        let decoded = escaped.get(..4).and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32);
        rest = if decoded.is_some() { &escaped[4..] } else { escaped };
        match decoded {
            Some(c) => out.push(c),
            None => out.push_str("\\u"),
        }
    }
    out.extend(rest.chars().filter(|c| !c.is_whitespace()));
    out
}

#[cfg(test)]
mod tests;
