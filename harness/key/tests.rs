pub(super) mod literal;
mod properties;

use super::*;

/// Every case of the reference implementation, computed in Python.
#[test]
fn agrees_with_the_reference_vectors() {
    let rules = Rules::default();
    let vectors = include_str!("../../tests/vectors/key-v1.jsonl");
    for (number, line) in vectors.lines().enumerate() {
        let case = Json::parse(line.as_bytes()).unwrap();
        let messages = case.get("messages").unwrap().as_array().unwrap().iter();
        let messages = messages.map(|m| message_from_langchain(m.clone()).unwrap()).collect();
        let key = rules.key(&rules.canonical(messages), case.str_of("caller"));
        assert_eq!(Some(key.conversation_hash.to_string().as_str()), case.str_of("conversation_hash"), "{number}");
        assert_eq!(Some(key.input_hash.to_string().as_str()), case.str_of("input_hash"), "{number}");
    }
    assert_eq!(vectors.lines().count(), 300);
}
