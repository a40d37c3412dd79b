use super::*;

#[test]
fn tags_win_over_the_name_and_absence_is_the_lead_agent() {
    assert_eq!(caller_of_tags(["x", "subagent:a", "lead_agent"], Some("n")), Some("subagent:a"));
    assert_eq!(caller_of_tags(["x"], Some("title_agent")), Some("title_agent"));
    let canonical = |name| Aliases::default().canonical(name, &Normalizer::default());
    assert_eq!(canonical(None), "lead_agent");
    assert_eq!(canonical(Some("\u{1c} \n")), "lead_agent");
    assert_eq!(canonical(Some(" title_agent ")), "middleware:title");
    assert_eq!(canonical(Some("subagent:00000000-0000-0000-0000-000000000007")), "subagent:<UUID>");
}
