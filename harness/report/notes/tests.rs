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
        "drift: prompt changed in the call, turns[0] and 1 more call: \"brief\" → \"terse\"",
        "drift: model changed in the call, turns[0]: \"gpt-4o\" → \"gpt-5\"",
        "drift: tools changed in the call, turns[4]: nothing → \"[{\\\"name\\\": \\\"f\\\"}]\"",
        "protocol: a tool result without its call: `x` in the call by `a`, turns[1] and 1 more call",
    ];
    assert_eq!(notes(None, &drift, &[flaw(Some(1)), flaw(None)]), expected);
}
