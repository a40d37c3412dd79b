//! Reads the lines of trees, of which later ones may say that they are as earlier ones.

use super::super::writer::{BUT, GONE, IS, OF_RECORDING, SHORT};
use super::super::{Field, Id, Kind, Kinds, List, Node, Tree};
use super::line::Line;
use crate::events::order::Order;
use crate::events::times;
use crate::json::MAX_DEPTH;
use retake_base::error::{Error, Place, Result};

/// What is below a place whose lines were written.
pub(super) struct Whole {
    name: String,
    place: String,
    below: Vec<Node>,
}

/// Reads a tree. `wholes` are the places to which its lines can refer.
pub(super) fn read(lines: &mut &[TreeLine], wholes: &mut Vec<Whole>) -> Result<Tree> {
    let whole = lines.first().and_then(|line| line.whole.clone());
    let mut root = read_node(lines, wholes, 0, "")?;
    if root.kinds.is_empty() {
        root.kinds.push(Kind::plain("object"));
    }
    Ok(Tree { root, whole })
}

/// Reads the next line, and the lines below it. What is as in another tree is copied from there, and the lines below that
/// differ replace it.
fn read_node(lines: &mut &[TreeLine], wholes: &mut Vec<Whole>, depth: usize, above: &str) -> Result<Node> {
    let Some((line, rest)) = lines.split_first() else { return Ok(Node::default()) };
    *lines = rest;
    if line.depth != depth {
        let what = format!("this line is indented by {} spaces, expected {}", 2 * line.depth, 2 * depth);
        return Err(Error::new(what).at(line.at));
    }
    if depth > MAX_DEPTH {
        return Err(Error::new(format!("more than {MAX_DEPTH} lines within each other")).at(line.at));
    }
    let mut node = line.node.clone();
    let place = if depth == 0 { node.name.clone() } else { format!("{above}.{}", node.name) };
    if let Some(other) = &line.other {
        let other = if other.is_empty() { &place } else { other };
        let whole = wholes.iter().find(|whole| whole.place == *other && whole.name == node.name);
        let Some(whole) = whole else {
            return Err(
                Error::new(format!("as in `{other}`, which does not stand above with lines below it")).at(line.at)
            );
        };
        node.below.clone_from(&whole.below);
        patch(&mut node.below, lines, depth + 1)?;
        return Ok(node);
    }
    while lines.first().is_some_and(|line| line.depth > depth) {
        node.below.push(read_node(lines, wholes, depth + 1, &place)?);
    }
    // What is written at the same place later hides what was written there before.
    wholes.retain(|whole| whole.place != place || whole.name != node.name);
    wholes.push(Whole { name: node.name.clone(), place, below: node.below.clone() });
    Ok(node)
}

/// Changes copied nodes by the lines that differ from them.
fn patch(nodes: &mut Vec<Node>, lines: &mut &[TreeLine], depth: usize) -> Result<()> {
    let mut is_patched = false;
    while let Some((line, rest)) = lines.split_first().filter(|(line, _)| line.depth >= depth) {
        if line.depth != depth || depth > MAX_DEPTH {
            let what = format!("expected at most {} spaces before this line", 2 * depth.min(MAX_DEPTH));
            return Err(Error::new(what).at(line.at));
        }
        *lines = rest;
        is_patched = true;
        let at = nodes.iter().position(|node| node.name == line.node.name);
        let known = at.map(|at| nodes.remove(at));
        if known.is_some() && line.is_gone {
            continue;
        }
        let mut node = Node { below: known.unwrap_or_default().below, ..line.node.clone() };
        patch(&mut node.below, lines, depth + 1)?;
        nodes.insert(at.unwrap_or(nodes.len()), node);
    }
    if is_patched {
        nodes.sort_by(|a, b| a.name.cmp(&b.name));
    }
    Ok(())
}

/// One line of a tree.
pub(super) struct TreeLine {
    at: Place,
    depth: usize,
    /// What it says of its own node.
    node: Node,
    whole: Option<Order>,
    /// The place that is as this one; empty if that is itself in an earlier block.
    other: Option<String>,
    is_gone: bool,
}

impl Line<'_> {
    pub(super) fn tree(mut self) -> Result<TreeLine> {
        let indent = self.spaces();
        let at = self.place();
        let start = self.at;
        // A name consists of names, each of which can be in quotes.
        while !self.rest().is_empty() && !self.rest().starts_with(' ') {
            let _ = if self.rest().starts_with('"') { self.quoted()? } else { self.until(&[" ", "\""]) };
        }
        let name = &self.text[start..self.at];
        let (name, optional) = name.strip_suffix('?').map_or((name, false), |name| (name, true));
        let node = Node { name: name.to_owned(), optional, ..Node::default() };
        let mut line = TreeLine { at, depth: indent / 2, node, whole: None, other: None, is_gone: false };
        if indent % 2 == 1 {
            return Err(Error::new(format!("this line is indented by {indent} spaces, expected an even number")).at(at));
        }
        self.spaces();
        if self.rest() == GONE {
            return Ok(TreeLine { is_gone: true, ..line });
        }
        while !self.rest().is_empty() {
            if self.eat("as a whole ") {
                line.whole = Some(Order::of_hash(self.until(&[", "])));
            } else if self.eat("as above") {
                line.other = Some(String::new());
            } else if self.eat("as in ") {
                let rest = self.rest();
                let place = rest.strip_suffix(BUT).unwrap_or(rest);
                self.at += place.len();
                line.other = Some(place.to_owned());
            } else {
                line.node.kinds = self.kinds(0)?;
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
        let mut kinds = Vec::new();
        while kinds.is_empty() || self.eat(" | ") {
            let kind = self.kind(depth)?;
            kinds.push(if self.eat(IS) {
                let whole = self.kind(depth)?;
                self.take(OF_RECORDING)?;
                Kind::Whole(Box::new(kind), Box::new(whole))
            } else if self.eat(OF_RECORDING) {
                Kind::Derived(Box::new(kind))
            } else {
                kind
            });
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
        self.until(&[" | ", ", ", "]", "}", OF_RECORDING]);
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
            list.range = Some((least, if self.eat("..") { self.number()? } else { least })).filter(|_| self.eat(" × "));
            self.at = if list.range.is_none() { start } else { self.at };
        }
        if !self.rest().starts_with([']', ',']) {
            list.elements = self.kinds(depth + 1)?;
        }
        loop {
            if let Some((order, rest)) = Order::parse(self.rest()) {
                self.at = self.text.len() - rest.len();
                list.order = Some(order);
            } else if !self.eat(", ") {
                break;
            } else if self.eat("reordered") {
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
        if text.contains(SHORT.0)
            && let Kind::Id(id) = Kind::of(&text.replacen(SHORT.0, SHORT.1, 1))
        {
            return Kind::Short(id);
        }
        let more = || text.strip_prefix("… ")?.strip_suffix(" more")?.parse().ok();
        match (id(), more()) {
            (Some(id), _) => Kind::Id(id),
            (_, Some(more)) => Kind::More(more),
            _ if text == "from 0" || text == "from 1" => Kind::From((text == "from 1").into()),
            _ if text.starts_with('"') => Kind::Quoted(text.to_owned()),
            _ if text.starts_with(times::DATE) || text.starts_with(times::NUMBER) => {
                let (form, away) = times::parts(text);
                Kind::Time(form.to_owned(), away.to_owned())
            }
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
