//! Reads the lines of a sequence: the status, headers, and events with what is shown of them.

use super::super::writer::{BEFORE_TURN, CLOSED, ENDS, IDS, NOT_HELD, REPEATS, VARIES};
use super::super::{EventIds, EventLine, Head, Header, Repeat, Shown, Text, Top};
use super::line::Line;
use crate::events::captured::Ending;
use crate::events::held::{Held, Lane, MANNERS};
use crate::events::path::Path;
use crate::events::recorded::Source;
use crate::events::told::{How, Told};
use crate::json::Json;
use retake_base::error::Result;

/// The largest number of turns that one range can name, far more than a run has: a slip of the pen must not fill the memory.
const MOST_TURNS: usize = 100_000;

impl<'a> Line<'a> {
    pub(super) fn head(mut self) -> Result<Head> {
        let exit = if self.eat("exit ") { "exit " } else { "" };
        let code = self.name(&[" ", ","])?;
        if !code.bytes().all(|c| c.is_ascii_digit() || c == b'-') {
            self.at = 0;
            return Err(self.expected("a status"));
        }
        let said = self.rest().trim_start();
        // Before 0.3, it was a question of time.
        let mut said = said.strip_suffix(", in pieces").unwrap_or(said);
        let mut early = Vec::new();
        while let Some((before, turn)) = said.strip_suffix(ENDS).and_then(|said| said.rsplit_once(BEFORE_TURN)) {
            let Ok(turn) = turn.parse() else { break };
            early.insert(0, turn);
            said = before;
        }
        let found = REPEATS.into_iter().find_map(|(repeat, suffix)| Some((said.strip_suffix(suffix)?, repeat)));
        let (said, ids_repeat) = found.unwrap_or((said, Repeat::No));
        let found = IDS.into_iter().find_map(|(ids, suffix)| Some((said.strip_suffix(suffix)?, ids)));
        let (media, ids) = found.unwrap_or((said, EventIds::None));
        Ok(Head { status: format!("{exit}{code}"), media: media.to_owned(), ids, ids_repeat, early })
    }

    /// Reads with which code a socket was closed.
    pub(super) fn closed(mut self) -> Result<Ending> {
        self.take(CLOSED)?;
        let code = self.number()?.try_into().map_err(|_| self.expected("a close code"))?;
        self.take(")")?;
        self.end(Ending::Closed(code))
    }

    pub(super) fn header(mut self) -> Result<Header> {
        self.spaces();
        let name = self.name(&[": "])?.to_owned();
        self.take(": ")?;
        Ok(Header { name, value: Some(self.rest().to_owned()).filter(|value| value != VARIES) })
    }

    pub(super) fn event(mut self) -> Result<EventLine> {
        let label = self.name(&[" "])?.to_owned();
        let mut event = EventLine { label, top: Top::Word(String::new()), times: 1, shown: Vec::new(), is_late: false };
        if self.rest().starts_with("  ") {
            self.spaces();
            event.top = self.top(event.label == ":")?;
        }
        if event.top == Top::Collapsed {
            if self.eat("  ") {
                event.shown = self.shown(true)?;
            }
            return self.end(event);
        }
        // Before 0.2, values stood on the line of their event.
        while self.eat("  ") {
            let pointer = self.name(&[" "])?.to_owned();
            self.take(" = ")?;
            event.shown.push(Shown::Value(pointer, self.value()?.to_owned()));
        }
        if self.eat(" ×") {
            event.times = self.number()?;
        }
        self.end(event)
    }

    /// Reads a value up to the next one on the same line.
    fn value(&mut self) -> Result<&'a str> {
        let start = self.at;
        while !self.rest().is_empty() && !self.rest().starts_with("  /") && !self.rest().starts_with(" ×") {
            if self.rest().starts_with('"') {
                self.quoted()?;
            } else {
                self.at += self.rest().chars().next().map_or(0, char::len_utf8);
            }
        }
        Ok(&self.text[start..self.at])
    }

    fn top(&mut self, is_comment: bool) -> Result<Top> {
        if self.eat("…") {
            return Ok(Top::Collapsed);
        }
        if self.rest().starts_with('"') {
            return Ok(Top::Word(self.quoted()?.to_owned()));
        }
        if !is_comment && self.eat("[") {
            let lengths = self.until(&["]"]).to_owned();
            self.take("]")?;
            return Ok(Top::List(lengths));
        }
        if is_comment || !self.eat("{") {
            return Ok(Top::Word(self.until(&[" ×", "  /"]).to_owned()));
        }
        let mut keys = Vec::new();
        while !self.eat("}") {
            if !keys.is_empty() {
                self.take(", ")?;
            }
            let key = self.name(&["[", ", ", "}"])?.to_owned();
            let lengths = if self.eat("[") { Some(self.until(&["]"]).to_owned()) } else { None };
            if lengths.is_some() {
                self.take("]")?;
            }
            keys.push((key, lengths));
        }
        Ok(Top::Keys(keys))
    }

    pub(super) fn shown(&mut self, is_collapsed: bool) -> Result<Vec<Shown>> {
        if is_collapsed {
            return if self.eat(NOT_HELD) { self.end(vec![Shown::NotHeld]) } else { self.texts() };
        }
        if let Ok(texts) = self.clone().texts() {
            self.at = self.text.len();
            return Ok(texts);
        }
        let start = self.at;
        let pointer = self.name(&[" "])?;
        let shown = if self.eat(" = ") {
            Shown::Value(pointer.to_owned(), self.rest().to_owned())
        } else {
            Shown::Line(self.text[start..].to_owned())
        };
        self.at = self.text.len();
        Ok(vec![shown])
    }

    /// Reads texts with their places. Before 0.3, there were no places.
    fn texts(&mut self) -> Result<Vec<Shown>> {
        let mut places = Vec::new();
        let start = self.at;
        if self.rest().starts_with(['/', '"']) {
            while let Ok(held) = self.held() {
                places.push(held);
                if !self.eat(", ") {
                    break;
                }
            }
        }
        let verb = [How::Equal, How::Has].into_iter().find(|how| !places.is_empty() && self.eat(how.verb()));
        if verb.is_none() {
            self.at = start;
            places.clear();
        }
        if let Some(how) = verb.filter(|_| self.rest().starts_with("turn")) {
            let texts = self.turns(how)?.into_iter().map(|text| Shown::Text(places.clone(), text)).collect();
            return self.end(texts);
        }
        let text = if self.eat("… ") {
            let count = self.number()?;
            self.take(" more texts (")?;
            Text::More(count, self.until(&[")"]).to_owned())
        } else {
            let start = self.quoted()?.to_owned();
            self.take(" (")?;
            let count = self.number()?;
            self.take(", ")?;
            let hash = self.until(&[", ", ")"]).to_owned();
            let manner = MANNERS.into_iter().find(|manner| self.eat(&manner.to_string()));
            Text::Start(start, count, hash, manner.unwrap_or_default())
        };
        self.take(")")?;
        self.end(vec![Shown::Text(places, text)])
    }

    /// Reads which turns a text repeats, or several texts.
    fn turns(&mut self, verb: How) -> Result<Vec<Text>> {
        let mut texts = Vec::new();
        if self.eat("turns ") {
            while texts.is_empty() || self.eat(", ") {
                let first = self.number()?;
                let last = if self.eat("..") { self.number()? } else { first };
                if !(first..first + MOST_TURNS).contains(&last) {
                    return Err(self.expected("a range of turns"));
                }
                texts.extend((first..=last).map(|turn| vec![Source { turn, part: String::new() }]));
                // What follows the last turn begins with a comma, too.
                let rest = self.rest().strip_prefix(", ").unwrap_or_default();
                if !rest.starts_with(|next: char| next.is_ascii_digit()) {
                    break;
                }
            }
        } else {
            let mut of = Vec::new();
            while of.is_empty() || self.eat(" and ") {
                self.take("turn ")?;
                let turn = self.number()?;
                let part = if self.eat("'s ") { self.name(&[", ", " and "])?.to_owned() } else { String::new() };
                of.push(Source { turn, part });
            }
            texts.push(of);
        }
        let mut hows = How::ALL.into_iter().filter(|it| it.is_beside() == verb.is_beside() && !it.suffix().is_empty());
        let how = hows.find(|how| self.eat(how.suffix())).unwrap_or(verb);
        let manner = MANNERS.into_iter().find(|manner| self.eat(&manner.to_string()));
        let manner = manner.unwrap_or_default();
        Ok(texts.into_iter().map(|of| Text::Turns(Told { how, of }, manner)).collect())
    }

    /// Reads a place of texts.
    fn held(&mut self) -> Result<Held> {
        let mut held = Held { path: self.path()?, lanes: Vec::new() };
        while self.eat(if held.lanes.is_empty() { " by " } else { " and " }) {
            held.lanes.push(if self.eat("*") { Lane::Position } else { Lane::Value(self.path()?) });
        }
        Ok(held)
    }

    fn path(&mut self) -> Result<Path> {
        let before = self.clone();
        let name = self.name(&[" ", ", "])?;
        let quoted = || Json::parse(name.as_bytes()).ok().and_then(Json::into_string);
        let pointer = if name.starts_with('"') { quoted() } else { Some(name.to_owned()) };
        pointer.and_then(|pointer| Path::of(&pointer)).ok_or_else(|| before.expected("the place of a text"))
    }
}
