use super::*;

#[test]
fn a_failed_response_is_not_an_answer() {
    let failed = |status, body| {
        let response = Response::of(status, "", body);
        decode_response(Api::OpenAiChat, &response).unwrap_err().message
    };
    let error = Json::parse(br#"{"error":{"message":"Rate limit reached","type":"requests"}}"#).unwrap();
    assert_eq!(failed(429, Body::json(&error)), "status 429: the provider's error: Rate limit reached");
    assert_eq!(failed(200, Body::json(&error)), "the provider's error: Rate limit reached");
    assert_eq!(failed(502, Body::Text("Bad gateway".into())), "status 502: the provider's error: Bad gateway");
    assert_eq!(failed(200, Body::Text("<html>".into())), "expected JSON or a stream, found text");
    let detail = Json::parse(br#"{"detail":[1]}"#).unwrap();
    assert_eq!(failed(422, Body::json(&detail)), r#"status 422: the provider's error: {"detail":[1]}"#);
}
