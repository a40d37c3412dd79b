use super::*;

const OLD: &str = "a\nb\nc\nd\ne\nf\ng\nh\ni\nk";
const NEW: &str = "a\nb\nc\nd\ne\nf\ng\nH\nI\nk\nl";

#[test]
fn removed_lines_come_before_the_ones_that_replace_them() {
    let diff = Diff::unified(OLD, NEW, 80);
    assert_eq!(lines(&diff), ["  … 4 unchanged lines", "  e", "  f", "  g", "- h", "- i", "+ H", "+ I", "  k", "+ l"]);
}

#[test]
fn the_whole_diff_contains_each_line_once() {
    let diff = Diff::whole(OLD, NEW, 80);
    let lines = lines(&diff);
    assert_eq!(lines.len(), 13, "{lines:?}");
    assert_eq!(lines[..4], ["  a", "  b", "  c", "  d"]);
}

fn lines(diff: &Diff) -> Vec<&str> {
    diff.0.iter().map(|(_, line)| line.as_str()).collect()
}
