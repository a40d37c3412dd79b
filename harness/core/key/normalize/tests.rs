use super::*;
use crate::key::tests::literal::normalize as literal;
use proptest::prelude::*;

#[test]
fn examples() {
    let cases = [
        ("a<system-reminder>\n</system-reminder>b<system-reminder>", "ab<system-reminder>"),
        ("User: \n\n \u{1c}\nAssistant:\nx", "x"),
        ("User:\n  x", "  x"),
        ("--- BEGIN USER INPUT ---\nhi\n--- END USER INPUT ---", "hi"),
        ("f0494dc0-1392-e452-7ea2-fb2b42eb80dcX", "<UUID>X"),
        ("1-2024-01-02T03:04:05.5+02:00 ٢٠٢٤-٠١-٠٢", "1-<TS> <DATE>"),
        ("/tmp/2026-11-21 10:00:00", "<PATH>"),
        ("/private/tmp/a'/private/var/folders/x\u{1f}y", "<PATH>'<PATH>\u{1f}y"),
    ];
    for (text, normalized) in cases {
        assert_eq!(Normalizer::default().apply(text), normalized, "{text}");
        assert_eq!(literal(text), normalized, "{text}");
    }
}

#[test]
fn the_suites_rules_run_last_and_may_use_groups() {
    let rules = [(Regex::new(r"order-(\d)\d*").unwrap(), "<ORDER $1>".to_owned())];
    let normalizer = Normalizer::default().with(rules);
    assert_eq!(normalizer.apply("order-42 on 2024-01-02"), "<ORDER 4> on <DATE>");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]
    #[test]
    fn equals_the_literal_rules(parts in prop::collection::vec(prop_oneof![
        "[0-9a-f]{1,9}", "[0-9]{1,5}", Just("-".to_owned()), Just("--".to_owned()), "[ T:.Z+\n\r\t'\"\u{1c}\u{85}é٣²]",
        Just("2024-01-02".to_owned()), Just("٢٠٢٤-01-02".to_owned()), Just("2026-11-21 10:00:00".to_owned()),
        Just("f0494dc0-1392-e452-7ea2-fb2b42eb80dc".to_owned()), Just("User:".to_owned()),
        Just("Assistant:".to_owned()), Just("<system-reminder>".to_owned()),
        Just("</system-reminder>".to_owned()), Just("--- BEGIN USER INPUT ---".to_owned()),
        Just("--- END USER INPUT ---".to_owned()), Just("/tmp/".to_owned()), Just("/private".to_owned()),
        Just("/var/folders/".to_owned()), ".",
    ], 0..24)) {
        let text = parts.concat();
        prop_assert_eq!(Normalizer::default().apply(&text), literal(&text));
    }
}
