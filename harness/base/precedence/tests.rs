use super::*;

fn causes(kinds: &[Kind]) -> Vec<Cause> {
    kinds.iter().map(|kind| Cause::new(*kind, "x")).collect()
}

#[test]
fn what_follows_from_a_cause_is_not_named() {
    for (finding, from, expected) in [
        (Kind::Check, Kind::Caller, true),
        (Kind::Check, Kind::ToolCallId, true),
        (Kind::Check, Kind::ToolResult, false),
        (Kind::ToolUnused, Kind::ToolResult, true),
        (Kind::ToolUnused, Kind::Check, false),
        (Kind::Protocol, Kind::Caller, false),
    ] {
        assert_eq!(follows(finding, &causes(&[from])), expected, "{finding:?} from {from:?}");
    }
    assert!(!follows(Kind::Check, &[]));
}

#[test]
fn each_row_names_a_change_beside_its_causes_only() {
    let text_and_result = [Kind::MessageText, Kind::ToolResult];
    for (kind, is_less, beside, expected) in [
        (Kind::Status, false, &[Kind::ToolResult][..], true),
        (Kind::Status, false, &[Kind::Crash], false),
        (Kind::EventRenamed, false, &text_and_result, true),
        (Kind::EventShape, false, &[Kind::MessageText], true),
        (Kind::EventShape, false, &[Kind::ToolResult], false),
        (Kind::EventOrder, false, &[Kind::Caller], true),
        (Kind::EventOrder, false, &text_and_result, false),
        (Kind::EventMissing, true, &text_and_result, true),
        (Kind::EventMissing, true, &[Kind::CallerSilent], false),
        (Kind::EventShape, false, &[Kind::CallerSilent], true),
        (Kind::EventShape, true, &[Kind::CallerSilent], false),
        (Kind::EventValue, false, &[Kind::Check], true),
        (Kind::EventValue, false, &[Kind::Check, Kind::MessageText], false),
        (Kind::EventValue, false, &[Kind::MessageText], false),
        (Kind::Body, false, &[Kind::ToolArgument], false),
    ] {
        assert_eq!(is_named(kind, is_less, &causes(beside)), expected, "{kind:?} beside {beside:?}");
    }
}
