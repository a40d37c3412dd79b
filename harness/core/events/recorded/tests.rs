use super::*;
use crate::conversation::ToolCall;

fn recorded() -> Recorded {
    let args = Json::parse(br#"{"city": "K\u00f6ln"}"#).unwrap();
    let call = ToolCall { id: "c1".to_owned(), name: "weather".to_owned(), args };
    let blocks = vec![Block::Text("It rains. \nA lot.".to_owned()), Block::Reasoning("Hm, so".to_owned())];
    let answers =
        [Answer { blocks, ..Answer::default() }, Answer { blocks: vec![Block::ToolCall(call)], ..Answer::default() }];
    Recorded::of(&answers)
}

#[track_caller]
fn check(text: &str, whole: usize, part: usize) {
    let cover = recorded().cover(text);
    assert_eq!((cover.whole, cover.part), (whole, part), "{text}");
}

#[test]
fn a_text_is_explained_by_recorded_texts_whatever_its_white_space() {
    check("It rains. \nA lot.", 13, 0);
    check("It rains. A lot.", 13, 0);
    check("{\"city\":\"Köln\"}", 16, 0);
    check("{\"city\": \"K\\u00f6ln\"}", 16, 0);
    check("Köln", 5, 0);
    check("Answer: It rains. A lot.!", 13, 0);
    // Several, one after the other, and the last one cut off.
    check("Hm, soIt rains. A lot.", 18, 0);
    check("Hm, soIt rai", 5, 5);
    check("rains. A", 0, 7);
    check("something else", 0, 0);
    check(" ", 0, 0);
}

#[test]
fn a_recorded_text_counts_once() {
    check("Hm, soHm, so", 5, 0);
    assert!(!recorded().cover("Hm, so Hm, so!").is_all());
    assert_eq!(Recorded::default().cover("text").known(), 0);
}
