use serde_json::json;

use super::*;

#[test]
fn what_was_tried_is_written_and_can_be_read() {
    let body = json!({ "messages": [{ "role": "user", "content": PROMPT }], "n": 1 });
    let tried = |body, streams| Tried {
        path: "/chat".to_owned(),
        body,
        sent_as: "json",
        status: 200,
        streams,
        called: true,
        says: true,
    };
    let text = scenario(Some(&tried(body, true)), None);
    let read: toml::Table = text.parse().unwrap();
    let step = &read["step"][0];
    assert_eq!(step["post"].as_str(), Some("/chat"), "{text}");
    assert_eq!(step["json"]["messages"][0]["content"].as_str(), Some("{{ prompt }}"), "{text}");
    assert_eq!((step["stream"].as_bool(), read["vars"]["prompt"].as_str()), (Some(true), Some(PROMPT)), "{text}");
    assert!(!read.contains_key("fixture") && text.contains("# fixture") && read.contains_key("golden"), "{text}");
    let text = scenario(Some(&tried(json!({ "n": 1 }), false)), None);
    let read: toml::Table = text.parse().unwrap();
    assert!(read["step"][0]["golden"].as_bool() == Some(true) && !read.contains_key("vars"), "{text}");
}

#[test]
fn what_was_not_tried_is_marked() {
    let start = Start::new(vec!["agent".to_owned()], "port = true");
    let (few, many) = (variables("openai"), all_variables());
    let text = system(&start, &few, None, "why");
    assert!(text.contains("# not tried: why\ncommand = [\"agent\"]\nenv = { PORT = \"{{ port }}\", "), "{text}");
    let seen = Seen {
        start: start.clone(),
        port: Some(3000),
        slow: true,
        reached: Vec::new(),
        request: None,
        env: Vec::new(),
        posts: Vec::new(),
        socket: None,
    };
    let text = system(&start, &many, Some(&seen), "");
    let read: toml::Table = text.parse().unwrap();
    let agent = &read["systems"]["agent"];
    assert!(!text.contains("not tried") && agent["port"].as_integer() == Some(3000), "{text}");
    assert_eq!(agent["env"]["ANTHROPIC_BASE_URL"].as_str(), Some("{{ model.anthropic }}"), "{text}");
    assert_eq!(agent["ready"]["timeout"].as_str(), Some("120s"), "{text}");
    assert!(scenario(None, Some("why")).contains("# not tried: why\n[[step]]"));
}
