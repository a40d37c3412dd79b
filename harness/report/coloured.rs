//! Diffs in a terminal: lines of two texts with what became of each, coloured where the terminal shows colours.

use super::beside::{Row, RowKind, beside, in_columns};
use super::columns::wrapped;

/// Lines of a diff.
#[derive(Clone, Debug, Default)]
pub(crate) struct Diff(Vec<(RowKind, String)>);

impl Diff {
    /// Changes one below the other, in lines of at most `width` characters: `-` for the first text, `+` for the second.
    pub(crate) fn unified(old: &str, new: &str, width: usize) -> Diff {
        Diff::of_rows(&beside(old, new), width)
    }

    /// The two side by side.
    pub(crate) fn beside(old: &str, new: &str, width: usize) -> Diff {
        Diff(in_columns(&beside(old, new), width))
    }

    /// The same as [`Diff::unified`], with all that is unchanged.
    pub(crate) fn whole(old: &str, new: &str, width: usize) -> Diff {
        let rows = beside(old, new);
        let mut lines: Vec<&str> = old.lines().collect();
        let mut whole: Vec<Row> = Vec::new();
        // A fold stands for the next lines of the first text.
        for row in rows {
            match row.kind {
                RowKind::Fold => {
                    let kept: Vec<&str> = lines.drain(..row.folded.min(lines.len())).collect();
                    whole.extend(kept.into_iter().map(Row::same));
                }
                RowKind::Come => whole.push(row),
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

    /// Its lines, with the colours of terminals where they are wanted.
    pub(crate) fn lines(&self, coloured: bool) -> impl Iterator<Item = String> {
        self.0.iter().map(move |(kind, line)| {
            let colour = match kind {
                RowKind::Gone => "31",
                RowKind::Come => "32",
                RowKind::Changed => "33",
                RowKind::Fold => "2",
                RowKind::Same => return line.clone(),
            };
            if coloured { format!("\u{1b}[{colour}m{line}\u{1b}[0m") } else { line.clone() }
        })
    }

    fn of_rows(rows: &[Row], width: usize) -> Diff {
        let mut lines: Vec<(RowKind, String)> = Vec::new();
        // Neighbours that changed: first all that went, then all that came.
        let mut come: Vec<(RowKind, String)> = Vec::new();
        for row in rows {
            if !matches!(row.kind, RowKind::Changed | RowKind::Come | RowKind::Gone) {
                lines.append(&mut come);
            }
            match row.kind {
                RowKind::Fold => lines.push((row.kind, format!("  {}", row.old))),
                RowKind::Same => lines.extend(signed(row.kind, ' ', &row.old, width)),
                kind => {
                    if kind != RowKind::Come {
                        lines.extend(signed(RowKind::Gone, '-', &row.old, width));
                    }
                    if kind != RowKind::Gone {
                        come.extend(signed(RowKind::Come, '+', &row.new, width));
                    }
                }
            }
        }
        lines.append(&mut come);
        Diff(lines)
    }
}

fn signed(kind: RowKind, sign: char, text: &str, width: usize) -> Vec<(RowKind, String)> {
    let line = |(i, line): (usize, String)| {
        (kind, format!("{} {line}", if i == 0 { sign } else { ' ' }).trim_end().to_owned())
    };
    wrapped(text, 0, width.saturating_sub(2)).into_iter().enumerate().map(line).collect()
}

#[cfg(test)]
mod tests;
