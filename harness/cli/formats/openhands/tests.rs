use super::*;

fn events(texts: &[&str]) -> Conversation {
    Conversation::of_events(texts.iter().map(|text| Json::parse(text.as_bytes()).unwrap()).collect()).unwrap()
}

const USER: &str = r#"{"kind": "MessageEvent", "id": "u", "source": "user", "llm_message": {"content": [{"type": "text", "text": "hi"}]}}"#;
const ACTION: &str = r#"{"kind": "ActionEvent", "id": "a", "source": "agent", "tool_name": "read", "tool_call_id": "c1", "llm_response_id": "r1",
    "thought": [{"type": "text", "text": "let me see"}], "action": {"kind": "ReadAction", "path": "x"},
    "tool_call": {"id": "c1", "name": "read", "arguments": "{\"path\": \"x\"}"}}"#;
const OBSERVED: &str = r#"{"kind": "ObservationEvent", "id": "o", "source": "environment", "tool_name": "read", "tool_call_id": "c1", "action_id": "a",
    "observation": {"content": [{"type": "text", "text": "X"}], "is_error": false}}"#;
const SAID: &str = r#"{"kind": "MessageEvent", "id": "m", "source": "agent", "llm_response_id": "r2", "llm_message": {"content": [{"type": "text", "text": "done"}]}}"#;

fn imported(texts: &[&str]) -> (Fixture, Vec<String>) {
    let rules = Rules::default();
    to_fixture(events(texts), Path::new("f.json"), BTreeMap::new(), &rules, &Scrub::known()).unwrap()
}

#[test]
fn each_answer_is_a_turn_with_the_key_of_the_conversation_before_it() {
    let (fixture, left_out) = imported(&[USER, ACTION, OBSERVED, SAID]);
    assert_eq!(left_out, Vec::<String>::new());
    let rules = Rules::default();
    let turns = fixture.table.turns();
    assert_eq!(turns.len(), 2);
    let call =
        ToolCall { id: "c1".to_owned(), name: "read".to_owned(), args: Json::object([("path", Json::from("x"))]) };
    let conversation = vec![
        Message::new("human", "hi"),
        Message { tool_calls: vec![call], ..Message::new("ai", "let me see") },
        Message { name: Some("read".to_owned()), ..Message::new("tool", "X") },
    ];
    assert_eq!(turns[0].key, rules.key(&rules.canonical(conversation[..1].to_vec()), None));
    assert_eq!(turns[1].key, rules.key(&rules.canonical(conversation), None));
    assert_eq!((turns[1].output.text(), turns[1].output.id.as_deref()), ("done".to_owned(), Some("r2")));
    // The written fixture can be read again, and its hashes match.
    let text = fixture.print();
    assert_eq!(Fixture::parse(Path::new("f"), text.as_bytes(), &rules).unwrap().print(), text);
}

#[test]
fn an_answer_after_a_condensed_history_has_no_key() {
    let condensation = r#"{"kind": "Condensation", "id": "k", "source": "environment", "summary": "s"}"#;
    let (fixture, left_out) = imported(&[USER, ACTION, OBSERVED, condensation, SAID]);
    assert_eq!(fixture.table.turns().len(), 1);
    assert_eq!(left_out, ["the answer r2: the history was condensed before it, so it has no key"]);
}

#[test]
fn a_secret_in_a_conversation_is_not_written() {
    let key = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH";
    let (fixture, _) = imported(&[USER, ACTION, &OBSERVED.replace("\"X\"", &format!("\"{key}\"")), SAID]);
    assert!(!fixture.print().contains(key));
}
