use super::*;
use crate::conversation::{Answer, Block};

fn recorded(texts: &[&str]) -> Recorded {
    let blocks = texts.iter().map(|text| Block::Text((*text).to_owned())).collect();
    Recorded::of(&[Answer { blocks, ..Answer::default() }])
}

/// Checks the joined text, and whether it `grows` or comes again as a whole.
#[track_caller]
fn check(texts: &[&str], pieces: &[&str], expected: &str) {
    let pieces: Vec<String> = pieces.iter().map(|piece| (*piece).to_owned()).collect();
    let Joined { text, manner: Manner { grows, then_whole, twice, .. } } = joined(&pieces, &recorded(texts));
    let marks = format!("{text}{}{}", if grows { ", grows" } else { "" }, if then_whole { ", whole" } else { "" })
        + if twice { ", twice" } else { "" };
    assert_eq!(marks, expected, "{pieces:?}");
}

#[test]
fn the_recording_tells_equal_pieces_from_repeated_ones() {
    check(&["haha"], &["ha", "ha"], "haha");
    check(&["haha"], &["haha"], "haha");
    check(&["ha"], &["ha", "ha"], "ha");
    check(&["hhello"], &["h", "hello"], "hhello");
    check(&["hello"], &["h", "hello"], "hello, grows");
    check(&["hello"], &["h", "h", "he", "hello", "hello"], "hello, grows");
    check(&["hello"], &["hel", "lo", "hello"], "hello, whole");
    check(&["hello"], &["hello", "hello", "hello"], "hello");
    // Each piece is sent twice.
    check(&["I am here"], &["I ", "I ", "am here", "am here"], "I am here, twice");
    check(&["nono"], &["no", "no"], "nono");
}

#[test]
fn several_texts_come_one_after_the_other() {
    let texts = ["one two three", "four five six"];
    check(&texts, &["one two ", "three", "one two three", "four five six"], "one two threefour five six, whole");
    check(&texts, &["one two three", "four five", " six", "four five six"], "one two threefour five six, whole");
    check(&texts, &["one", "one two three", "four", "four five six"], "one two threefour five six, grows");
}

#[test]
fn without_a_recording_only_long_texts_count_once() {
    check(&[], &["ha", "ha"], "haha");
    check(&[], &["h", "he", "hello"], "hello, grows");
    check(&[], &["ONE ", "TWO THREE", "ONE TWO THREE"], "ONE TWO THREE, whole");
    check(&[], &["ONE TWO THREE"; 3], "ONE TWO THREE");
    check(&[], &["one ", "two ", "three"], "one two three");
    check(&[], &["one ", "one ", "two ", "two ", "three ", "three ", "four", "four"], "one two three four, twice");
    check(&[], &["a", "a", "b", "b", "c", "c"], "aabbcc");
    // A part of it is recorded.
    check(&["TWO THREE"], &["ONE TWO THREE"; 2], "ONE TWO THREE");
}
