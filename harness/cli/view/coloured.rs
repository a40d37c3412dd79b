//! Diffs for a terminal, in colours if the terminal shows them.

use std::io::IsTerminal as _;

use retake::__private::report::terminal;

use super::side_by_side::{Row, RowKind, in_columns, side_by_side, signed};

/// The lines of a diff.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diff(Vec<(RowKind, String)>);

impl Diff {
    /// A unified diff in lines of at most `width` characters: `-` for the first text, `+` for the second.
    pub(crate) fn unified(old: &str, new: &str, width: usize) -> Diff {
        Diff::of_rows(&side_by_side(old, new), width)
    }

    pub(crate) fn side_by_side(old: &str, new: &str, width: usize) -> Diff {
        Diff(in_columns(&side_by_side(old, new), width))
    }

    /// The same as [`Diff::unified`], with all unchanged lines.
    pub(crate) fn whole(old: &str, new: &str, width: usize) -> Diff {
        let rows = side_by_side(old, new);
        let mut lines: Vec<&str> = old.lines().collect();
        let mut whole: Vec<Row> = Vec::new();
        // A fold replaces the next lines of the first text.
        for row in rows {
            match row.kind {
                RowKind::Fold => {
                    let kept: Vec<&str> = lines.drain(..row.folded.min(lines.len())).collect();
                    whole.extend(kept.into_iter().map(Row::same));
                }
                RowKind::Added => whole.push(row),
                _ => {
                    lines.drain(..1.min(lines.len()));
                    whole.push(row);
                }
            }
        }
        Diff::of_rows(&whole, width)
    }

    /// Whether there is nothing to show.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Prints it to standard output, in colours if that is a terminal and `NO_COLOR` is not set.
    pub(crate) fn print(&self) {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty());
        let coloured = wanted && std::io::stdout().is_terminal();
        for (kind, line) in &self.0 {
            match colour(*kind).filter(|_| coloured) {
                Some(colour) => terminal::in_colour(colour, line),
                None => terminal::out(line),
            }
        }
    }

    fn of_rows(rows: &[Row], width: usize) -> Diff {
        let of = |kind, sign, text: &str| signed(sign, text, width).into_iter().map(move |line| (kind, line));
        let mut lines: Vec<(RowKind, String)> = Vec::new();
        // Of adjacent changes, print all removed lines before the added ones.
        let mut added: Vec<(RowKind, String)> = Vec::new();
        for row in rows {
            if !matches!(row.kind, RowKind::Changed | RowKind::Added | RowKind::Removed) {
                lines.append(&mut added);
            }
            match row.kind {
                RowKind::Fold => lines.push((row.kind, format!("  {}", row.old))),
                RowKind::Same => lines.extend(of(row.kind, ' ', &row.old)),
                kind => {
                    if kind != RowKind::Added {
                        lines.extend(of(RowKind::Removed, '-', &row.old));
                    }
                    if kind != RowKind::Removed {
                        added.extend(of(RowKind::Added, '+', &row.new));
                    }
                }
            }
        }
        lines.append(&mut added);
        Diff(lines)
    }
}

/// The number of a row's colour on a terminal; `None` for the terminal's own.
fn colour(kind: RowKind) -> Option<&'static str> {
    match kind {
        RowKind::Removed => Some("31"),
        RowKind::Added => Some("32"),
        RowKind::Changed => Some("33"),
        RowKind::Fold => Some("2"),
        RowKind::Same => None,
    }
}

#[cfg(test)]
mod tests;
