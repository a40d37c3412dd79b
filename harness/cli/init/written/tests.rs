use serde_json::json;

use super::*;

fn tried(body: Option<Value>, called: bool) -> Tried {
    Tried { path: "/chat".to_owned(), body, status: 200, streams: called, called }
}

#[test]
fn what_was_tried_is_written_and_can_be_read() {
    let body = json!({ "messages": [{ "role": "user", "content": PROMPT }], "n": 1 });
    let text = scenario(Some(&tried(Some(body), true)), None);
    let read: toml::Table = text.parse().unwrap();
    let step = &read["step"][0];
    assert_eq!(step["post"].as_str(), Some("/chat"), "{text}");
    assert_eq!(step["json"]["messages"][0]["content"].as_str(), Some("{{ prompt }}"), "{text}");
    assert_eq!((step["stream"].as_bool(), read["vars"]["prompt"].as_str()), (Some(true), Some(PROMPT)), "{text}");
    assert!(!read.contains_key("fixture") && text.contains("# fixture"), "{text}");
}

#[test]
fn a_request_that_called_no_model_needs_no_recording() {
    let text = scenario(Some(&tried(None, false)), None);
    let read: toml::Table = text.parse().unwrap();
    assert_eq!(read["fixture"].as_str(), Some("none"));
    let step = &read["step"][0];
    assert_eq!((step["get"].as_str(), step["golden"].as_bool()), (Some("/chat"), Some(true)), "{text}");
    assert!(!read.contains_key("vars"), "{text}");
}

#[test]
fn what_was_not_tried_is_marked() {
    let start = Start { command: vec!["agent".to_owned()], ready: "port = true".to_owned(), route: None };
    let (few, many) = (variables(""), all_variables());
    let text = system(&start, &few, None, "why");
    assert!(text.contains("# not tried: why\ncommand = [\"agent\"]\nenv = { PORT = \"{{ port }}\", "), "{text}");
    let seen = Seen { start: start.clone(), port: Some(3000), slow: true, reached: Vec::new(), request: None };
    let text = system(&start, &many, Some(&seen), "");
    let read: toml::Table = text.parse().unwrap();
    let agent = &read["systems"]["agent"];
    assert!(!text.contains("not tried") && agent["port"].as_integer() == Some(3000), "{text}");
    assert_eq!(agent["env"]["ANTHROPIC_BASE_URL"].as_str(), Some("{{ model.anthropic }}"), "{text}");
    assert_eq!(agent["ready"]["timeout"].as_str(), Some("120s"), "{text}");
    assert!(scenario(None, Some("why")).contains("# not tried: why\n[[step]]"));
}
