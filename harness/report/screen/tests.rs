use super::*;

fn failure() -> Failure {
    let lines: Vec<String> = (0..60).map(|line| format!("  line {line} {}", "x".repeat(120))).collect();
    Failure::new("golden: the status is 202, not 200")
        .evidence(lines.join("\n"))
        .resolve("if the change is intended", "update it")
}

#[test]
fn the_first_line_and_the_command_fit_a_screen_with_any_amount_of_evidence() {
    let screen = Screen { size: Some(SIZE), colours: false };
    let shown = screen.show(&failure(), "chat");
    assert!(shown.lines().count() <= SIZE.1 - AROUND, "{shown}");
    assert!(shown.lines().all(|line| line.chars().count() <= SIZE.0), "{shown}");
    assert!(shown.starts_with("golden: the status is 202, not 200\n"), "{shown}");
    assert!(shown.contains("more lines: retake explain chat"), "{shown}");
    assert!(shown.ends_with("if the change is intended:\n    update it"), "{shown}");
}

#[test]
fn of_a_log_the_end_is_shown() {
    let lines: Vec<String> = (0..30).map(|line| format!("  | frame {line}")).collect();
    let text = format!("the last lines of its log:\n{}\n  | ValueError: x", lines.join("\n"));
    let failure = Failure::new("found 500").evidence("  not asked: turn 1").evidence(Evidence::Log { text });
    let screen = Screen { size: Some(SIZE), colours: false };
    let shown = screen.show(&failure.resolve("to see more", "explain it"), "chat");
    let before = "not asked: turn 1\nthe last lines of its log:\n  | frame 26\n";
    assert!(shown.contains(before) && shown.contains("  | ValueError: x\n  … 26 more lines: "), "{shown}");
}

#[test]
fn without_a_screen_the_whole_failure_is_printed() {
    let screen = Screen { size: None, colours: false };
    assert_eq!(screen.show(&failure(), "chat"), failure().to_string());
}

#[test]
fn lines_of_a_diff_have_colours() {
    let screen = Screen { size: None, colours: true };
    let line = |side, indent, text: &str| screen.line(&Line::of(side, indent, text));
    assert_eq!(line(Side::Gone, 0, "b"), "\u{1b}[31m- b\u{1b}[0m");
    assert_eq!(line(Side::Come, 4, "c\u{1b}[1m"), "\u{1b}[32m    + c\\u001b[1m\u{1b}[0m");
    // A line that only looks like one of a diff has none.
    assert_eq!(line(Side::Both, 0, "- item"), "- item");
}
