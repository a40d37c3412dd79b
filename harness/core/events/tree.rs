//! Prints trees of lines. A tree that appears at several places is printed once. The other places refer to it, and list only
//! the lines that differ: otherwise, a large state that is in every event would fill a screen each time.
//!
//! The column of a line's text does not depend on other lines, so one change stays one line of a diff.

use std::rc::Rc;

use super::notation::padded;

/// The smallest width of the column of names.
const NAMES: usize = 9;
/// The smallest number of lines of a tree to which other places can refer.
const WORTH: usize = 6;

/// A name, the description of its value, and the lines below it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct TreeLine {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) below: Rc<[TreeLine]>,
}

/// The trees of one golden.
#[derive(Default)]
pub(super) struct Trees {
    written: Vec<Written>,
}

/// A tree that was printed.
struct Written {
    name: String,
    place: String,
    below: Rc<[TreeLine]>,
}

impl Trees {
    /// Appends the text of a tree.
    pub(super) fn write(&mut self, tree: &TreeLine, out: &mut String) {
        self.line(tree, &tree.name, 0, out);
    }

    fn line(&mut self, line: &TreeLine, place: &str, depth: usize, out: &mut String) {
        let Some((other, differing)) = self.like(line) else {
            push(line, &line.text, depth, out);
            for below in &*line.below {
                self.line(below, &format!("{place}.{}", base(&below.name)), depth + 1, out);
            }
            let (name, below) = (base(&line.name).to_owned(), line.below.clone());
            self.written.push(Written { name, place: place.to_owned(), below });
            return;
        };
        let as_there = if other == place { "as above".to_owned() } else { format!("as in {other}") };
        let comma = if line.text.is_empty() { "" } else { ", " };
        let but = if differing.is_empty() { "" } else { ", but" };
        push(line, &format!("{}{comma}{as_there}{but}", line.text), depth, out);
        for line in &differing {
            write(line, depth + 1, out);
        }
    }

    /// Returns the place of a printed tree with the same name, and the lines that differ from it; `None` if too many differ.
    fn like(&self, line: &TreeLine) -> Option<(&str, Vec<TreeLine>)> {
        let size = size(&line.below);
        if size < WORTH {
            return None;
        }
        let named = self.written.iter().filter(|written| written.name == base(&line.name));
        let compared = named.map(|written| (&*written.place, differing(&written.below, &line.below)));
        let (place, differing) = compared.min_by_key(|(_, differing)| self::size(differing))?;
        (self::size(&differing) <= size / 3).then_some((place, differing))
    }
}

/// Returns the lines that differ from `others`, and those of `others` that are missing.
fn differing(others: &[TreeLine], lines: &[TreeLine]) -> Vec<TreeLine> {
    let of = |lines: &'_ [TreeLine], name: &str| lines.iter().position(|line| base(&line.name) == base(name));
    let mut differing = Vec::new();
    for line in lines {
        match of(others, &line.name).map(|at| &others[at]) {
            Some(other) if other == line => {}
            Some(other) => {
                let below = self::differing(&other.below, &line.below).into();
                differing.push(TreeLine { name: line.name.clone(), text: line.text.clone(), below });
            }
            None => differing.push(line.clone()),
        }
    }
    let gone = others.iter().filter(|other| of(lines, &other.name).is_none());
    differing.extend(gone.map(|other| TreeLine { name: other.name.clone(), text: "–".to_owned(), below: [].into() }));
    differing.sort_by(|a, b| a.name.cmp(&b.name));
    differing
}

fn size(lines: &[TreeLine]) -> usize {
    lines.iter().map(|line| 1 + size(&line.below)).sum()
}

fn base(name: &str) -> &str {
    name.strip_suffix('?').unwrap_or(name)
}

fn write(line: &TreeLine, depth: usize, out: &mut String) {
    push(line, &line.text, depth, out);
    for below in &*line.below {
        write(below, depth + 1, out);
    }
}

fn push(line: &TreeLine, text: &str, depth: usize, out: &mut String) {
    out.extend(std::iter::repeat_n("  ", depth));
    let width = if depth == 0 { line.name.chars().count() } else { NAMES };
    padded(&line.name, text, width, out);
    out.push('\n');
}
