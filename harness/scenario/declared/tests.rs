use super::*;

#[test]
fn a_scenario_that_cannot_be_parsed_still_declares_its_secrets() {
    let text = "post = \"/login\njson = { token = \"{{ secret.TOKEN }}\", again = \"{{secret . OTHER | upper}}\" }\n\
                secrets = [ \"ONE\",\n 'TWO' ]\n";
    assert_eq!(named_in(text), ["TOKEN", "OTHER", "ONE", "TWO"]);
    assert!(named_in("a secret is told. nobody listens").is_empty());
}
