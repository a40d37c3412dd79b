mod secrets;

use super::*;

#[test]
fn received_bytes_become_the_kind_of_body_that_they_contain() {
    let body = |kind, text: &str| Response::received(200, kind, text.into()).body;
    assert_eq!(body("application/json", "[1]"), Body::json(&vec![Json::Int(1)].into()));
    assert_eq!(Response::received(200, "application/json", vec![0xff]).body, Body::Binary(vec![0xff]));
    assert_eq!(body("text/html", "<p>"), Body::Text("<p>".into()));
    let frames = ["data: 1\n\n", "data: 2\n\n"];
    assert_eq!(body("text/event-stream; charset=utf-8", &frames.concat()), Body::Frames(frames.into_iter().collect()));
    let lines = ["{}\n", "[]"];
    assert_eq!(body("application/x-ndjson", &lines.concat()), Body::Frames(lines.into_iter().collect()));
}
