//! Diffs of goldens for the terminal.

use retake_base::line::{Line, Side, texts};
use similar::{DiffOp, DiffTag, TextDiff};

/// The most lines of a diff, about a screenful.
const LINES: usize = 40;
/// The most characters of a line that are shown.
const WIDTH: usize = 160;
/// How many characters of a long line are shown before its first difference.
const AROUND: usize = 40;
/// The number of unchanged lines around a change.
const CONTEXT: usize = 2;

/// The most lines of a text that are compared, not counting the common beginning and end of the two texts. Nobody reads a diff of
/// more lines, and the time to compare them grows with their square.
const COMPARED: usize = 1000;

/// A unified diff of two texts, of about a screenful at most: `-` for the first, `+` for the second.
pub fn unified(old: &str, new: &str) -> String {
    texts(&unified_lines(old, new)).join("\n")
}

/// The same as lines.
pub fn unified_lines(old: &str, new: &str) -> Vec<Line> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.trim_end().lines().collect(), new.trim_end().lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - same;
    let same_at_end = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let from = same.saturating_sub(CONTEXT);
    let window = |lines: &[&'_ str]| -> (usize, usize) {
        let differing = lines.len() - same - same_at_end;
        let end = lines.len() - same_at_end.saturating_sub(CONTEXT);
        (end.min(same + COMPARED), differing.saturating_sub(COMPARED))
    };
    let ((old_end, old_more), (new_end, new_more)) = (window(&old), window(&new));
    let (old, new) = (&old[from..old_end], &new[from..new_end]);
    let mut lines = Vec::new();
    for (i, group) in TextDiff::from_slices(old, new).grouped_ops(CONTEXT).into_iter().enumerate() {
        if i > 0 {
            lines.push("  ⋮".into());
        }
        for op in group {
            show(&op, old, new, &mut lines);
        }
    }
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    if more > 0 {
        lines.push(format!("  … {more} more lines").into());
    }
    if old_more + new_more > 0 {
        let more =
            format!("  … and {old_more} more lines of the first text and {new_more} of the second, not compared");
        lines.push(more.into());
    }
    lines
}

/// Appends the lines of one operation. A long line that replaces another is cut to the place where the two begin to differ.
fn show(op: &DiffOp, old: &[&str], new: &[&str], lines: &mut Vec<Line>) {
    let (old, new) = (&old[op.old_range()], &new[op.new_range()]);
    if op.tag() == DiffTag::Equal {
        lines.extend(old.iter().map(|line| signed(Side::Both, line, 0)));
        return;
    }
    let differs_at = |i: usize| match (old.get(i), new.get(i)) {
        (Some(old), Some(new)) => old.chars().zip(new.chars()).take_while(|(old, new)| old == new).count(),
        _ => 0,
    };
    lines.extend(old.iter().enumerate().map(|(i, line)| signed(Side::Gone, line, differs_at(i))));
    lines.extend(new.iter().enumerate().map(|(i, line)| signed(Side::Come, line, differs_at(i))));
}

/// A line with its sign. A long line is cut to [`WIDTH`] characters around the first one that differs.
fn signed(side: Side, line: &str, differs_at: usize) -> Line {
    let whole = line.chars().nth(WIDTH).is_none();
    let from = if whole || differs_at < WIDTH - AROUND { 0 } else { differs_at - AROUND };
    let mut shown = if from > 0 { "…".to_owned() } else { String::new() };
    let mut rest = line.chars().skip(from);
    shown.extend(rest.by_ref().take(WIDTH));
    if rest.next().is_some() {
        shown.push('…');
    }
    let indent = if side == Side::Both { 2 } else { 0 };
    Line::of(side, indent, shown)
}

#[cfg(test)]
mod tests;
