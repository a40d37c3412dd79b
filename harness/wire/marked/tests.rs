use super::*;
use crate::{Body, RenderFor, render};
use retake_core::conversation::{Block, Finish, ToolCall};
use retake_core::json::Json;

const APIS: [Api; 5] = [Api::OpenAiChat, Api::OpenAiResponses, Api::Anthropic, Api::Gemini, Api::Ollama];

fn rendered(api: Api, stream: bool, blocks: Vec<Block>) -> (Response, Answer) {
    let answer = Answer { blocks, finish: Some(Finish::Stop), ..Answer::default() };
    let call = RenderFor { api, stream, array: false, include_usage: false, model: "m", seed: "00" };
    let response = render(&answer, &call).unwrap();
    let answer = decode_response(api, &response).unwrap();
    (response, answer)
}

fn text(text: &str) -> Block {
    Block::Text(text.to_owned())
}

#[test]
fn a_text_has_the_mark_over_each_api_and_the_arguments_of_a_tool_have_none() {
    for (api, stream) in APIS.into_iter().flat_map(|api| [(api, false), (api, true)]) {
        for said in ["Paris", "The capital of France is Paris, they say."] {
            let args = Json::object([("city", Json::from(format!("in {said}")))]);
            let call = ToolCall { id: "c".to_owned(), name: "look".to_owned(), args };
            let (response, answer) = rendered(api, stream, vec![text(said), Block::ToolCall(call)]);
            let mark = Mark::of([&answer].into_iter(), &|_| true).unwrap();
            let marked = response.marked(api, &mark, 0, &answer).unwrap_or_else(|| panic!("{api:?} {stream} {said}"));
            let decoded = decode_response(api, &marked).unwrap();
            assert_eq!(decoded, mark.put(0, &answer), "{api:?} {stream}");
            assert_ne!(decoded.blocks[0], answer.blocks[0]);
            assert_eq!(decoded.blocks[1..], answer.blocks[1..]);
            assert_eq!(response.marked(api, &mark, 1, &answer), Some(response));
        }
    }
}

#[test]
fn a_text_in_pieces_is_marked_as_a_whole() {
    let frame = |text: &str| {
        let finish = if text == "ld." || text == "old." { "\"stop\"" } else { "null" };
        format!(
            "data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{text}\"}},\"finish_reason\":{finish}}}]}}\n\n"
        )
    };
    let of = |pieces: [&str; 4]| {
        let body = Body::Frames(pieces.map(frame).into_iter().collect());
        Response { body, ..rendered(Api::OpenAiChat, true, vec![text("a")]).0 }
    };
    let response = of(["", "Oslo i", "s co", "ld."]);
    let answer = decode_response(Api::OpenAiChat, &response).unwrap();
    let mark = Mark::of([&answer].into_iter(), &|_| true).unwrap();
    assert_eq!(response.marked(Api::OpenAiChat, &mark, 0, &answer), Some(of(["", "Oslo i", "sǀ c", "old."])));
}

#[test]
fn what_a_model_thinks_and_says_at_one_place_is_marked_apart() {
    let blocks = vec![Block::Reasoning("The capital is asked for.".to_owned()), text("It is Oslo, I think.")];
    for (api, stream) in APIS.into_iter().flat_map(|api| [(api, false), (api, true)]) {
        let (response, answer) = rendered(api, stream, blocks.clone());
        let mark = Mark::of([&answer].into_iter(), &|_| true).unwrap();
        let marked = response.marked(api, &mark, 0, &answer).unwrap_or_else(|| panic!("{api:?} {stream}"));
        assert_eq!(decode_response(api, &marked).unwrap(), mark.put(0, &answer), "{api:?} {stream}");
    }
}

#[test]
fn a_text_that_a_tool_has_too_has_no_mark() {
    let call =
        ToolCall { id: "c".to_owned(), name: "look".to_owned(), args: Json::object([("city", Json::from("Paris"))]) };
    let (response, answer) = rendered(Api::Anthropic, false, vec![text("Paris"), Block::ToolCall(call)]);
    let mark = Mark::of([&answer].into_iter(), &|_| true).unwrap();
    assert_eq!(response.marked(Api::Anthropic, &mark, 0, &answer), None);
}

#[test]
fn a_word_that_is_one_of_the_api_too_has_no_mark() {
    for (api, stream) in APIS.into_iter().flat_map(|api| [(api, false), (api, true)]) {
        for word in ["stop", "assistant", "model", "text", "message"] {
            let (response, answer) = rendered(api, stream, vec![text(word)]);
            let mark = Mark::of([&answer].into_iter(), &|_| true).unwrap();
            let marked = response.marked(api, &mark, 0, &answer);
            let decoded = marked.map(|marked| decode_response(api, &marked).unwrap());
            assert!(decoded.is_none_or(|decoded| decoded == mark.put(0, &answer)), "{api:?} {word}");
        }
    }
}
