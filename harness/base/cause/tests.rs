use super::{Cause, CauseKind, headline};

#[test]
fn a_first_line_names_each_family_once_and_all_causes() {
    let causes = [
        Cause::new(CauseKind::ToolResult, "tool `read` returned different text"),
        Cause::new(CauseKind::MessageText, "message 1 says something else"),
        Cause::new(CauseKind::EventMissing, "the event `end` did not come"),
    ];
    assert_eq!(
        headline(&causes),
        "replay miss: tool `read` returned different text; and message 1 says something else; \
         and golden: the event `end` did not come"
    );
}
