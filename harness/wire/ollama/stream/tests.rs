use super::*;

fn response() -> Json {
    let text = r#"{"model": "llama3.2", "created_at": "1970-01-01T00:00:00Z", "done": true, "done_reason": "stop",
            "eval_count": 4, "message": {"role": "assistant", "content": "a b c d e", "thinking": "Hm", "tool_calls": [
            {"function": {"name": "f", "arguments": {}}}, {"function": {"name": "g", "arguments": {}}}]}}"#;
    Json::parse(text.as_bytes()).unwrap()
}

#[test]
fn a_response_survives_conversion_to_a_stream_and_back() {
    let lines = lines(&response());
    assert_eq!(assemble(&lines), Ok(response()));
    assert_eq!(lines.len(), 6);
    let first = r#"{"created_at":"1970-01-01T00:00:00Z","done":false,"message":{"content":"","role":"assistant","thinking":"Hm"},"model":"llama3.2"}"#;
    assert_eq!(lines[0], format!("{first}\n"));
}

#[test]
fn an_incomplete_answer_is_an_error_that_says_why() {
    let mut cut = lines(&response());
    cut.pop();
    let incomplete = "an incomplete answer: the stream ended before a line with \"done\": true";
    assert_eq!(assemble(&cut).unwrap_err().message, incomplete);
    cut.push("{\"error\":\"out of memory\"}\n".to_owned());
    assert_eq!(assemble(&cut).unwrap_err().message, "lines[5]: the provider's error: out of memory");
}
