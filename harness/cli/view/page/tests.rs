use super::*;
use retake::__private::report::{NO_ORPHANS, RunAction};

#[test]
fn texts_of_a_run_are_escaped() {
    let line = |side, indent, text: &str| Line::of(side, indent, text);
    let lines = [
        line(Side::Come, 2, "<script>alert(1)</script>"),
        line(Side::Both, 2, "& \"so\" on"),
        line(Side::Gone, 0, "gone"),
    ];
    let text = marked(&lines);
    assert_eq!(
        text,
        "<span class=\"add\">  + &lt;script&gt;alert(1)&lt;/script&gt;</span>\n  &amp; &quot;so&quot; on\n<span class=\"del\">- gone</span>"
    );
}

#[test]
fn a_page_without_runs_can_be_rendered() {
    assert!(page(&[]).unwrap().contains("No scenario ran"));
}

#[test]
fn the_check_for_orphans_is_counted_only_if_it_failed() {
    let run = |name: &str| RunData::passed(name, "a".into(), RunAction::Test, String::new());
    let (chat, mut orphans) = (run("chat"), run(NO_ORPHANS));
    assert!(page(&[chat.clone(), orphans.clone()]).unwrap().contains("The scenario passed"));
    orphans.result = RunResult::Failed;
    assert!(page(&[chat, orphans]).unwrap().contains("1 of 2 scenarios failed"));
}
