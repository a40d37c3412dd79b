use super::*;

#[test]
fn the_last_frame_is_found_even_if_a_chunk_begins_inside_it() {
    let stream = b"data: {\"choices\": []}\n\ndata: [DONE]\n\n";
    assert!(ends_answer(Api::OpenAiChat, stream, 14));
    assert!(ends_answer(Api::OpenAiChat, stream, 4));
    assert!(!ends_answer(Api::OpenAiChat, &stream[..stream.len() - 5], 14));
    assert!(!ends_answer(Api::Anthropic, stream, 14));
    assert!(ends_answer(Api::Anthropic, b"event: message_stop\ndata: {}\n\n", 8));
    let declared = Api::from_name("cohere").unwrap();
    assert!(ends_answer(declared, stream, 14));
    assert!(!ends_answer(declared, b"data: {\"text\": \"data: [DONE]\"}\n\n", 14), "a text says it, not the stream");
}
