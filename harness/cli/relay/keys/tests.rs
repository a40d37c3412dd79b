use super::*;

fn keys(declared: &[&str]) -> Keys {
    let declared = declared.iter().map(|name| (*name).to_owned()).collect();
    Keys::read(&declared, |name| {
        let set = [
            ("OPENAI_API_KEY", "sk-0penai-zebra-1"),
            ("ANTHROPIC_API_KEY", "sk-0penai-zebra-1-quartz"),
            ("OLLAMA_API_KEY", "ollama"),
        ];
        set.iter().find(|(set, _)| *set == name).map(|(_, value)| (*value).to_owned())
    })
    .unwrap()
}

#[test]
fn a_key_is_removed_from_an_answer_wherever_it_is_cut() {
    let text = "the key sk-0penai-zebra-1, sk-0penai-zebra-1-quartz and sk-0penai, ollama s";
    let clean = "the key <OPENAI_API_KEY>, <ANTHROPIC_API_KEY> and sk-0penai, ollama s";
    for first in 0..text.len() {
        for second in first..text.len() {
            let mut censor = keys(&[]).censor();
            let mut out = Vec::new();
            for part in [&text[..first], &text[first..second], &text[second..]] {
                out.extend_from_slice(&censor.push(Bytes::copy_from_slice(part.as_bytes())));
            }
            out.extend_from_slice(&censor.finish());
            let out = String::from_utf8(out).unwrap();
            assert!(!out.contains("zebra"), "{first}, {second}: {out}");
            // The shorter key begins the longer one, so a cut between them may leave the rest of it.
            assert!(out == clean || out.contains("<OPENAI_API_KEY>-quartz"), "{first}, {second}: {out}");
        }
    }
}

#[test]
fn nothing_is_held_back_of_what_cannot_begin_a_key() {
    let mut censor = keys(&[]).censor();
    for frame in ["data: {\"a\": 1}\n\n", "data: [DONE]\n\n", "x"] {
        assert_eq!(censor.push(Bytes::from_static(frame.as_bytes())), frame);
    }
    assert_eq!(censor.push(Bytes::from_static(b"it is sk-0")), "it is ");
    assert_eq!(censor.push(Bytes::from_static(b"ther")), "sk-0ther");
    assert_eq!(censor.finish(), "");
}

#[test]
fn a_call_may_hold_a_key_only_if_the_project_declares_it() {
    let body = br#"{"messages":[{"role":"user","content":"use sk-0penai-zebra-1-quartz"}]}"#;
    assert_eq!(keys(&["OPENAI_API_KEY"]).undeclared_in("/v1/x", body), Some("ANTHROPIC_API_KEY"));
    assert_eq!(keys(&["OPENAI_API_KEY", "ANTHROPIC_API_KEY"]).undeclared_in("/v1/x", body), None);
    assert_eq!(keys(&[]).undeclared_in("/v1/x", b"{\"model\":\"ollama\"}"), None);
}
