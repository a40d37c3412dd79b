use proptest::prelude::*;

use super::*;
use crate::conversation::{Finish, Message, ToolCall};
use crate::json::Layout;
use crate::key::Rules;

fn answer(blocks: Vec<Block>) -> Answer {
    Answer { blocks, finish: Some(Finish::Stop), ..Answer::default() }
}

fn said(text: &str) -> Answer {
    answer(vec![Block::Text(text.to_owned())])
}

fn call(city: &str) -> Block {
    Block::ToolCall(ToolCall {
        id: "c".to_owned(),
        name: "look".to_owned(),
        args: Json::object([("city", Json::from(city))]),
    })
}

fn mark_of(answers: &[Answer]) -> Option<Mark> {
    Mark::of(answers.iter(), &|turn| answers[turn].text() != "no")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    let answer = said(text);
    assert_eq!(mark_of(std::slice::from_ref(&answer)).unwrap().put(0, &answer), said(expected));
}

#[test]
fn a_text_is_marked_behind_the_word_in_its_middle() {
    check("Hi.", "Hiǀ.");
    check("42", "42ǀ");
    check("The capital of France is Paris.", "The capital of Franceǀ is Paris.");
    check("<answer>42</answer>", "<answer>42ǀ</answer>");
    check("Title: Foo", "Title: Fooǀ");
    // A letter that a text has already marks none.
    check("ǀ is a click", "ǀ is aǁ click");
}

#[test]
fn neither_json_nor_a_word_that_goes_nowhere_nor_a_tools_arguments_are_marked() {
    for text in ["no", "{\"a\": \"b c\"}", "[1, 2]", "```json\n{\"a\": 1}\n```", "…", ""] {
        assert!(!mark_of(&[said(text)]).unwrap().is_in(0), "{text}");
    }
    let both = answer(vec![Block::Text("Paris".to_owned()), call("Paris")]);
    let marked = mark_of(std::slice::from_ref(&both)).unwrap().put(0, &both);
    assert_eq!(marked.blocks, [Block::Text("Parisǀ".to_owned()), call("Paris")]);
}

#[test]
fn a_request_is_alike_but_for_the_mark_and_for_numbers() {
    let mark = mark_of(&[said("Hi.")]).unwrap();
    for (called, alike) in [
        (r#"{"text":"Hiǀ.","cost":0.412,"tokens":112}"#, true),
        (r#"{"text":"Hi\u01c0.","cost":0.1,"tokens":7}"#, true),
        (r#"{"text":"Heǀ.","cost":0.1,"tokens":12}"#, false),
    ] {
        assert_eq!(mark.is_alike(r#"{"text":"Hi.","cost":0.1,"tokens":12}"#, called), alike, "{called}");
    }
}

#[test]
fn a_mark_is_taken_off_however_it_is_written() {
    let mark = mark_of(&[said("Hi.")]).unwrap();
    let check = |with: &str, without: &str| {
        let taken = mark.taken_off(with.as_bytes()).map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(taken.unwrap_or_else(|| with.to_owned()), without);
    };
    check("{\"a\": \"Hiǀ.\"}", "{\"a\": \"Hi.\"}");
    check(r#"{"a": "Hi\u01c0."}"#, r#"{"a": "Hi."}"#);
    check(r#"{"a": "{\"b\": \"Hi\\u01C0.\"}"}"#, r#"{"a": "{\"b\": \"Hi.\"}"}"#);
    check("q=Hi%C7%80.&r=%C7%81", "q=Hi.&r=%C7%81");
    check(r#"{"a": "\\ \u01c1 u01c0 \n%"}"#, r#"{"a": "\\ \u01c1 u01c0 \n%"}"#);
}

#[test]
fn a_turn_has_more_tokens_wherever_its_response_counts_some() {
    let more = |text: &str| with_more_tokens(text, 2);
    assert_eq!(more(r#"{"prompt_tokens":5,"cached_tokens": 0}"#), r#"{"prompt_tokens":107,"cached_tokens": 0}"#);
    assert_eq!(more("data: {\"totalTokenCount\": 10}\n\n"), "data: {\"totalTokenCount\": 112}\n\n");
    assert_eq!(
        more(r#"{"eval_count":1,"eval_duration":7,"index":1}"#),
        r#"{"eval_count":103,"eval_duration":7,"index":1}"#
    );
    // What the model says stays.
    let said = r#"{"content":"{\"tokens\": 5}"}"#;
    assert_eq!(more(said), said);
}

proptest! {
    #[test]
    fn a_conversation_with_marks_has_its_key_without_them(
        texts in prop::collection::vec(".{0,30}", 1..6),
        asked in prop::collection::vec(".{0,30}", 6),
        ascii in any::<bool>(),
    ) {
        let answers: Vec<Answer> = texts.iter().map(|text| said(text)).collect();
        // What users say is theirs.
        prop_assume!(!asked.iter().any(|text| text.contains(LETTERS)));
        let Some(mark) = mark_of(&answers) else { return Ok(()) };
        let conversation = |answers: &[Answer]| -> Vec<Json> {
            let messages = answers.iter().zip(&asked).flat_map(|(answer, asked)| {
                let Block::Text(text) = &answer.blocks[0] else { unreachable!() };
                let quoted = Json::object([("said", Json::from(text.as_str()))]);
                [asked.clone(), text.clone(), quoted.print(if ascii { Layout::Python } else { Layout::Compact })]
            });
            messages.map(Json::from).collect()
        };
        let marked: Vec<Answer> = answers.iter().enumerate().map(|(turn, answer)| mark.put(turn, answer)).collect();
        let sent = Json::Array(conversation(&marked)).print(if ascii { Layout::Python } else { Layout::Compact });
        let sent = mark.taken_off(sent.as_bytes()).unwrap_or_else(|| sent.into_bytes());
        let key = |texts: &[Json]| {
            let human = |text: &Json| Message::new("human", text.as_str().unwrap_or_default());
            let rules = Rules::default();
            rules.conversation_hash(&rules.canonical(texts.iter().map(human).collect::<Vec<_>>()))
        };
        let Ok(Json::Array(unmarked)) = Json::parse(&sent) else { panic!("it is a list") };
        prop_assert_eq!(key(&unmarked), key(&conversation(&answers)));
    }

    #[test]
    fn taking_off_never_panics(body in prop::collection::vec(any::<u8>(), 0..40), text in "(\\\\|u01c0|ǀ|%C7%80|a){0,12}") {
        let mark = mark_of(&[said("Hi.")]).unwrap();
        let _ = mark.taken_off(&body);
        let off = mark.taken_off(text.as_bytes()).unwrap_or_else(|| text.clone().into_bytes());
        prop_assert!(!String::from_utf8(off).unwrap().contains('ǀ'));
    }
}
