//! Texts within JSON, answers and streams, changed where they stand.

use std::borrow::Cow;

use crate::conversation::{Answer, Block};
use crate::json::{Json, JsonText};
use crate::secrets::change_keys;
use crate::secrets::stream::{change_frames, texts_of};

/// A change of texts. What it leaves as it is keeps every byte.
pub struct Within<'a>(pub &'a dyn for<'t> Fn(&'t str) -> Cow<'t, str>);

impl Within<'_> {
    /// Changes a text. Returns whether it did.
    pub fn text(&self, text: &mut String) -> bool {
        let Cow::Owned(changed) = (self.0)(text) else { return false };
        *text = changed;
        true
    }

    /// Changes the strings of a value, and the keys of its objects. Returns whether it did.
    pub fn json(&self, json: &mut Json) -> bool {
        self.parts(json, true)
    }

    /// Changes keys, and `texts` too.
    fn parts(&self, json: &mut Json, texts: bool) -> bool {
        match json {
            Json::Str(text) => texts && self.text(text),
            Json::Array(items) => items.iter_mut().fold(false, |changed, item| self.parts(item, texts) | changed),
            Json::Object(entries) => {
                let values = entries.iter_mut().fold(false, |changed, (_, value)| self.parts(value, texts) | changed);
                change_keys(entries, |key| (self.0)(key)) | values
            }
            Json::Null | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => false,
        }
    }

    /// Returns a JSON text with its strings changed; `None` if none is.
    pub fn json_text(&self, text: &JsonText) -> Option<JsonText> {
        let before = text.json();
        let mut after = before.clone();
        let changed = if let Json::Array(all) = &mut after { self.events(all.iter_mut().collect()) } else { false };
        let changed = changed | (!matches!(after, Json::Array(_)) && self.json(&mut after));
        changed.then(|| text.changed(&before, &after, &|key| (self.0)(key).into_owned()))
    }

    /// Changes the texts of an answer.
    pub fn answer(&self, answer: &mut Answer) {
        for block in &mut answer.blocks {
            match block {
                Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text) => drop(self.text(text)),
                Block::ToolCall(call) => drop(self.json(&mut call.args)),
                Block::Native(native) => drop(self.json(&mut native.block)),
            }
        }
    }

    /// Changes the texts of a stream. A text in pieces is joined, changed, and cut again after as many characters as before,
    /// or fewer where it is too short for all of them.
    pub fn frames(&self, frames: &mut [String]) -> bool {
        change_frames(frames, &|key| (self.0)(key).into_owned(), |frames| {
            self.events(frames.iter_mut().map(|frame| &mut frame.data).collect())
        })
    }

    fn events(&self, mut events: Vec<&mut Json>) -> bool {
        let mut changed = false;
        for (place, pieces) in texts_of(&mut events) {
            // Arguments that are no text come whole.
            let is_whole = ["/args/", "/arguments/", "/input/"].iter().any(|part| place.contains(part));
            if is_whole || pieces.windows(2).all(|pair| pair[0] == pair[1]) {
                changed = pieces.into_iter().fold(changed, |changed, text| self.text(text) | changed);
                continue;
            }
            let joined: String = pieces.iter().map(|piece| piece.as_str()).collect();
            let Cow::Owned(new) = (self.0)(&joined) else { continue };
            changed = true;
            let mut rest = new.as_str();
            // A piece with text has some again, where there is enough: a service may not pass an empty one on.
            let mut more = pieces.iter().filter(|piece| !piece.is_empty()).count();
            for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
                more -= 1;
                let length = piece.chars().count().min(rest.chars().count().saturating_sub(more)).max(1);
                let end = rest.char_indices().nth(length).map_or(rest.len(), |(at, _)| at);
                let (this, after) = rest.split_at(if more == 0 { rest.len() } else { end });
                this.clone_into(piece);
                rest = after;
            }
        }
        events.into_iter().fold(changed, |changed, event| self.parts(event, false) | changed)
    }
}
