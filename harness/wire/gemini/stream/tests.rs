use super::*;
use retake_core::json::Layout;

fn json(text: &str) -> Json {
    Json::parse(text.as_bytes()).unwrap()
}

fn response() -> Json {
    json(
        r#"{"responseId": "r", "modelVersion": "m", "usageMetadata": {"promptTokenCount": 3}, "candidates": [
                {"index": 0, "finishReason": "STOP", "avgLogprobs": -0.5, "content": {"role": "model", "parts": [
                    {"text": "Hm", "thought": true}, {"text": "a b c d e", "thoughtSignature": "x"},
                    {"functionCall": {"name": "f", "args": {}}}]}},
                {"index": 1, "finishReason": "STOP", "content": {"role": "model", "parts": [{"text": "other"}]}}]}"#,
    )
}

#[test]
fn a_response_survives_conversion_to_a_stream_and_back() {
    let pieces = pieces(&response());
    assert_eq!(assemble_array(&pieces), Ok(response()));
    let frames: Vec<String> = pieces.iter().map(|piece| sse::frame(&piece.print(Layout::Compact))).collect();
    assert_eq!(assemble(&frames), Ok(response()));
}

#[test]
fn each_piece_is_a_response() {
    let pieces = pieces(&response());
    let parts: Vec<_> = pieces.iter().filter_map(|p| p.pointer("/candidates/0/content/parts/0")).collect();
    let expected = [
        r#"{"text": "Hm", "thought": true}"#,
        r#"{"text": "a b c d "}"#,
        r#"{"text": "e", "thoughtSignature": "x"}"#,
        r#"{"functionCall": {"name": "f", "args": {}}}"#,
        r#"{"text": ""}"#,
    ];
    assert_eq!(parts, expected.map(json).iter().collect::<Vec<_>>());
    assert!(pieces.iter().all(|piece| piece.str_of("responseId") == Some("r")));
    let stopped =
        |piece: &Json| (piece.get("usageMetadata").is_some(), piece.pointer("/candidates/0/finishReason").is_some());
    assert!(pieces[..4].iter().all(|piece| stopped(piece) == (false, false)));
    assert_eq!(stopped(&pieces[4]), (true, true));
}

#[test]
fn an_incomplete_answer_is_an_error_that_says_why() {
    let mut cut = pieces(&response());
    cut.pop();
    let incomplete = "an incomplete answer: the stream ended before a finishReason";
    assert_eq!(assemble_array(&cut).unwrap_err().message, incomplete);
    assert_eq!(assemble([""; 0]).unwrap_err().message, incomplete);
    // Feedback about a prompt that was not refused can come with the first piece of an ordinary answer.
    let mut rated = vec![json(r#"{"promptFeedback": {"safetyRatings": []}}"#)];
    rated.extend(cut.clone());
    assert_eq!(assemble_array(&rated).unwrap_err().message, incomplete);
    cut.push(json(r#"{"error": {"code": 503, "message": "overloaded"}}"#));
    assert_eq!(assemble_array(&cut).unwrap_err().message, "[4]: the provider's error: overloaded");
    let blocked = vec![json(r#"{"promptFeedback": {"blockReason": "SAFETY"}}"#)];
    assert_eq!(pieces(&blocked[0]), blocked);
    assert_eq!(assemble_array(&blocked), Ok(blocked[0].clone()));
}
