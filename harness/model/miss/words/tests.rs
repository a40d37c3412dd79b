use super::*;
use retake_base::line::texts;

#[test]
fn a_diff_stays_within_its_lines_and_shows_white_space() {
    let many = "line\n".repeat(500);
    let other = "row\n".repeat(400);
    assert!(diff(&many, &other).len() <= DIFF_LINES);
    let long = "x".repeat(100_000);
    let lines = texts(&diff(&format!("{long}é a {long}"), &format!("{long}é b {long}")));
    assert!(lines.len() <= DIFF_LINES && lines.iter().all(|line| line.chars().count() < 200), "{lines:?}");
    assert!(lines[0].contains("é a xx"), "{lines:?}");
    assert_eq!(texts(&diff("a ", "a"))[..2], ["  - a·", "  + a"]);
    assert_eq!(texts(&diff("a\nb\nc\n", "a\nB\nc\n"))[..3], ["    a", "  - b", "  + B"]);
}
