//! Two texts side by side, line by line. Pure.

use serde::Serialize;
use similar::{DiffTag, TextDiff};

use super::columns::wrapped;
use crate::text::counted;

/// Unchanged lines around a change.
const CONTEXT: usize = 3;
/// The most rows: what is longer is read in an editor.
const ROWS: usize = 400;

/// A row of two texts side by side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Row {
    pub(crate) kind: RowKind,
    /// Of the first text; of a fold what is left out.
    pub(crate) old: String,
    /// Of the second.
    pub(crate) new: String,
    /// For how many lines of both a fold stands.
    #[serde(skip)]
    pub(crate) folded: usize,
}

impl Row {
    /// A line that both have.
    pub(crate) fn same(line: &str) -> Row {
        Row { kind: RowKind::Same, old: line.to_owned(), new: line.to_owned(), folded: 0 }
    }
}

/// What became of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RowKind {
    Same,
    Changed,
    /// Only the first text has it.
    Gone,
    /// Only the second has it.
    Come,
    /// Unchanged lines that are left out.
    Fold,
}

/// The rows of two texts, unchanged lines far from a change folded.
pub(crate) fn beside(old: &str, new: &str) -> Vec<Row> {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.trim_end().lines().collect(), new.trim_end().lines().collect());
    let row = |kind, old: Option<&&str>, new: Option<&&str>| {
        let text = |line: Option<&&str>| line.map_or_else(String::new, |line| (*line).to_owned());
        Row { kind, old: text(old), new: text(new), folded: 0 }
    };
    let fold = |lines: usize| Row {
        kind: RowKind::Fold,
        old: format!("… {} that are the same", counted(lines, "line")),
        new: String::new(),
        folded: lines,
    };
    let diff = TextDiff::from_slices(&old, &new);
    let (mut rows, mut done) = (Vec::new(), 0);
    for group in diff.grouped_ops(CONTEXT) {
        let begins = group.first().map_or(0, |op| op.old_range().start);
        if begins > done {
            rows.push(fold(begins - done));
        }
        for op in &group {
            let (olds, news) = (&old[op.old_range()], &new[op.new_range()]);
            done = op.old_range().end;
            match op.tag() {
                DiffTag::Equal => rows.extend(olds.iter().map(|line| row(RowKind::Same, Some(line), Some(line)))),
                _ => rows.extend((0..olds.len().max(news.len())).map(|i| {
                    let (old, new) = (olds.get(i), news.get(i));
                    let kind = match (old, new) {
                        (Some(_), Some(_)) => RowKind::Changed,
                        (Some(_), None) => RowKind::Gone,
                        _ => RowKind::Come,
                    };
                    row(kind, old, new)
                })),
            }
        }
    }
    if done < old.len() && !rows.is_empty() {
        rows.push(fold(old.len() - done));
    }
    if rows.len() > ROWS {
        let more = rows.len() - ROWS;
        rows.truncate(ROWS);
        let old = format!("… and {} further on", counted(more, "row"));
        rows.push(Row { kind: RowKind::Fold, old, new: String::new(), folded: 0 });
    }
    rows
}

/// Such rows for a terminal of a width, each side in its half: sign and lines, the first text's before `│`.
pub(crate) fn in_columns(rows: &[Row], width: usize) -> Vec<(RowKind, String)> {
    let half = width.saturating_sub(3) / 2;
    let mut lines = Vec::new();
    for row in rows {
        if row.kind == RowKind::Fold {
            lines.push((row.kind, format!("  {}", row.old)));
            continue;
        }
        let signed = |sign: char, text: &str, there: bool| -> Vec<String> {
            let room = half.saturating_sub(2);
            let lines = if there { wrapped(text, 0, room) } else { Vec::new() };
            let sign = |(i, line): (usize, String)| format!("{} {line}", if i == 0 { sign } else { ' ' });
            lines.into_iter().enumerate().map(sign).collect()
        };
        let (minus, plus) = if row.kind == RowKind::Same { (' ', ' ') } else { ('-', '+') };
        let old = signed(minus, &row.old, row.kind != RowKind::Come);
        let new = signed(plus, &row.new, row.kind != RowKind::Gone);
        for i in 0..old.len().max(new.len()) {
            let side = |lines: &[String]| lines.get(i).cloned().unwrap_or_default();
            lines.push((row.kind, format!("{:<half$} │ {}", side(&old), side(&new)).trim_end().to_owned()));
        }
    }
    lines
}

#[cfg(test)]
mod tests;
