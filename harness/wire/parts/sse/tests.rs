use super::*;

fn data(frame: &str) -> Vec<String> {
    let mut all = Vec::new();
    let _ = each_data(frame, |data| {
        all.push(data.to_owned());
        Ok::<(), ()>(())
    });
    all
}

#[test]
fn frames_end_with_their_blank_line_and_join_to_the_text() {
    let text = "\r\n: hi\n\ndata: a\r\n\r\n\ndata: b\n\ndata: cut";
    let frames = split_frames(text);
    assert_eq!(frames, ["\r\n: hi\n\n", "data: a\r\n\r\n", "\ndata: b\n\n", "data: cut"]);
    assert_eq!(frames.concat(), text);
}

#[test]
fn data_is_found_among_comments_and_other_fields() {
    assert_eq!(data("data: a\n\n"), ["a"]);
    assert_eq!(data(": PROCESSING\r\nevent: x\r\ndata:a\r\ndata:  b\r\n\r\n"), ["a\n b"]);
    assert_eq!(data("\u{feff}data: a\r\rdata: b\n\ndata: c"), ["a", "b", "c"]);
    assert_eq!(data(": ping\n\n"), Vec::<String>::new());
    assert_eq!(data(&frame("{}")), ["{}"]);
}

#[test]
fn the_halves_of_a_character_are_joined_where_the_second_one_begins_a_text() {
    let whole = |frames: &[&'static str]| whole_characters(frames.iter().copied()).join(" ");
    assert_eq!(whole(&[r#"{"t":"a \uD83d"}"#, r#"{"t":"\ude00!"}"#]), r#"{"t":"a "} {"t":"\uD83d\ude00!"}"#);
    // Other pieces may come in between, and a piece may have the halves of two characters.
    assert_eq!(
        whole(&[r#""\ud83d""#, ": hi", r#""\ude00\ud83d""#, r#""\ude01""#]),
        r#""" : hi "\ud83d\ude00" "\ud83d\ude01""#
    );
    // Whole characters, halves that have no other one, and texts about escapes stay as they are.
    for same in [
        r#""\ud83d\ude00" "\ude00""#,
        r#""\ud83d" "a\ude00""#,
        r#""\\ud83d" "\ude00""#,
        r#""\ud83d" "\\ude00""#,
        r#""\ud8" "\u""#,
    ] {
        assert_eq!(whole(&same.split(' ').collect::<Vec<_>>()), same);
    }
}
