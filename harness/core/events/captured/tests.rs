use super::*;

fn data(text: &str) -> Payload {
    Payload::Data(text.into())
}

fn label(name: Option<&str>, payload: Payload) -> String {
    Event { name: name.map(Arc::from), id: None, payload }.label().into_owned()
}

#[test]
fn the_label_is_the_event_line_or_else_the_type() {
    let typed = data(r#"{"type": "RUN_STARTED"}"#);
    assert_eq!(label(Some("values"), typed.clone()), "values");
    assert_eq!(label(None, typed), "RUN_STARTED");
    assert_eq!(label(None, data(r#"{"type": 1}"#)), "message");
    assert_eq!(label(None, data("[DONE]")), "message");
    assert_eq!(label(None, Payload::Comment("ping".into())), ":");
    assert_eq!(label(None, Payload::Tail("data: {".into())), "(unterminated)");
}

#[test]
fn a_body_is_one_event() {
    assert_eq!(Event::body(b"").payload, Payload::Empty);
    assert_eq!(Event::body(b"{\n}").json(), Some(Json::object::<&str>([])));
    assert_eq!(Event::body(b"ok\xff"), Event { name: Some("body".into()), id: None, payload: data("ok\u{fffd}") });
}
