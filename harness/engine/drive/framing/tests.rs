use super::*;

fn frames(framing: Framing) -> Frames {
    Frames::new(framing, None, false)
}

fn arrived(framing: Framing, text: &str) -> Arrived {
    frames(framing).take(&Message::text(text))
}

fn event(name: Option<&str>, payload: &str) -> Event {
    Event { name: name.map(Into::into), id: None, payload: Payload::Data(payload.into()) }
}

#[test]
fn a_plain_text_is_an_event_that_a_pointer_names() {
    let text = r#"{"op": {"name": "token"}, "text": "hi"}"#;
    assert_eq!(arrived(Framing::Plain, text), Arrived::Event(event(None, text), text.len()));
    let named = Frames::new(Framing::Plain, Pointer::parse("/op/name").ok(), false);
    assert_eq!(named.take(&Message::text(text)), Arrived::Event(event(Some("token"), text), text.len()));
    assert_eq!(named.take(&Message::text("prose")), Arrived::Event(event(None, "prose"), 5));
    let bytes = named.take(&Message::binary(vec![0, 1]));
    assert_eq!(bytes, Arrived::Event(event(Some("binary"), r#"{"bytes":2}"#), 2));
}

#[test]
fn socket_io_names_its_events_and_answers_its_pings() {
    let of = |text: &str| arrived(Framing::SocketIo, text);
    assert_eq!(of(r#"0{"sid":"x","pingInterval":25000}"#), Arrived::Accepted);
    assert_eq!(of(r#"40{"sid":"x"}"#), Arrived::Accepted);
    assert_eq!(of(r#"44{"message":"not signed in"}"#), Arrived::Refused("not signed in".to_owned()));
    for (text, name, payload) in [
        (r#"42["new_message",{"a":1}]"#, "new_message", r#"{"a":1}"#),
        (r#"42/chat,7["two",1,2]"#, "two", "[1,2]"),
        (r#"42["task_end"]"#, "task_end", "null"),
        ("43 1[true]", "ack", "[true]"),
        ("41", "disconnect", "null"),
    ] {
        assert_eq!(of(text), Arrived::Event(event(Some(name), payload), text.len()), "{text}");
    }
    let mut frames = frames(Framing::SocketIo);
    assert_eq!(frames.reply(&Message::text("2")).as_deref(), Some("3"));
    assert_eq!(frames.reply(&Message::text("42[\"a\"]")), None);
    assert_eq!(frames.connect(None).as_deref(), Some("40"));
    let message = Json::parse(br#"["chat",{"text":"hi"}]"#).unwrap();
    assert_eq!(frames.print(&message).unwrap(), r#"42["chat",{"text":"hi"}]"#);
    assert!(frames.print(&Json::from("hi")).is_err());
}

#[test]
fn a_subscription_is_spoken_in_both_protocols() {
    let query = Json::parse(br#"{"query":"subscription { a }"}"#).unwrap();
    for (old, kind) in [(false, "subscribe"), (true, "start")] {
        let mut frames = Frames::new(Framing::GraphQl, None, old);
        assert_eq!(frames.connect(None).as_deref(), Some(r#"{"type":"connection_init"}"#));
        let said = frames.print(&query).unwrap();
        assert!(said.contains(&format!("\"type\":\"{kind}\"")) && said.contains("\"id\":\"1\""), "{said}");
        assert!(frames.print(&query).unwrap().contains("\"id\":\"2\""));
    }
    let of = |text: &str| arrived(Framing::GraphQl, text);
    assert_eq!(of(r#"{"type":"connection_ack"}"#), Arrived::Accepted);
    let next = r#"{"id":"1","type":"next","payload":{"data":{"a":1}}}"#;
    assert_eq!(of(next), Arrived::Event(event(Some("next"), r#"{"data":{"a":1}}"#), next.len()));
    assert_eq!(of(r#"{"type":"ka"}"#), Arrived::Nothing);
    let reply = frames(Framing::GraphQl).reply(&Message::text(r#"{"type":"ping"}"#));
    assert_eq!(reply.as_deref(), Some(r#"{"type":"pong"}"#));
    assert!(frames(Framing::GraphQl).print(&Json::from("hi")).is_err());
}
