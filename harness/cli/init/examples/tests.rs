use super::*;
use serde_json::json;

fn of(text: &str) -> Vec<Value> {
    examples("/v1/ask", [text].into_iter())
}

#[test]
fn a_readmes_request_is_tried_with_what_a_person_says_in_each_text() {
    let readme = "curl localhost:1/v1/ask -H 'content-type: application/json' -d '{\"topic\": \"the sea\", \"style\": \"haiku\"}'";
    let expected = [
        json!({"topic": PROMPT, "style": "haiku"}),
        json!({"topic": "the sea", "style": PROMPT}),
        json!({"topic": "the sea", "style": "haiku"}),
    ];
    assert_eq!(of(readme), expected);
}

#[test]
fn what_programs_send_is_read_and_their_variables_are_filled_by_name() {
    let python = "client.post('/v1/ask', json={'topic': topic, 'n': 3, 'deep': True, 'user_id': uid(1),})";
    assert!(
        of(python).contains(&json!({"topic": PROMPT, "n": 3, "deep": true, "user_id": "hello"})),
        "{:?}",
        of(python)
    );
    let script = "fetch('/v1/ask', { method: 'POST', body: JSON.stringify({ question, lang: 'de', stream: false }) })";
    assert!(of(script).contains(&json!({"question": PROMPT, "lang": "de", "stream": false})), "{:?}", of(script));
}

#[test]
fn what_is_no_object_gives_no_body() {
    for text in ["/v1/ask {", "/v1/ask {}", "/v1/ask { if (x) y }", "/v1/ask [1]"] {
        assert_eq!(of(text), Vec::<Value>::new(), "{text}");
    }
}

#[test]
fn a_body_that_stands_before_its_request_comes_after_those_behind_it() {
    let test = "sent = {'action': 'opened', 'diff': '- a'}\nclient.post('/v1/ask', json=sent)";
    assert!(of(test).contains(&json!({"action": "opened", "diff": PROMPT})), "{:?}", of(test));
    let both = "other({'a': 'x'})\nclient.post('/v1/ask', json={'b': 'y'})";
    assert_eq!(of(both)[0], json!({"b": PROMPT}));
}
