use retake_core::conversation::{Answer, Block};
use retake_core::events::{Golden, Payload, Recorded, ShapeOptions};
use retake_core::json::Json;

use super::*;

const GOLDEN: &str = "POST /chat
200 text/event-stream

delta  {text} ×3
       /text = turn 1, in pieces

delta
  text  string
";

fn hold() -> Hold {
    let said = Answer { blocks: vec![Block::Text("It rains in Paris.".to_owned())], ..Answer::default() };
    let golden = Golden::parse(GOLDEN).unwrap_or_else(|error| panic!("{error}"));
    let passing = Passing::asked(&golden, None, &Recorded::of(&[said]), &ShapeOptions::default());
    Hold::new(passing, Duration::from_secs(1), InVain::default())
}

fn stream(pieces: &[&str]) -> Response {
    let frame = |piece: &&str| format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{piece}\"}}}}]}}\n\n");
    Response::stream(pieces.iter().map(frame).collect())
}

fn event() -> Event {
    Event { name: Some("delta".into()), id: None, payload: Payload::Data("{\"text\":\"It rains\"}".into()) }
}

#[test]
fn text_that_comes_while_an_answer_is_under_way_comes_early() {
    let hold = hold();
    let piece = hold.piece(1, Api::OpenAiChat, &stream(&["It rains ", "in Paris."]));
    assert_eq!(piece.map(|piece| piece.nth), Some(1));
    hold.came(&event(), true);
    assert_eq!(hold.early(false), [[1]]);
}

#[test]
fn an_answer_that_is_not_held_back_is_never_early() {
    for response in [stream(&["It rains in Paris."]), Response::json(200, Json::Null)] {
        let hold = hold();
        assert!(hold.piece(1, Api::OpenAiChat, &response).is_none());
        hold.came(&event(), true);
        assert_eq!(hold.early(false), [Vec::<usize>::new()]);
    }
}
