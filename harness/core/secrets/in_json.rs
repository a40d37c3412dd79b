//! Removes secrets from JSON, messages and answers, where a secret may be split across neighbouring strings, or be known only by its
//! key.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memmem::Finder;

use super::forms::Edition;
use super::scrub::{Fired, Scrub};
use super::value::SHORTEST;
use crate::conversation::{Answer, Block, Message};
use crate::json::{Json, Object};

impl Scrub {
    /// Removes secrets from the texts and the keys of JSON, including those that are split across neighbouring blocks of text.
    pub fn json(&self, json: &mut Json, fired: &mut Fired) {
        match json {
            Json::Str(text) => self.string(text, fired),
            Json::Array(items) => {
                self.lines(items, fired);
                for item in items.iter_mut() {
                    self.json(item, fired);
                }
                self.blocks(items, fired);
            }
            Json::Object(entries) => {
                self.named_values(entries, fired);
                entries.iter_mut().for_each(|(_, value)| self.json(value, fired));
                change_keys(entries, |key| self.text(key, fired));
            }
            Json::Null | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => {}
        }
    }

    /// Returns a message without secrets.
    pub fn message(&self, message: &Message) -> Message {
        let (mut message, mut fired) = (message.clone(), Fired::new());
        self.json(&mut message.content, &mut fired);
        message.tool_calls.iter_mut().for_each(|call| self.json(&mut call.args, &mut fired));
        message
    }

    /// Removes secrets from an answer.
    pub fn answer(&self, answer: &mut Answer, fired: &mut Fired) {
        answer.model.iter_mut().chain(&mut answer.id).for_each(|text| self.string(text, fired));
        for block in &mut answer.blocks {
            match block {
                Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text) => self.string(text, fired),
                Block::ToolCall(call) => {
                    self.string(&mut call.name, fired);
                    self.json(&mut call.args, fired);
                }
                Block::Native(native) => self.json(&mut native.block, fired),
            }
        }
    }

    /// Removes secrets that are split across neighbouring text blocks of a message's content.
    fn blocks(&self, items: &mut [Json], fired: &mut Fired) {
        let is_block = |item: &Json| item.str_of("text").is_some() && item.get("role").is_none();
        for run in items.chunk_by_mut(|a, b| is_block(a) && is_block(b)).filter(|run| run.len() > 1) {
            let mut texts: Vec<&mut String> = run.iter_mut().filter_map(|item| string_mut(item, "text")).collect();
            self.parted(&mut texts, fired);
        }
    }

    /// Removes secrets that are split across neighbouring strings of a list, each of which is a line: as strings, or as what
    /// objects have under the same key.
    fn lines(&self, items: &mut [Json], fired: &mut Fired) {
        let is_part = |line: &str| line.len() >= SHORTEST && !line.trim().contains(' ') || has_key(line);
        let is_part = |item: &Json| item.as_str().is_some_and(is_part);
        if self.edition == Edition::First || items.len() < 2 {
            return;
        }
        for run in items.chunk_by_mut(|a, b| a.as_str().is_some() && b.as_str().is_some()).filter(|run| run.len() > 1) {
            if run.windows(2).any(|pair| pair.iter().all(is_part)) {
                let lines = run.iter_mut().filter_map(|json| if let Json::Str(of) = json { Some(of) } else { None });
                self.joined_lines(lines.collect(), fired);
            }
        }
        let key_of = |item: &Json| {
            let entries = item.as_object().filter(|entries| entries.get("role").is_none())?;
            let has_key = |value: &Json| value.as_str().is_some_and(has_key);
            entries.iter().find(|(_, value)| has_key(value)).map(|(name, _)| name.to_owned())
        };
        let Some(name) = items.iter().find_map(key_of) else { return };
        self.joined_lines(items.iter_mut().filter_map(|item| string_mut(item, &name)).collect(), fired);
    }

    fn joined_lines(&self, lines: Vec<&mut String>, fired: &mut Fired) {
        let mut ends = vec!["\n".to_owned(); lines.len()];
        let pieces = lines.into_iter().zip(&mut ends).flat_map(|(line, end)| [line, end]);
        self.parted(&mut pieces.collect::<Vec<_>>(), fired);
    }

    /// Like [`Scrub::pieces`], for strings that are changed in place.
    pub(super) fn parted(&self, texts: &mut [&mut String], fired: &mut Fired) {
        let mut pieces: Vec<Cow<'_, str>> = texts.iter().map(|text| Cow::Borrowed(text.as_str())).collect();
        self.pieces(&mut pieces, fired);
        let changed: Vec<Option<String>> =
            pieces.into_iter().map(|piece| if let Cow::Owned(text) = piece { Some(text) } else { None }).collect();
        for (text, changed) in texts.iter_mut().zip(changed).filter_map(|(text, changed)| Some((text, changed?))) {
            **text = changed;
        }
    }

    /// Removes secrets that are recognized only by their key: `{"aws_secret_access_key": …}` or
    /// `{"name": "AWS_SECRET_ACCESS_KEY", "value": …}`.
    fn named_values(&self, entries: &mut Object, fired: &mut Fired) {
        // The private parts of a JWK.
        let is_of_key = |name: &str| matches!(name, "d" | "k" | "p" | "q" | "dp" | "dq" | "qi");
        let says = |name: &str| {
            let name = name.to_ascii_lowercase();
            is_of_key(&name)
                || ["secret", "token", "key", "pass", "pwd", "auth", "cookie"].iter().any(|word| name.contains(word))
        };
        let name = ["name", "key", "Name", "Key"].iter().find_map(|key| entries.get(*key)?.as_str().map(str::to_owned));
        for (key, value) in entries.iter_mut() {
            let Json::Str(value) = value else { continue };
            let named = name.as_deref().filter(|name| says(name) && matches!(&**key, "value" | "Value"));
            let Some(name) = named.or(Some(&**key).filter(|key| says(key))) else { continue };
            let mut before = if is_of_key(name) { format!("\"{name}\":\"") } else { format!("{name}=") };
            self.parted(&mut [&mut before, value], fired);
        }
    }

    /// Returns a key of an object without its secrets.
    pub fn key(&self, key: &str) -> String {
        self.text(key, &mut Fired::new()).into_owned()
    }
}

/// Changes the keys of an object. If two keys become equal, the later value is kept. Returns whether one was changed.
pub(crate) fn change_keys(entries: &mut Object, mut change: impl FnMut(&str) -> Cow<'_, str>) -> bool {
    let mut owned = |key: &str| if let Cow::Owned(key) = change(key) { Some(key) } else { None };
    let changed: Vec<_> = entries.keys().filter_map(|key| Some((key.clone(), owned(key)?))).collect();
    for (key, new) in &changed {
        let Some(value) = entries.remove(key) else { continue };
        entries.insert(new.as_str().into(), value);
    }
    !changed.is_empty()
}

/// Whether a text may have the first line of a private key.
fn has_key(text: &str) -> bool {
    static KEY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("PRIVATE KEY"));
    KEY.find(text.as_bytes()).is_some()
}

fn string_mut<'a>(json: &'a mut Json, key: &str) -> Option<&'a mut String> {
    if let Json::Str(text) = json.as_object_mut()?.get_mut(key)? { Some(text) } else { None }
}
