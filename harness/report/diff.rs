//! Diffs of goldens for the terminal.

use similar::{ChangeTag, TextDiff};

/// The most lines that are shown: a screenful.
const LINES: usize = 40;
/// The most characters of a line that are shown.
const WIDTH: usize = 160;
/// Unchanged lines around a change.
const CONTEXT: usize = 2;

/// A unified diff of two texts, at most a screenful: `-` for the first, `+` for the second.
#[must_use]
pub fn unified(old: &str, new: &str) -> String {
    let (old, new) = (old.trim_end(), new.trim_end());
    let diff = TextDiff::from_lines(old, new);
    let mut lines = Vec::new();
    for (i, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if i > 0 {
            lines.push("  ⋮".to_owned());
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                ChangeTag::Delete => '-',
                ChangeTag::Insert => '+',
                ChangeTag::Equal => ' ',
            };
            lines.push(clipped(&format!("{sign} {}", change.value().trim_end_matches(['\n', '\r']))));
        }
    }
    let more = lines.len().saturating_sub(LINES);
    lines.truncate(LINES);
    if more > 0 {
        lines.push(format!("  … {more} more lines"));
    }
    lines.join("\n")
}

fn clipped(line: &str) -> String {
    if line.chars().count() <= WIDTH {
        return line.to_owned();
    }
    line.chars().take(WIDTH - 1).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_stand_with_their_context_and_stay_a_screenful() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\ni\n";
        assert_eq!(unified(old, "a\nb\nc\nD\ne\nf\ng\nh\ni\n"), "  b\n  c\n- d\n+ D\n  e\n  f");
        let long = "x\n".repeat(500);
        let lines = unified("", &long).lines().count();
        assert_eq!(lines, LINES + 1);
        assert!(unified("", &"y".repeat(10_000)).chars().count() < 400);
    }
}
