use super::*;

#[test]
fn the_last_frame_is_found_even_if_a_chunk_begins_inside_it() {
    let stream = b"data: {\"choices\": []}\n\ndata: [DONE]\n\n";
    assert!(is_in_last(Api::OpenAiChat, stream, 14));
    assert!(is_in_last(Api::OpenAiChat, stream, 4));
    assert!(!is_in_last(Api::OpenAiChat, &stream[..stream.len() - 5], 14));
    assert!(!is_in_last(Api::Anthropic, stream, 14));
    assert!(is_in_last(Api::Anthropic, b"event: message_stop\ndata: {}\n\n", 8));
}
