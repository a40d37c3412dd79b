use super::*;
use retake_model::OfModel;

#[test]
fn a_summary_has_a_line_for_each_model() {
    let mut tally = Tally { calls: 4, in_flight: 1, ..Tally::default() };
    let of = |calls, input, output| OfModel { calls, tokens: Usage { input, output, ..Usage::default() } };
    tally.models.insert("gpt-4o-mini".to_owned(), of(3, 1_204, 88));
    tally.models.insert("big".to_owned(), of(1, 1_234_567, 0));
    tally.callers.extend(["lead_agent".to_owned(), "middleware:title".to_owned()]);
    let expected = ["big: 1 call, 1,234,567 tokens in, 0 out", "gpt-4o-mini: 3 calls, 1,204 tokens in, 88 out"];
    assert_eq!(summary(&tally), expected);
    let line = "4 calls, 1 in flight, lead_agent middleware:title, 1,235,771 tokens in, 88 out";
    assert_eq!(state(&tally), line);
}

#[test]
fn where_no_answer_reports_tokens_none_are_told() {
    let mut tally = Tally { calls: 2, ..Tally::default() };
    tally.models.insert("local".to_owned(), OfModel { calls: 2, ..OfModel::default() });
    assert_eq!(summary(&tally), ["local: 2 calls, tokens not reported"]);
    assert_eq!(state(&tally), "2 calls");
}
