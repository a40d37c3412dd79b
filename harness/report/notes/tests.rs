use super::*;
use retake_core::key::Check;
use retake_model::FlawKind;

#[test]
fn repeated_notes_become_one_with_the_first_call_and_a_count() {
    let drift = |check, recorded: &str, called: &str| DriftOf {
        check,
        recorded: recorded.into(),
        called: called.into(),
        breakage: None,
    };
    let drift = [
        (0, drift(Check::Prompt, "Be brief now.", "Be terse now.")),
        (0, drift(Check::Model, "gpt-4o", "gpt-5")),
        (3, drift(Check::Prompt, "Be brief now.", "Be terse now.")),
        (4, drift(Check::Tools, "", "[{\"name\": \"f\"}]")),
    ];
    let flaw = |turn| CallFlaw {
        caller: Some("a".into()),
        turn,
        what: "a tool result without its call: `x`".into(),
        kind: FlawKind::Protocol,
    };
    let expected = [
        "drift: prompt changed in the call, turn 1 and 1 more call: \"brief\" → \"terse\"",
        "drift: model changed in the call, turn 1: \"gpt-4o\" → \"gpt-5\"",
        "drift: tools changed in the call, turn 5: nothing → \"[{\\\"name\\\": \\\"f\\\"}]\"",
        "protocol: a tool result without its call: `x` in the call by `a`, turn 2 and 1 more call",
    ];
    let said = notes(None, &drift, &[flaw(Some(1)), flaw(None)]);
    assert_eq!(note_lines(&said), expected);
    // What all scenarios are told is one line.
    let other = vec![said[1].clone(), Note::from("something else".to_owned())];
    let run = BTreeMap::from([("a".to_owned(), vec![said[0].clone(), said[1].clone()]), ("b".to_owned(), other)]);
    let expected = [
        "all 2 scenarios: drift: model changed: \"gpt-4o\" → \"gpt-5\"",
        "a: drift: prompt changed in the call, turn 1 and 1 more call: \"brief\" → \"terse\"",
        "b: something else",
    ];
    assert_eq!(lines_of_run(&run), expected);
    let run =
        BTreeMap::from([("a", 0), ("b", 1), ("c", 0)].map(|(name, at)| (name.to_owned(), vec![said[at].clone()])));
    let some = [
        "a, c: drift: prompt changed: \"brief\" → \"terse\"",
        "b: drift: model changed in the call, turn 1: \"gpt-4o\" → \"gpt-5\"",
    ];
    assert_eq!(lines_of_run(&run), some);
}
