//! A mark in what the model says, by which one replay shows where its words go. Pure.
//!
//! The mark is a letter that no text of the model contains. It is put behind a word of each text that is marked, in the middle, since
//! services read what a text begins and ends with. From what the service asks it is taken off again before a key is computed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::{Captures, bytes};

use crate::conversation::{Answer, Block};
use crate::json::Json;
use crate::key::normalize::regex;

/// Letters without case, which no language uses that is written today in many texts.
const LETTERS: [char; 4] = ['ǀ', 'ǁ', 'ǂ', 'ǃ'];

/// A mark, and the texts that have it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub letter: char,
    /// The texts, each by its turn, and its number among the blocks of the turn's answer.
    texts: BTreeSet<(usize, usize)>,
}

impl Mark {
    /// A mark for the texts of the turns with these answers. A text that is JSON is read by the service, and so is the single word of a
    /// turn that it does not pass on: these stay as they are. `None` if the texts have all the letters.
    pub fn of<'a>(
        answers: impl Iterator<Item = &'a Answer> + Clone,
        passes_on: &dyn Fn(usize) -> bool,
    ) -> Option<Mark> {
        let blocks = answers.enumerate().flat_map(|(turn, answer)| {
            answer.blocks.iter().enumerate().filter_map(move |(nth, block)| Some(((turn, nth), text_of(block)?)))
        });
        let letter = LETTERS.into_iter().find(|letter| !blocks.clone().any(|(_, text)| text.contains(*letter)))?;
        let is_marked = |turn: usize, text: &str| {
            let is_word = text.split_whitespace().nth(1).is_none();
            text.contains(char::is_alphanumeric) && !is_json(text) && (!is_word || passes_on(turn))
        };
        let texts = blocks.filter(|((turn, _), text)| is_marked(*turn, text)).map(|(of, _)| of).collect();
        Some(Mark { letter, texts })
    }

    /// Whether a turn says a text that is marked.
    pub fn is_in(&self, turn: usize) -> bool {
        self.texts.range((turn, 0)..=(turn, usize::MAX)).next().is_some()
    }

    /// Leaves only the texts of some turns. Without any, the tokens still are others.
    pub fn only_in(mut self, wanted: &dyn Fn(usize) -> bool) -> Mark {
        self.texts.retain(|(turn, _)| wanted(*turn));
        self
    }

    /// Returns the answer of a turn with the mark.
    pub fn put(&self, turn: usize, answer: &Answer) -> Answer {
        let mut answer = answer.clone();
        for (_, block) in answer.blocks.iter_mut().enumerate().filter(|(nth, _)| self.texts.contains(&(turn, *nth))) {
            let (Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text)) = block else { continue };
            text.insert(place(text), self.letter);
        }
        answer
    }

    /// Returns a text of a turn's response, which has the mark if it is one of the answer that do.
    pub fn put_in<'t>(&self, turn: usize, answer: &Answer, text: &'t str) -> Cow<'t, str> {
        let mut blocks = answer.blocks.iter().enumerate();
        if !blocks.any(|(nth, block)| self.texts.contains(&(turn, nth)) && text_of(block) == Some(text)) {
            return Cow::Borrowed(text);
        }
        let (before, after) = text.split_at(place(text));
        Cow::Owned(format!("{before}{}{after}", self.letter))
    }

    /// Returns the body of a request without the mark, however it is written there; `None` if it is nowhere.
    pub fn taken_off(&self, body: &[u8]) -> Option<Vec<u8>> {
        let mut utf8 = [0; 4];
        let bytes = self.letter.encode_utf8(&mut utf8).bytes();
        let in_url = bytes.map(|byte| format!("%{byte:02x}")).collect::<Vec<_>>().concat();
        let form = format!(r"{}|(?i)\\+u{:04x}|{in_url}", self.letter, u32::from(self.letter));
        let bare = bytes::Regex::new(&form).ok()?.replace_all(body, &b""[..]);
        if let Cow::Owned(bare) = bare { Some(bare) } else { None }
    }

    /// Whether a text of a request says what a recorded one said, but for the mark and for numbers, which more tokens change.
    pub fn is_alike(&self, recorded: &str, called: &str) -> bool {
        static NUMBERS: LazyLock<regex::Regex> = LazyLock::new(|| regex(r"\d[\d.]*"));
        let bare = self.taken_off(called.as_bytes()).unwrap_or_else(|| called.into());
        NUMBERS.replace_all(recorded, "#") == NUMBERS.replace_all(&String::from_utf8_lossy(&bare), "#")
    }
}

fn text_of(block: &Block) -> Option<&str> {
    match block {
        Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text) => Some(text),
        Block::ToolCall(_) | Block::Native(_) => None,
    }
}

/// Where the mark is put: behind the word in the middle of a text.
fn place(text: &str) -> usize {
    let is_end = |(at, c): &(usize, char)| {
        c.is_alphanumeric() && !text[at + c.len_utf8()..].chars().next().is_some_and(char::is_alphanumeric)
    };
    let ends: Vec<usize> = text.char_indices().filter(is_end).map(|(at, c)| at + c.len_utf8()).collect();
    ends.get(ends.len() / 2).copied().unwrap_or_default()
}

/// Whether a text is JSON, with or without a fence around it.
fn is_json(text: &str) -> bool {
    let text = text.trim();
    let fenced = text.strip_prefix("```").and_then(|text| text.strip_suffix("```"));
    let inner = fenced.and_then(|text| Some(text.split_once('\n')?.1)).unwrap_or(text);
    matches!(Json::parse(inner.trim().as_bytes()), Ok(Json::Object(_) | Json::Array(_)))
}

/// How many tokens more a turn has where [`with_more_tokens`] puts them, so that a sum tells of which turns it is.
pub fn more_tokens(turn: usize) -> u64 {
    100 + u64::try_from(turn).unwrap_or_default()
}

/// Returns the text of a turn's response, or a part of it, with more tokens wherever it counts some, as the APIs name them
/// (`"prompt_tokens": 5`, `"totalTokenCount": 5`, `"eval_count": 5`): what else is another number then comes from these.
pub fn with_more_tokens(text: &str, turn: usize) -> String {
    static COUNTS: LazyLock<regex::Regex> =
        LazyLock::new(|| regex(r#"("(?:[A-Za-z_]*[tT]okens?(?:Count)?|(?:prompt_)?eval_count)"\s*:\s*)([1-9][0-9]*)"#));
    let more = |found: &Captures<'_>| {
        let count = found[2].parse().map_or(0, |count: u64| count.saturating_add(more_tokens(turn)));
        format!("{}{count}", &found[1])
    };
    COUNTS.replace_all(text, more).into_owned()
}

#[cfg(test)]
mod tests;
