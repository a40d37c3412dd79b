//! Reads the text of a golden, of this format or an older one.
//!
//! Two blank lines end a block, one blank line a part of it: head, sequence, trees. Within a line, names and texts that could be
//! mistaken for notation are in JSON's quotes, so that each line is read from left to right without looking ahead.

use super::writer::{
    AFTER_LAST, BROKE_OFF, BUT, GONE, IDS_REPEAT, IN_PIECES, LEFT_OPEN, NOT_HELD, SOME_WITH_IDS, VARIES, WITH_IDS,
};
use super::{
    Block, EventIds, EventLine, Field, Golden, Head, Header, Id, Kind, Kinds, List, Node, Shown, Text, Top, Tree,
};
use crate::events::captured::Ending;
use crate::events::held::{Held, Lane, MANNERS};
use crate::events::path::Path;
use crate::events::times;
use crate::json::{Json, MAX_DEPTH};
use retake_base::error::{Error, Place, Result};
use retake_base::text::clipped;

/// The most characters of a line that an error shows.
const SHOWN: usize = 40;

impl Golden {
    /// Reads the text of a golden.
    ///
    /// # Errors
    /// If a line cannot be read. The error has its place.
    pub fn parse(text: &str) -> Result<Golden> {
        let lines: Vec<Line<'_>> = text.lines().enumerate().map(|(nth, text)| Line { nth, text, at: 0 }).collect();
        let mut reader = Reader { wholes: Vec::new() };
        let (mut blocks, mut rest) = (Vec::new(), &lines[..]);
        while let Some(start) = rest.iter().position(|line| !line.is_blank()) {
            rest = &rest[start..];
            let end = rest.windows(2).position(|two| two[0].is_blank() && two[1].is_blank()).unwrap_or(rest.len());
            blocks.push(reader.block(&rest[..end])?);
            rest = &rest[end..];
        }
        Ok(Golden { blocks })
    }
}

struct Reader {
    /// The places to which later lines can refer.
    wholes: Vec<Whole>,
}

/// What is below a place whose lines were written.
struct Whole {
    name: String,
    place: String,
    below: Vec<Node>,
}

impl Reader {
    fn block(&mut self, lines: &[Line<'_>]) -> Result<Block> {
        let mut parts = lines.split(Line::is_blank);
        let (request, below) =
            parts.next().and_then(<[_]>::split_first).ok_or_else(|| Error::new("an empty golden"))?;
        let mut block = Block { request: request.text.to_owned(), ..Block::default() };
        let Some((head, headers)) = below.split_first() else {
            block.page = parts.flatten().map(|line| line.text.to_owned()).collect();
            return Ok(block);
        };
        block.head = Some(head.clone().head()?);
        block.headers = headers.iter().map(|line| line.clone().header()).collect::<Result<_>>()?;
        let mut late = false;
        for line in parts.next().unwrap_or_default() {
            // A label that begins like a note is written in quotes.
            match line.text {
                AFTER_LAST => late = true,
                BROKE_OFF => block.ending = Ending::BrokeOff,
                LEFT_OPEN => block.ending = Ending::Open,
                _ if line.text.starts_with(' ') => {
                    let mut line = line.clone();
                    line.spaces();
                    let Some(event) = block.events.last_mut() else { return Err(line.expected("an event")) };
                    event.shown.push(line.shown(event.top == Top::Collapsed)?);
                }
                _ => block.events.push(EventLine { is_late: late, ..line.clone().event()? }),
            }
        }
        let trees = parts.next().unwrap_or_default().iter().map(|line| line.clone().tree());
        let trees: Vec<TreeLine> = trees.collect::<Result<_>>()?;
        let mut rest = &trees[..];
        while !rest.is_empty() {
            block.trees.push(self.tree(&mut rest)?);
        }
        match parts.flatten().next() {
            Some(line) => Err(line.expected("two blank lines before the next answer")),
            None => Ok(block),
        }
    }

    fn tree(&mut self, lines: &mut &[TreeLine]) -> Result<Tree> {
        let hash = lines.first().and_then(|line| line.hash.clone());
        let mut root = self.node(lines, 0, "")?;
        if root.kinds.is_empty() {
            root.kinds.push(Kind::plain("object"));
        }
        Ok(Tree { root, hash })
    }

    /// Reads the next line, and the lines below it. What is as in another tree is copied from there, and the lines below that
    /// differ replace it.
    fn node(&mut self, lines: &mut &[TreeLine], depth: usize, above: &str) -> Result<Node> {
        let Some((line, rest)) = lines.split_first() else { return Ok(Node::default()) };
        *lines = rest;
        if line.depth != depth {
            return Err(wrong(
                line.at,
                format!("this line is indented by {} spaces, expected {}", 2 * line.depth, 2 * depth),
            ));
        }
        if depth > MAX_DEPTH {
            return Err(wrong(line.at, format!("more than {MAX_DEPTH} lines within each other")));
        }
        let mut node = line.node();
        let place = if depth == 0 { node.name.clone() } else { format!("{above}.{}", node.name) };
        if let Some(other) = &line.other {
            let other = if other.is_empty() { &place } else { other };
            let whole = self.wholes.iter().find(|whole| whole.place == *other && whole.name == node.name);
            let Some(whole) = whole else {
                return Err(wrong(line.at, format!("as in `{other}`, which does not stand above with lines below it")));
            };
            node.below.clone_from(&whole.below);
            patch(&mut node.below, lines, depth + 1)?;
            return Ok(node);
        }
        while lines.first().is_some_and(|line| line.depth > depth) {
            node.below.push(self.node(lines, depth + 1, &place)?);
        }
        // What is written at the same place later hides what was written there before.
        self.wholes.retain(|whole| whole.place != place || whole.name != node.name);
        self.wholes.push(Whole { name: node.name.clone(), place, below: node.below.clone() });
        Ok(node)
    }
}

/// Changes copied nodes by the lines that differ from them.
fn patch(nodes: &mut Vec<Node>, lines: &mut &[TreeLine], depth: usize) -> Result<()> {
    let mut is_patched = false;
    while let Some((line, rest)) = lines.split_first().filter(|(line, _)| line.depth >= depth) {
        if line.depth != depth || depth > MAX_DEPTH {
            return Err(wrong(
                line.at,
                format!("expected at most {} spaces before this line", 2 * depth.min(MAX_DEPTH)),
            ));
        }
        *lines = rest;
        is_patched = true;
        let at = nodes.iter().position(|node| node.name == line.name);
        let mut node = line.node();
        match at {
            Some(at) if line.is_gone => drop(nodes.remove(at)),
            Some(at) => {
                node.below = std::mem::take(&mut nodes[at].below);
                patch(&mut node.below, lines, depth + 1)?;
                nodes[at] = node;
            }
            None => {
                patch(&mut node.below, lines, depth + 1)?;
                nodes.push(node);
            }
        }
    }
    if is_patched {
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
    }
    Ok(())
}

/// One line of a tree.
struct TreeLine {
    at: Place,
    depth: usize,
    name: String,
    optional: bool,
    kinds: Kinds,
    hash: Option<String>,
    /// The place that is as this one; empty if that is itself in an earlier block.
    other: Option<String>,
    is_gone: bool,
}

impl TreeLine {
    fn node(&self) -> Node {
        let TreeLine { name, optional, kinds, .. } = self;
        Node { name: name.clone(), optional: *optional, kinds: kinds.clone(), below: Vec::new() }
    }
}

fn wrong(at: Place, what: String) -> Error {
    Error::new(what).at(at)
}

/// A line, and how far it was read.
#[derive(Clone)]
struct Line<'a> {
    /// Its index.
    nth: usize,
    text: &'a str,
    at: usize,
}

impl<'a> Line<'a> {
    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn place(&self) -> Place {
        Place { line: self.nth + 1, column: self.text[..self.at].chars().count() + 1 }
    }

    fn expected(&self, what: &str) -> Error {
        let found = match self.rest() {
            "" => "the end of the line".to_owned(),
            rest => format!("`{}`", clipped(rest, SHOWN)),
        };
        wrong(self.place(), format!("expected {what}, found {found}"))
    }

    fn eat(&mut self, text: &str) -> bool {
        let found = self.rest().starts_with(text);
        self.at += if found { text.len() } else { 0 };
        found
    }

    fn take(&mut self, text: &str) -> Result<()> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    fn spaces(&mut self) -> usize {
        let count = self.rest().bytes().take_while(|c| *c == b' ').count();
        self.at += count;
        count
    }

    /// Reads up to the first of some texts, or to the end.
    fn until(&mut self, ends: &[&str]) -> &'a str {
        let rest = self.rest();
        let is_end = |(at, _): &(usize, char)| ends.iter().any(|end| rest[*at..].starts_with(end));
        let end = rest.char_indices().find(is_end).map_or(rest.len(), |(at, _)| at);
        self.at += end;
        &rest[..end]
    }

    fn number(&mut self) -> Result<usize> {
        let digits = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        let number = self.rest()[..digits].parse().map_err(|_| self.expected("a number"))?;
        self.at += digits;
        Ok(number)
    }

    /// Reads a text in JSON's quotes, as it is written.
    fn quoted(&mut self) -> Result<&'a str> {
        let (rest, mut escaped) = (self.rest(), false);
        let mut chars = rest.char_indices().skip(usize::from(rest.starts_with('"')));
        let end = chars.find(|(_, c)| {
            let is_end = *c == '"' && !escaped;
            escaped = *c == '\\' && !escaped;
            is_end
        });
        let Some((end, _)) = end.filter(|_| rest.starts_with('"')) else {
            return Err(self.expected("a text in quotes"));
        };
        self.at += end + 1;
        Ok(&rest[..=end])
    }

    /// Reads a name, in quotes or up to one of some characters.
    fn name(&mut self, ends: &[&str]) -> Result<&'a str> {
        let name = if self.rest().starts_with('"') { self.quoted()? } else { self.until(ends) };
        if name.is_empty() { Err(self.expected("a name")) } else { Ok(name) }
    }

    fn end<T>(&self, value: T) -> Result<T> {
        if self.rest().is_empty() { Ok(value) } else { Err(self.expected("the end of the line")) }
    }

    fn head(mut self) -> Result<Head> {
        let exit = if self.eat("exit ") { "exit " } else { "" };
        let code = self.name(&[" "])?;
        if !code.bytes().all(|c| c.is_ascii_digit() || c == b'-') {
            self.at = 0;
            return Err(self.expected("a status"));
        }
        let said = self.rest().trim_start();
        let (said, in_pieces) = said.strip_suffix(IN_PIECES).map_or((said, false), |said| (said, true));
        let (said, ids_repeat) = said.strip_suffix(IDS_REPEAT).map_or((said, false), |said| (said, true));
        let (media, ids) = match (said.strip_suffix(SOME_WITH_IDS), said.strip_suffix(WITH_IDS)) {
            (Some(media), _) => (media, EventIds::Some),
            (None, Some(media)) => (media, EventIds::All),
            (None, None) => (said, EventIds::None),
        };
        Ok(Head { status: format!("{exit}{code}"), media: media.to_owned(), ids, ids_repeat, in_pieces })
    }

    fn header(mut self) -> Result<Header> {
        self.spaces();
        let name = self.name(&[": "])?.to_owned();
        self.take(": ")?;
        Ok(Header { name, value: Some(self.rest().to_owned()).filter(|value| value != VARIES) })
    }

    fn event(mut self) -> Result<EventLine> {
        let label = self.name(&[" "])?.to_owned();
        let mut event = EventLine { label, top: Top::Word(String::new()), times: 1, shown: Vec::new(), is_late: false };
        if self.rest().starts_with("  ") {
            self.spaces();
            event.top = self.top(event.label == ":")?;
        }
        if event.top == Top::Collapsed {
            if self.eat("  ") {
                event.shown.push(self.shown(true)?);
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

    fn shown(&mut self, is_collapsed: bool) -> Result<Shown> {
        if is_collapsed {
            return if self.eat(NOT_HELD) { self.end(Shown::NotHeld) } else { self.texts() };
        }
        let start = self.at;
        let pointer = self.name(&[" "])?;
        let shown = if self.eat(" = ") {
            Shown::Value(pointer.to_owned(), self.rest().to_owned())
        } else {
            Shown::Line(self.text[start..].to_owned())
        };
        self.at = self.text.len();
        Ok(shown)
    }

    /// Reads texts with their places. Before 0.3, there were no places.
    fn texts(&mut self) -> Result<Shown> {
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
        if places.is_empty() || !self.eat(" = ") {
            self.at = start;
            places.clear();
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
        self.end(Shown::Text(places, text))
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

    fn tree(mut self) -> Result<TreeLine> {
        let indent = self.spaces();
        let at = self.place();
        let start = self.at;
        // A name consists of names, each of which can be in quotes.
        while !self.rest().is_empty() && !self.rest().starts_with(' ') {
            if self.rest().starts_with('"') {
                self.quoted()?;
            } else {
                self.until(&[" ", "\""]);
            }
        }
        let name = &self.text[start..self.at];
        let (name, optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
        let (name, depth) = (name.to_owned(), indent / 2);
        let mut line =
            TreeLine { at, depth, name, optional, kinds: Vec::new(), hash: None, other: None, is_gone: false };
        if indent % 2 == 1 {
            return Err(wrong(at, format!("this line is indented by {indent} spaces, expected an even number")));
        }
        self.spaces();
        if self.rest() == GONE {
            return Ok(TreeLine { is_gone: true, ..line });
        }
        while !self.rest().is_empty() {
            if self.eat("as a whole ") {
                line.hash = Some(self.until(&[", "]).to_owned());
            } else if self.eat("as above") {
                line.other = Some(String::new());
            } else if self.eat("as in ") {
                let rest = self.rest();
                let place = rest.strip_suffix(BUT).unwrap_or(rest);
                self.at += place.len();
                line.other = Some(place.to_owned());
            } else {
                line.kinds = self.kinds(0)?;
            }
            if self.rest() == BUT && line.other.is_some() {
                break;
            }
            if !self.rest().is_empty() {
                self.take(", ")?;
            }
        }
        Ok(line)
    }

    fn kinds(&mut self, depth: usize) -> Result<Kinds> {
        if depth > MAX_DEPTH {
            return Err(self.expected("less nesting"));
        }
        let mut kinds = vec![self.kind(depth)?];
        while self.eat(" | ") {
            kinds.push(self.kind(depth)?);
        }
        Ok(kinds)
    }

    fn kind(&mut self, depth: usize) -> Result<Kind> {
        if self.rest().starts_with('"') {
            return Ok(Kind::Quoted(self.quoted()?.to_owned()));
        }
        if self.eat("{") {
            return self.object(depth);
        }
        if self.eat("[") {
            return self.list(depth);
        }
        let start = self.at;
        if self.eat("… ") {
            let count = self.number()?;
            self.take(" more")?;
            return Ok(Kind::More(count));
        }
        if self.eat("<") {
            self.until(&[">"]);
            self.take(">")?;
        }
        self.until(&[" | ", ", ", "]", "}"]);
        match &self.text[start..self.at] {
            "" => Err(self.expected("a type")),
            text => Ok(Kind::of(text)),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Kind> {
        let mut fields = Vec::new();
        while !self.eat("}") {
            if !fields.is_empty() {
                self.take(", ")?;
            }
            let name = self.name(&["?: ", ": "])?.to_owned();
            let optional = self.eat("?");
            self.take(": ")?;
            fields.push(Field { name, optional, kinds: self.kinds(depth + 1)? });
        }
        Ok(Kind::Object(fields))
    }

    fn list(&mut self, depth: usize) -> Result<Kind> {
        let (start, mut list) = (self.at, List::default());
        if let Ok(least) = self.number() {
            let most = if self.eat("..") { self.number()? } else { least };
            list.range = Some((least, most)).filter(|_| self.eat(" × "));
            self.at = if list.range.is_none() { start } else { self.at };
        }
        if !self.rest().starts_with([']', ',']) {
            list.elements = self.kinds(depth + 1)?;
        }
        while self.eat(", ") {
            if self.eat("reordered") {
                list.reordered = true;
            } else {
                list.total = Some(self.number()?);
                self.take(" in all")?;
            }
        }
        self.take("]")?;
        Ok(Kind::List(list))
    }
}

impl Kind {
    /// Returns the kind that is written like this: neither an object nor a list.
    pub(in crate::events) fn of(text: &str) -> Kind {
        let id = || {
            let numbers = text.strip_prefix("id ");
            Some(match (text, numbers.and_then(|numbers| numbers.split_once(".."))) {
                ("id", _) => Id::One,
                (_, Some((first, last))) => Id::Numbered(first.parse().ok()?, last.parse().ok()?),
                _ => match (numbers, text.strip_suffix(" known ids"), text.strip_suffix(" ids")) {
                    (Some(number), ..) => number.parse().map(|number| Id::Numbered(number, number)).ok()?,
                    (_, Some(count), _) => Id::Known(count.parse().ok()?),
                    (_, _, Some(count)) => Id::Several(count.parse().ok()?),
                    _ if text.starts_with('<') && text.ends_with('>') => Id::Named(text.to_owned()),
                    _ => return None,
                },
            })
        };
        let more = || text.strip_prefix("… ")?.strip_suffix(" more")?.parse().ok();
        match (id(), more()) {
            (Some(id), _) => Kind::Id(id),
            (_, Some(more)) => Kind::More(more),
            _ if text.starts_with('"') => Kind::Quoted(text.to_owned()),
            _ if text.starts_with(times::DATE) || text.starts_with(times::NUMBER) => Kind::Time(text.to_owned()),
            _ => Kind::Plain(text.to_owned()),
        }
    }

    /// Returns the kind of a value as it is shown. One that would be read as something else is put in quotes.
    pub(in crate::events) fn of_value(text: &str) -> Kind {
        let mut line = Line { nth: 0, text, at: 0 };
        let is_read = line.kind(0).is_ok_and(|kind| !matches!(kind, Kind::Object(_) | Kind::List(_)));
        let is_plain = is_read && line.rest().is_empty() && ![GONE, "as above"].contains(&text);
        Kind::of(&if is_plain { text.into() } else { crate::events::notation::json_quoted(text) })
    }
}
