//! The texts that the model gave in a recording, and how much of a text they explain. White space does not count, since
//! services trim texts and print arguments again.

use std::cmp::Reverse;

use crate::conversation::{Answer, Block};
use crate::json::{Json, Layout};

/// The fewest characters of a recorded text that is looked for inside longer texts: shorter ones are in many texts by chance.
const LONG_ENOUGH: usize = 4;

/// The texts, the reasoning and the arguments of tool calls in recorded answers.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    /// Without white space, the longest first.
    texts: Vec<String>,
    /// The strings inside of arguments, without white space.
    parsed: Vec<String>,
    /// The number of all their bytes.
    size: usize,
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
    /// The texts of these answers.
    pub fn of<'a>(answers: impl IntoIterator<Item = &'a Answer>) -> Recorded {
        let (mut texts, mut parsed) = (Vec::new(), Vec::new());
        for block in answers.into_iter().flat_map(|answer| &answer.blocks) {
            match block {
                Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text) => texts.push(bare(text)),
                Block::ToolCall(call) => arguments(&call.args, &mut texts, &mut parsed),
                Block::Native(_) => {}
            }
        }
        texts.extend_from_slice(&parsed);
        texts.retain(|text| !text.is_empty());
        texts.sort_by_key(|text| Reverse(text.len()));
        let size = texts.iter().map(String::len).sum();
        Recorded { texts, parsed, size }
    }

    pub(super) fn is_one(&self, text: &str) -> bool {
        let text = bare(text);
        self.texts.contains(&text)
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

/// Adds the forms in which services send arguments: as one text, and parsed.
fn arguments(args: &Json, texts: &mut Vec<String>, parsed: &mut Vec<String>) {
    fn strings(json: &Json, texts: &mut Vec<String>) {
        match json {
            Json::Str(text) => texts.push(bare(text)),
            Json::Array(items) => items.iter().for_each(|item| strings(item, texts)),
            Json::Object(object) => object.iter().for_each(|(_, value)| strings(value, texts)),
            _ => {}
        }
    }
    match args {
        Json::Str(text) => texts.push(bare(text)),
        args => {
            texts.push(bare(&args.print(Layout::Compact)));
            strings(args, parsed);
        }
    }
}

/// A text without white space. Characters that JSON escapes, as Python does by default, are themselves.
fn bare(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escaped)) = rest.split_once("\\u") {
        out.extend(before.chars().filter(|c| !c.is_whitespace()));
        let code = escaped.get(..4).and_then(|code| u32::from_str_radix(code, 16).ok());
        let decoded = code.and_then(char::from_u32);
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
