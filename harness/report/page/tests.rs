use super::*;
use crate::report::run_data::{NO_ORPHANS, RunAction};

#[test]
fn what_a_run_says_is_text_and_never_markup() {
    let text = diffed("  + <script>alert(1)</script>\n  & \"so\" on\n- gone");
    assert_eq!(
        text,
        "<span class=\"add\">  + &lt;script&gt;alert(1)&lt;/script&gt;</span>\n  &amp; &quot;so&quot; on\n<span class=\"del\">- gone</span>"
    );
}

#[test]
fn numbers_are_read_in_thousands() {
    let read = [0, 999, 1_204, 1_000_000].map(view::in_thousands);
    assert_eq!(read, ["0", "999", "1,204", "1,000,000"]);
}

#[test]
fn a_page_of_no_runs_is_a_page() {
    assert!(page(&[]).unwrap().contains("All 0 scenarios passed"));
}

#[test]
fn what_stands_beside_the_scenarios_is_counted_where_it_failed_alone() {
    let run = |name: &str| RunData::passed(name, "a".into(), RunAction::Test, String::new());
    let (chat, mut beside) = (run("chat"), run(NO_ORPHANS));
    assert!(page(&[chat.clone(), beside.clone()]).unwrap().contains("The scenario passed"));
    beside.result = RunResult::Failed;
    assert!(page(&[chat, beside]).unwrap().contains("1 of 2 scenarios failed"));
}
