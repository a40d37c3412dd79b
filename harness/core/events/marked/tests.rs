use super::*;
use crate::conversation::{Answer, Block};
use crate::events::{Capture, Captured, Known, Recorded, ShapeOptions, Shaped};

fn said(texts: &[&str]) -> Recorded {
    let answer = |text: &&str| Answer { blocks: vec![Block::Text((*text).to_owned())], ..Answer::default() };
    Recorded::of(&texts.iter().map(answer).collect::<Vec<_>>())
}

fn captured(events: &[&str]) -> Vec<Captured> {
    let body = events.iter().map(|event| format!("data: {event}\n\n")).collect::<Vec<_>>().concat();
    let mut capture = Capture::new();
    let mut events = capture.push(body.as_bytes());
    events.extend(capture.finish());
    vec![Captured::stream("GET /a", events)]
}

fn golden(events: &[&str], texts: &[&str], tells: Tells<'_>, options: &ShapeOptions) -> Golden {
    let known = Known { recorded: said(texts), tells, ..Known::default() };
    Shaped::of(&captured(events), options, &known, &|text: &str| text.to_owned()).golden
}

/// Returns the lines about turns of a run, by what it sends with a mark; `None` if that shows nothing.
fn shown(events: &[&str], with_mark: &[&str], texts: &[&str], marked: &[&str]) -> Option<Vec<String>> {
    shown_with(&ShapeOptions::default(), events, with_mark, texts, marked)
}

fn shown_with(
    options: &ShapeOptions,
    events: &[&str],
    with_mark: &[&str],
    texts: &[&str],
    marked: &[&str],
) -> Option<Vec<String>> {
    let of_marked = golden(with_mark, marked, Tells::Mark('ǀ'), options);
    let named = Passed::of(&of_marked);
    let passed = Passed::shown(&golden(events, texts, Tells::Shown(&named), options), &of_marked)?;
    let golden = golden(events, texts, Tells::Shown(&passed), options);
    // A test that knows only the golden says the same.
    let known = Known { recorded: said(texts), committed: Some(&golden), ..Known::default() };
    let again = Shaped::of(&captured(events), options, &known, &|text: &str| text.to_owned()).golden;
    assert_eq!(again, golden);
    let text = golden.to_string();
    Some(text.lines().filter(|line| line.contains("turn ")).map(|line| line.trim().to_owned()).collect())
}

#[test]
fn a_short_text_is_the_models_where_its_mark_comes() {
    let lines = shown(
        &[r#"{"type": "a", "answer": "42", "own": "42", "line": "it is 42"}"#],
        &[r#"{"type": "a", "answer": "42ǀ", "own": "42", "line": "it is 42ǀ"}"#],
        &["42"],
        &["42ǀ"],
    );
    assert_eq!(lines.unwrap(), ["/answer = turn 1", "/line has turn 1"]);
}

#[test]
fn long_texts_that_stand_there_by_chance_are_not_the_models() {
    let lines = shown(
        &[r#"{"type": "a", "answer": "It rains a lot.", "own": "It rains a lot."}"#],
        &[r#"{"type": "a", "answer": "It rainsǀ a lot.", "own": "It rains a lot."}"#],
        &["It rains a lot."],
        &["It rainsǀ a lot."],
    );
    assert_eq!(lines.unwrap(), ["/answer = turn 1"]);
}

#[test]
fn a_place_that_has_a_turns_words_by_chance_too_names_the_other_turns() {
    // What the user says comes first.
    let lines = shown(
        &[r#"{"messages": ["Hi"]}"#, r#"{"type": "b"}"#, r#"{"messages": ["Hi", "Hi", "Yes"]}"#],
        &[r#"{"messages": ["Hi"]}"#, r#"{"type": "b"}"#, r#"{"messages": ["Hi", "Hiǀ", "Yesǀ"]}"#],
        &["Hi", "Yes"],
        &["Hiǀ", "Yesǀ"],
    );
    assert_eq!(lines.unwrap(), ["/messages/* = turn 2"]);
}

#[test]
fn words_that_stand_beside_others_by_chance_are_not_the_models() {
    // The same place has them by themselves.
    let lines = shown(
        &[r#"{"messages": ["Say number 2", "2"]}"#],
        &[r#"{"messages": ["Say number 2", "2ǀ"]}"#],
        &["2"],
        &["2ǀ"],
    );
    assert_eq!(lines.unwrap(), ["/messages/* = turn 1"]);
}

#[test]
fn short_texts_in_pieces_are_joined() {
    let piece = |text: &str| format!(r#"{{"type": "d", "id": "m", "text": "{text}"}}"#);
    let (a, b, marked) = (piece("4"), piece("2"), piece("2ǀ"));
    let lines = shown(&[&a, &b], &[&a, &marked], &["42", "4"], &["42ǀ", "4ǀ"]);
    assert_eq!(lines.unwrap(), ["/text by /id = turn 1, in pieces"]);
}

#[test]
fn collapsed_texts_of_one_word_name_their_turn() {
    let piece = |text: &str| format!(r#"{{"type": "d", "id": "m", "text": "{text}"}}"#);
    let (a, b, marked) = (piece("Ye"), piece("s"), piece("sǀ"));
    let options = ShapeOptions { collapse: vec!["d".to_owned()], ..ShapeOptions::default() };
    let lines = shown_with(&options, &[&a, &b], &[&a, &marked], &["Yes"], &["Yesǀ"]);
    assert_eq!(lines.unwrap(), ["d         …  /text by /id = turn 1"]);
}

#[test]
fn a_short_text_in_one_collapsed_event_is_held_under_any_key() {
    let options = ShapeOptions { collapse: vec!["d".to_owned()], ..ShapeOptions::default() };
    let lines = shown_with(
        &options,
        &[r#"{"type": "d", "piece": "Hi."}"#],
        &[r#"{"type": "d", "piece": "Hiǀ."}"#],
        &["Hi."],
        &["Hiǀ."],
    );
    assert_eq!(lines.unwrap(), ["d         …  /piece = turn 1"]);
}

#[test]
fn a_run_that_goes_another_way_shows_nothing() {
    let (run, texts, marked) = ([r#"{"type": "a", "answer": "yes"}"#], ["yes"], ["yesǀ"]);
    assert_eq!(shown(&run, &[r#"{"type": "error", "answer": "yesǀ"}"#], &texts, &marked), None);
    assert_eq!(shown(&run, &[r#"{"type": "a"}"#], &texts, &marked), None);
    assert_eq!(shown(&run, &[], &texts, &marked), None);
}

#[test]
fn a_word_is_passed_on_where_it_stands_alone_whole_or_in_pieces() {
    let check = |events: &[&str], expected: bool| {
        let passed = Passed::of(&golden(events, &["yes"], Tells::Equality, &ShapeOptions::default()));
        assert_eq!(passed.has(0), expected, "{events:?}");
    };
    check(&[r#"{"a": ["yes"]}"#], true);
    check(&[r#"{"a": "y", "b": 1}"#, r#"{"a": "es"}"#], true);
    check(&[r#"{"a": "so: yes."}"#], false);
    check(&[r#"{"a": "eyes", "yes": "no"}"#], false);
}
