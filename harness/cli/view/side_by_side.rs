//! Two texts side by side, line by line. Pure.

use serde::Serialize;
use similar::{DiffTag, TextDiff};

use super::columns::wrapped;
use retake_base::text::counted;

/// The number of unchanged lines around a change.
const CONTEXT: usize = 3;
/// The most rows. Longer texts are easier to read in an editor.
const ROWS: usize = 400;

/// A row of two texts side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    pub(crate) kind: RowKind,
    /// The line of the first text. In a fold, a note about the lines that are left out.
    pub(crate) old: String,
    /// The line of the second text.
    pub(crate) new: String,
    /// The number of lines that a fold leaves out.
    #[serde(skip)]
    pub(crate) folded: usize,
}

impl Row {
    /// A line that both texts have.
    pub(crate) fn same(line: &str) -> Row {
        Row { kind: RowKind::Same, old: line.to_owned(), new: line.to_owned(), folded: 0 }
    }
}

/// How a line differs between two texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RowKind {
    Same,
    Changed,
    /// Only the first text has the line.
    Removed,
    /// Only the second text has the line.
    Added,
    /// Unchanged lines that are left out.
    Fold,
}

/// The rows of two texts. Unchanged lines that are not near a change are folded.
pub(crate) fn side_by_side(old: &str, new: &str) -> Vec<Row> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.trim_end().lines().collect(), new.trim_end().lines().collect());
    let fold = |old: String, folded| Row { kind: RowKind::Fold, old, new: String::new(), folded };
    let unchanged = |lines: usize| fold(format!("… {}", counted(lines, "unchanged line")), lines);
    let diff = TextDiff::from_slices(&old, &new);
    let (mut rows, mut done) = (Vec::new(), 0);
    for group in diff.grouped_ops(CONTEXT) {
        let begins = group.first().map_or(0, |op| op.old_range().start);
        if begins > done {
            rows.push(unchanged(begins - done));
        }
        for op in &group {
            let (olds, news) = (&old[op.old_range()], &new[op.new_range()]);
            done = op.old_range().end;
            match op.tag() {
                DiffTag::Equal => rows.extend(olds.iter().map(|line| Row::same(line))),
                _ => rows.extend((0..olds.len().max(news.len())).map(|i| {
                    let (old, new) = (olds.get(i), news.get(i));
                    let kind = match (old, new) {
                        (Some(_), Some(_)) => RowKind::Changed,
                        (Some(_), None) => RowKind::Removed,
                        _ => RowKind::Added,
                    };
                    let [old, new] = [old, new].map(|line| line.copied().unwrap_or_default().to_owned());
                    Row { kind, old, new, folded: 0 }
                })),
            }
        }
    }
    if done < old.len() && !rows.is_empty() {
        rows.push(unchanged(old.len() - done));
    }
    if rows.len() > ROWS {
        let more = rows.len() - ROWS;
        rows.truncate(ROWS);
        rows.push(fold(format!("… and {}", counted(more, "more row")), 0));
    }
    rows
}

/// The rows as lines for a terminal of this width: the first text left of `│`, the second right of it, each line with a sign.
pub(crate) fn in_columns(rows: &[Row], width: usize) -> Vec<(RowKind, String)> {
    let half = width.saturating_sub(3) / 2;
    let mut lines = Vec::new();
    for row in rows {
        if row.kind == RowKind::Fold {
            lines.push((row.kind, format!("  {}", row.old)));
            continue;
        }
        let (minus, plus) = if row.kind == RowKind::Same { (' ', ' ') } else { ('-', '+') };
        let old = if row.kind == RowKind::Added { Vec::new() } else { signed(minus, &row.old, half) };
        let new = if row.kind == RowKind::Removed { Vec::new() } else { signed(plus, &row.new, half) };
        for i in 0..old.len().max(new.len()) {
            let side = |lines: &[String]| lines.get(i).cloned().unwrap_or_default();
            lines.push((row.kind, format!("{:<half$} │ {}", side(&old), side(&new)).trim_end().to_owned()));
        }
    }
    lines
}

/// The lines of a text in this width, after a sign on the first of them.
pub(super) fn signed(sign: char, text: &str, width: usize) -> Vec<String> {
    let line = |(i, line): (usize, String)| format!("{} {line}", if i == 0 { sign } else { ' ' }).trim_end().to_owned();
    wrapped(text, 0, width.saturating_sub(2)).into_iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests;
