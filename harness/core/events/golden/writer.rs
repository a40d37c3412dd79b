//! The text of a golden.

use std::fmt::{self, Display, Formatter, Write as _};

use super::{
    Block, COST, EventIds, EventLine, Field, Golden, Head, Header, Id, Kind, List, Node, RECORDING, Repeat, Shown,
    Text, Top, Tree,
};
use crate::events::captured::Ending;
use crate::events::held::Held;
use crate::events::notation::padded;
use crate::events::recorded::Source;
use crate::events::told::Told;

/// What the line of a status says of a stream.
pub(super) const BEFORE_TURN: &str = ", before turn ";
pub(super) const ENDS: &str = " ends";
pub(super) const IDS: [(EventIds, &str); 2] = [(EventIds::Some, ", some with ids"), (EventIds::All, ", with ids")];
/// What follows that.
pub(super) const REPEATS: [(Repeat, &str); 5] = [
    (Repeat::Yes, ", which repeat"),
    (Repeat::Varies, ", which may repeat"),
    (Repeat::Falls, ", which do not rise"),
    (Repeat::From(0), ", from 0"),
    (Repeat::From(1), ", from 1"),
];
/// What is said of a header whose value differs from run to run.
pub(in crate::events) const VARIES: &str = "(varies)";
/// What follows a value that is true of one recording.
pub(super) const OF_RECORDING: &str = " of this recording";
/// What stands between what a text says of its own and all of it.
pub(super) const IS: &str = " = ";
/// How an id without a form is called, as opposed to one that has a form.
pub(super) const SHORT: (&str, &str) = ("short id", "id");
/// The line above the events that came after the last one for which the step waited.
pub(super) const AFTER_LAST: &str = "(after the last event)";
/// The lines of a stream that did not end by itself.
pub(super) const BROKE_OFF: &str = "(broke off)";
pub(super) const LEFT_OPEN: &str = "(left open)";
pub(super) const CLOSED: &str = "(closed with code ";
/// What is said of collapsed events whose text is not held.
pub(super) const NOT_HELD: &str = "(text not held)";
/// What follows a reference to another tree if lines follow that differ from it.
pub(super) const BUT: &str = ", but";
/// What stands at a place that a tree lacks, as opposed to the one to which it refers.
pub(super) const GONE: &str = "–";

/// The smallest widths of the columns of labels and of names.
const LABELS: usize = 8;
const NAMES: usize = 9;
/// The smallest number of lines of a tree to which other places can refer.
const WORTH: usize = 6;

impl Display for Golden {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.blocks.is_empty() && self.cost.is_empty() {
            f.write_char('\n')?;
        }
        let mut trees = Trees::default();
        for (nth, block) in self.blocks.iter().enumerate() {
            // Blank lines separate the blocks, since `---` would look like the header of a snapshot file.
            f.write_str(if nth == 0 { "" } else { "\n\n" })?;
            f.write_str(&block.text(&mut trees))?;
        }
        if !self.cost.is_empty() {
            writeln!(f, "{}{COST}\n", if self.blocks.is_empty() { "" } else { "\n\n" })?;
        }
        self.cost.iter().try_for_each(|cost| writeln!(f, "{cost}"))?;
        let recording = self.recording.iter().filter(|_| self.apart().1.is_some());
        recording.clone().try_for_each(|recording| writeln!(f, "\n\n{RECORDING}{recording}"))
    }
}

impl Block {
    fn text<'a>(&'a self, trees: &mut Trees<'a>) -> String {
        let mut out = format!("{}\n", self.request);
        let Some(head) = &self.head else {
            out.push('\n');
            self.page.iter().for_each(|line| out.extend([line, "\n"]));
            return out;
        };
        let _ = writeln!(out, "{head}");
        out.extend(self.headers.iter().map(|header| format!("  {header}\n")));
        self.events(&mut out);
        out.push_str(if self.trees.is_empty() { "" } else { "\n" });
        self.trees.iter().for_each(|tree| trees.write(tree, &mut out));
        out
    }

    fn events(&self, out: &mut String) {
        let ending = match self.ending {
            Ending::Ended => String::new(),
            Ending::Open => LEFT_OPEN.to_owned(),
            Ending::BrokeOff => BROKE_OFF.to_owned(),
            Ending::Closed(code) => format!("{CLOSED}{code})"),
        };
        out.push_str(if self.events.is_empty() && ending.is_empty() { "" } else { "\n" });
        let mut late = false;
        for event in &self.events {
            if event.is_late && !late {
                out.extend([AFTER_LAST, "\n"]);
            }
            late = event.is_late;
            event.write(out);
        }
        out.extend((!ending.is_empty()).then(|| format!("{ending}\n")));
    }
}

impl EventLine {
    fn write(&self, out: &mut String) {
        let mut top = self.top.to_string();
        let count = if self.times > 1 { format!(" ×{}", self.times) } else { String::new() };
        let mut shown = self.shown.iter();
        if let (Top::Collapsed, Some(first)) = (&self.top, shown.clone().next()) {
            let _ = write!(top, "  {first}");
            shown.next();
        }
        if top.is_empty() {
            out.extend([&*self.label, &*count]);
        } else {
            padded(&self.label, &(top + &count), LABELS, out);
        }
        out.push('\n');
        for lines in shown.as_slice().chunk_by(Shown::is_listed_with) {
            padded("", &listed(lines), LABELS, out);
            out.push('\n');
        }
    }
}

/// What a line says of one, or of several that differ only in their turns.
fn listed(lines: &[Shown]) -> String {
    let ([Shown::Text(places, Text::Turns(told, manner)), ..], [_, _, ..]) = (lines, lines) else {
        return lines.iter().map(ToString::to_string).collect();
    };
    let turns: Vec<usize> = lines.iter().filter_map(Shown::turn).collect();
    let rows = turns.chunk_by(|turn, next| turn + 1 == *next).map(|row| match row {
        [first, _, .., last] => format!("{first}..{last}"),
        few => few.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
    });
    let turns = rows.collect::<Vec<_>>().join(", ");
    format!("{}{}turns {turns}{}{manner}", together(places), told.how.verb(), told.how.suffix())
}

/// Places as they stand on a line.
fn together(places: &[Held]) -> String {
    places.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

impl Display for Head {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let ids = IDS.iter().find(|(ids, _)| *ids == self.ids).map_or("", |(_, said)| said);
        let repeat = REPEATS.iter().find(|(repeat, _)| *repeat == self.ids_repeat).map_or("", |(_, said)| said);
        let mut said = format!("{}{ids}{repeat}", self.media);
        self.early.iter().try_for_each(|turn| write!(said, "{BEFORE_TURN}{turn}{ENDS}"))?;
        write!(f, "{}{}{said}", self.status, if said.is_empty() || said.starts_with(',') { "" } else { " " })
    }
}

impl Display for Header {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.value.as_deref().unwrap_or(VARIES))
    }
}

impl Display for Top {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Top::Collapsed => f.write_str("…"),
            Top::List(lengths) => write!(f, "[{lengths}]"),
            Top::Word(word) => f.write_str(word),
            Top::Keys(keys) => {
                let key = |(key, lengths): &(String, Option<String>)| {
                    lengths.as_ref().map_or_else(|| key.clone(), |lengths| format!("{key}[{lengths}]"))
                };
                write!(f, "{{{}}}", keys.iter().map(key).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

impl Shown {
    /// The one turn whose words, all of them, stand at these places.
    fn turn(&self) -> Option<usize> {
        let Shown::Text(places, Text::Turns(Told { of, .. }, _)) = self else { return None };
        match &**of {
            [Source { turn, part }] if part.is_empty() && !places.is_empty() => Some(*turn),
            _ => None,
        }
    }

    /// Whether one line names the turns of both: a conversation that is sent anew each time would take a line for each message.
    fn is_listed_with(&self, next: &Shown) -> bool {
        let (Shown::Text(places, Text::Turns(told, manner)), Shown::Text(others, Text::Turns(other, of))) =
            (self, next)
        else {
            return false;
        };
        (places, told.how, manner) == (others, other.how, of) && self.turn().is_some() && next.turn().is_some()
    }
}

impl Display for Shown {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Shown::NotHeld => f.write_str(NOT_HELD),
            Shown::Value(pointer, value) => write!(f, "{pointer} = {value}"),
            Shown::Line(line) => f.write_str(line),
            Shown::Text(places, text) if places.is_empty() => write!(f, "{text}"),
            Shown::Text(places, text) => {
                let verb = if let Text::Turns(told, _) = text { told.how.verb() } else { " = " };
                write!(f, "{}{verb}{text}", together(places))
            }
        }
    }
}

impl Display for Text {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Text::Start(start, count, hash, manner) => write!(f, "{start} ({count}, {hash}{manner})"),
            Text::More(count, hash) => write!(f, "… {count} more texts ({hash})"),
            Text::Turns(told, manner) => write!(f, "{told}{manner}"),
        }
    }
}

/// Kinds as they stand on a line.
pub(in crate::events) struct Printed<'a>(pub(in crate::events) &'a [Kind]);

impl Display for Printed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (nth, kind) in self.0.iter().enumerate() {
            f.write_str(if nth == 0 { "" } else { " | " })?;
            write!(f, "{kind}")?;
        }
        Ok(())
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Kind::Plain(text) | Kind::Quoted(text) | Kind::Id(Id::Named(text)) => f.write_str(text),
            Kind::Time(form, away) => write!(f, "{form}{away}"),
            Kind::Derived(kind) => write!(f, "{kind}{OF_RECORDING}"),
            Kind::Whole(own, whole) => write!(f, "{own}{IS}{whole}{OF_RECORDING}"),
            Kind::More(count) => write!(f, "… {count} more"),
            Kind::From(first) => write!(f, "from {first}"),
            Kind::Short(id) => f.write_str(&Kind::Id(id.clone()).to_string().replacen(SHORT.1, SHORT.0, 1)),
            Kind::Id(Id::One) => f.write_str("id"),
            Kind::Id(Id::Several(count)) => write!(f, "{count} ids"),
            Kind::Id(Id::Known(count)) => write!(f, "{count} known ids"),
            Kind::Id(Id::Numbered(first, last)) if first == last => write!(f, "id {first}"),
            Kind::Id(Id::Numbered(first, last)) => write!(f, "id {first}..{last}"),
            Kind::Object(fields) => {
                f.write_char('{')?;
                for (nth, Field { name, optional, kinds }) in fields.iter().enumerate() {
                    let (comma, mark) = (if nth == 0 { "" } else { ", " }, if *optional { "?" } else { "" });
                    write!(f, "{comma}{name}{mark}: {}", Printed(kinds))?;
                }
                f.write_char('}')
            }
            Kind::List(List { range, elements, total, reordered, order }) => {
                f.write_char('[')?;
                match range {
                    Some((least, most)) if least == most => write!(f, "{most} × ")?,
                    Some((least, most)) => write!(f, "{least}..{most} × ")?,
                    None => {}
                }
                write!(f, "{}", Printed(elements))?;
                total.iter().try_for_each(|total| write!(f, ", {total} in all"))?;
                f.write_str(if *reordered { ", reordered" } else { "" })?;
                order.iter().try_for_each(|order| write!(f, "{order}"))?;
                f.write_char(']')
            }
        }
    }
}

/// The trees of one golden. One that appears at several places is written once. The other places refer to it, and list only the
/// lines that differ: otherwise, a large state that is in every event would fill a screen each time.
///
/// The column of a line's text does not depend on other lines, so one change stays one line of a diff.
#[derive(Default)]
pub(super) struct Trees<'a>(Vec<Whole<'a>>);

/// What is below a place whose lines were written.
struct Whole<'a> {
    name: &'a str,
    /// The names on the way to it.
    place: String,
    below: &'a [Node],
}

impl<'a> Trees<'a> {
    fn write(&mut self, Tree { root, whole }: &'a Tree, out: &mut String) {
        let text = (root.kinds != [Kind::plain("object")]).then(|| Printed(&root.kinds).to_string());
        let whole = whole.as_ref().map(|whole| format!("as a whole {}", whole.hash()));
        let text: Vec<String> = text.into_iter().chain(whole).collect();
        self.line(root, &text.join(", "), &root.name, 0, out);
    }

    fn line(&mut self, node: &'a Node, text: &str, place: &str, depth: usize, out: &mut String) {
        let name = node.name_text();
        let Some((other, differing)) = self.like(node) else {
            push(&name, text, depth, out);
            for below in &node.below {
                let (kinds, place) = (Printed(&below.kinds).to_string(), format!("{place}.{}", below.name));
                self.line(below, &kinds, &place, depth + 1, out);
            }
            // What is written at the same place later hides what was written there before.
            self.0.retain(|whole| whole.place != place || whole.name != node.name);
            self.0.push(Whole { name: &node.name, place: place.to_owned(), below: &node.below });
            return;
        };
        let as_there = if other == place { "as above".to_owned() } else { format!("as in {other}") };
        let comma = if text.is_empty() { "" } else { ", " };
        push(&name, &format!("{text}{comma}{as_there}{}", if differing.is_empty() { "" } else { BUT }), depth, out);
        for line in &differing {
            line.write(depth + 1, out);
        }
    }

    /// Returns the place of a written tree with the same name, and the lines that differ from it; `None` if too many differ.
    fn like(&self, node: &Node) -> Option<(&str, Vec<Node>)> {
        let size: usize = node.below.iter().map(Node::size).sum();
        if size < WORTH {
            return None;
        }
        let named = self.0.iter().filter(|whole| whole.name == node.name);
        let compared = named.map(|whole| (&*whole.place, differing(whole.below, &node.below)));
        let count = |lines: &[Node]| lines.iter().map(Node::size).sum::<usize>();
        let (place, differing) = compared.min_by_key(|(_, differing)| count(differing))?;
        (count(&differing) <= size / 3).then_some((place, differing))
    }
}

/// Returns the lines that differ from `others`, and those of `others` that are missing.
fn differing(others: &[Node], nodes: &[Node]) -> Vec<Node> {
    let line = |node: &Node, kinds, below| {
        let (name, optional) = (node.name.clone(), node.optional);
        Node { name, optional, kinds, below, ..Node::default() }
    };
    let mut found = Vec::new();
    for node in nodes {
        let Some(other) = others.iter().find(|other| other.name == node.name) else {
            found.push(node.clone());
            continue;
        };
        let below = differing(&other.below, &node.below);
        if !below.is_empty() || (other.optional, &other.kinds) != (node.optional, &node.kinds) {
            found.push(line(node, node.kinds.clone(), below));
        }
    }
    for other in others.iter().filter(|other| nodes.iter().all(|node| node.name != other.name)) {
        found.push(line(other, vec![Kind::plain(GONE)], Vec::new()));
    }
    found.sort_by_cached_key(Node::name_text);
    found
}

impl Node {
    /// Returns the name as it stands on its line.
    pub(in crate::events) fn name_text(&self) -> String {
        format!("{}{}", self.name, if self.optional { "?" } else { "" })
    }

    fn size(&self) -> usize {
        1 + self.below.iter().map(Node::size).sum::<usize>()
    }

    fn write(&self, depth: usize, out: &mut String) {
        push(&self.name_text(), &Printed(&self.kinds).to_string(), depth, out);
        self.below.iter().for_each(|below| below.write(depth + 1, out));
    }
}

fn push(name: &str, text: &str, depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
    padded(name, text, if depth == 0 { name.chars().count() } else { NAMES }, out);
    out.push('\n');
}
