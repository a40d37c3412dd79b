use axum::http::{HeaderMap, Method};

use std::path::Path;

use super::*;

fn rewritten(api: Api, path: &str, body: &str, rewrite: Rewrite) -> (String, String) {
    let json = Json::parse(body.as_bytes()).unwrap();
    let rules = Arc::new(Rules::default());
    let fixture = Fixture::of_turns(Path::new("f"), std::collections::BTreeMap::new(), Vec::new(), &rules);
    let call = PendingCall {
        api,
        provider: api,
        method: Method::POST,
        path: path.to_owned(),
        headers: HeaderMap::new(),
        body: body.to_owned().into(),
        caller: Some("lead_agent".to_owned()),
        model: "m".to_owned(),
        request: json,
    };
    let call = Branch::new(&fixture, 0, &rules, rewrite).rewritten(call, &rules);
    (call.path, String::from_utf8(call.body.to_vec()).unwrap())
}

fn all() -> Rewrite {
    Rewrite {
        models: vec![(None, "other".to_owned()), (Some("lead_agent".to_owned()), "new".to_owned())],
        prompts: vec![(Some("lead_agent".to_owned()), "Be brief.".to_owned())],
        settings: vec![("temperature".to_owned(), Json::Int(0))],
    }
}

#[test]
fn the_request_is_changed_where_its_api_holds_model_prompt_and_settings() {
    let of = |api, path, body| rewritten(api, path, body, all());
    let chat =
        r#"{"model": "m", "messages": [{"role": "developer", "content": "a"}, {"role": "user", "content": "b"}]}"#;
    let expected = r#"{"messages":[{"content":"Be brief.","role":"system"},{"content":"b","role":"user"}],"model":"new","temperature":0}"#;
    assert_eq!(of(Api::OpenAiChat, "/v1/chat/completions", chat).1, expected);
    let responses = r#"{"model": "m", "instructions": "a", "input": [{"role": "system", "content": "b"}]}"#;
    let expected = r#"{"input":[],"instructions":"Be brief.","model":"new","temperature":0}"#;
    assert_eq!(of(Api::OpenAiResponses, "/v1/responses", responses).1, expected);
    let anthropic = r#"{"model": "m", "system": [{"type": "text", "text": "a"}], "messages": []}"#;
    let expected = r#"{"messages":[],"model":"new","system":"Be brief.","temperature":0}"#;
    assert_eq!(of(Api::Anthropic, "/v1/messages", anthropic).1, expected);
    let (path, body) =
        of(Api::Gemini, "/v1beta/models/gemini-2.0-flash:streamGenerateContent?alt=sse", r#"{"contents": []}"#);
    assert_eq!(path, "/v1beta/models/new:streamGenerateContent?alt=sse");
    let expected =
        r#"{"contents":[],"generationConfig":{"temperature":0},"systemInstruction":{"parts":[{"text":"Be brief."}]}}"#;
    assert_eq!(body, expected);
}

#[test]
fn a_call_of_another_caller_stays_as_it_is() {
    let rewrite = Rewrite { models: vec![(Some("other".to_owned()), "new".to_owned())], ..Rewrite::default() };
    let body = r#"{"model": "m",  "messages": []}"#;
    assert_eq!(rewritten(Api::OpenAiChat, "/v1/chat/completions", body, rewrite).1, body);
}
