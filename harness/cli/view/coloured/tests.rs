use super::*;

const OLD: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nk";
const NEW: &str = "a\nb\nc\nd\ne\nf\ng\nH\nI\nk\nl";

#[test]
fn removed_lines_come_before_the_ones_that_replace_them() {
    let lines: Vec<String> = Diff::unified(OLD, NEW, 80).lines(false).collect();
    assert_eq!(lines, ["  … 4 unchanged lines", "  e", "  f", "  g", "- h", "- i", "+ H", "+ I", "  k", "+ l"]);
}

#[test]
fn the_whole_diff_contains_each_line_once() {
    let lines: Vec<String> = Diff::whole(OLD, NEW, 80).lines(false).collect();
    assert_eq!(lines.len(), 13, "{lines:?}");
    assert_eq!(lines[..4], ["  a", "  b", "  c", "  d"]);
}

#[test]
fn lines_have_colours_only_if_asked_for() {
    let diff = Diff::unified("a", "b", 80);
    assert_eq!(diff.lines(false).collect::<Vec<_>>(), ["- a", "+ b"]);
    assert_eq!(diff.lines(true).collect::<Vec<_>>(), ["\u{1b}[31m- a\u{1b}[0m", "\u{1b}[32m+ b\u{1b}[0m"]);
}
