use super::is_id;

#[test]
fn ids_are_told_by_their_form() {
    for id in ["9f3b4c1d-8e5a-4b1c-8d5a-0b1c2d3e4f50", "call_9f3b4c1d8e5a", "chatcmpl-AbC123dEf456gHi", "4f1c0b9e7a2d"]
    {
        assert!(is_id(id), "{id}");
    }
    for word in [
        "",
        "success",
        "write_read_file",
        "lead_agent",
        "2026-11-22",
        "gpt-4o-mini-2024-07-18",
        "hi from replay.",
        "call_1",
    ] {
        assert!(!is_id(word), "{word}");
    }
}
