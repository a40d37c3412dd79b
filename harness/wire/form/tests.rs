use crate::{Known, Target, decode};
use retake_core::json::{Json, Layout};

/// The form of a request; `more` are its fields besides the conversation.
fn form(path: &str, conversation: &str, more: &str) -> String {
    let body = Json::parse(format!("{{{conversation}{more}}}").as_bytes()).unwrap();
    let target = Target { method: "POST", path };
    let call = decode(target.api().unwrap(), target, &body, &Known::default()).unwrap();
    call.form.print(Layout::Compact)
}

#[test]
fn the_form_is_what_changes_how_an_answer_looks_by_presence_and_kind_alone() {
    const ASKS: &str = r#""messages": [{"role": "user", "content": "hi"}]"#;
    const CHAT: (&str, &str) = ("/v1/chat/completions", ASKS);
    const RESPONSES: (&str, &str) = ("/v1/responses", r#""input": "hi""#);
    const ANTHROPIC: (&str, &str) = ("/v1/messages", ASKS);
    const GEMINI: (&str, &str) = ("/v1beta/models/g:generateContent", r#""contents": [{"parts": [{"text": "hi"}]}]"#);
    const OLLAMA: (&str, &str) = ("/api/chat", ASKS);
    for ((path, asks), more, wanted) in [
        (
            CHAT,
            r#", "temperature": 0.5, "stop": null, "n": 1, "response_format": {"type": "text"}"#,
            r#"{"version":"v1"}"#,
        ),
        (
            CHAT,
            r#", "stream": true, "stream_options": {"include_usage": true}, "n": 2, "stop": "END", "logprobs": true"#,
            r#"{"choices":true,"logprobs":true,"stop":true,"usage":true,"version":"v1"}"#,
        ),
        (CHAT, r#", "response_format": {"type": "json_object"}"#, r#"{"format":"json","version":"v1"}"#),
        (
            CHAT,
            r#", "response_format": {"type": "json_schema", "json_schema": {}}"#,
            r#"{"format":"schema","version":"v1"}"#,
        ),
        (
            RESPONSES,
            r#", "text": {"format": {"type": "json_schema", "schema": {}}}, "top_logprobs": 3"#,
            r#"{"format":"schema","logprobs":true,"version":"v1"}"#,
        ),
        (RESPONSES, r#", "include": ["message.output_text.logprobs"]"#, r#"{"logprobs":true,"version":"v1"}"#),
        (ANTHROPIC, r#", "stop_sequences": []"#, r#"{"version":"v1"}"#),
        (
            ANTHROPIC,
            r#", "stop_sequences": ["END"], "output_config": {"format": {"type": "json_schema"}}"#,
            r#"{"format":"schema","stop":true,"version":"v1"}"#,
        ),
        (
            GEMINI,
            r#", "generationConfig": {"candidateCount": 2, "stopSequences": ["END"], "responseMimeType": "application/json"}"#,
            r#"{"choices":true,"format":"json","stop":true,"version":"v1beta"}"#,
        ),
        (
            GEMINI,
            r#", "generation_config": {"response_mime_type": "application/json", "response_schema": {"type": "OBJECT"}}"#,
            r#"{"format":"schema","version":"v1beta"}"#,
        ),
        (OLLAMA, r#", "format": "json", "options": {"stop": ["END"]}"#, r#"{"format":"json","stop":true}"#),
        (OLLAMA, r#", "format": {"type": "object"}"#, r#"{"format":"schema"}"#),
    ] {
        assert_eq!(form(path, asks, more), wanted, "{path} {more}");
    }
}

#[test]
fn the_version_is_the_one_in_the_path() {
    let of = |path: &'static str| Target { method: "POST", path }.version();
    assert_eq!(of("/v2/chat/completions"), "v2");
    assert_eq!(of("/api/paas/v4/chat/completions?api-version=v9"), "v4");
    assert_eq!(of("/v1beta/models/v3:generateContent"), "v1beta");
    assert_eq!(of("/api/chat"), "");
    assert_eq!(of("/v2/openai/v1/chat/completions"), "v2/v1");
}
