use super::Foreign;

#[test]
fn a_prompt_is_edited_or_says_other_values() {
    let mut foreign = Foreign::default();
    foreign.add_text(
        r#"{"tariff": "FLEX", "meter": "M-3003", "name": "Chloé Durand", "kind": "complaint", "floor": "2"}"#,
    );
    foreign.add_text("They asked about the grid fee. ");
    let prompt = "Help Chloé Durand. Tariff: FLEX. Meter: M-3003.\nEarlier: They asked about the grid fee.\nOn 2 sorts: complaint, other.";
    for (was, is) in [
        ("FLEX. Meter: M-3003", "M-3003. Meter: FLEX"),
        ("FLEX. Meter: M-3003", "{tariff}. Meter: {meter}"),
        ("Chloé Durand", "{name}"),
        ("\nEarlier: They asked about the grid fee.", ""),
    ] {
        assert!(foreign.says_other_values(prompt, &prompt.replace(was, is)), "{is}");
    }
    for (was, is) in [
        ("Help", "Always help"),
        ("complaint, other", "grievance, other"),
        ("On 2 sorts", "On three sorts"),
        ("Meter: M-3003.", "The meter is M-3003, which they know."),
        ("other.", "other: FLEX."),
    ] {
        assert!(!foreign.says_other_values(prompt, &prompt.replace(was, is)), "{is}");
    }
}
