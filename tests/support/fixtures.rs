//! Writes fixtures, and edits them turn by turn with their hashes computed again.

use retake::Message;
use retake_core::conversation::{Answer, Block, Finish};
use retake_core::json::Json;
use retake_core::key::{Check, CheckTexts, Rules};
use retake_wire as wire;
use retake_wire::fixture::{Fixture, Recorded, Wire};
use retake_wire::{Api, RenderFor};

use crate::support::tree::Tree;

/// Changes the turns of a fixture in the tree, and computes its keys and shared history again.
pub(crate) fn edit(tree: &Tree, name: &str, change: impl FnOnce(&mut Vec<Recorded>)) {
    let (rules, path) = (Rules::default(), tree.path(&format!("fixtures/{name}.json")));
    let fixture = Fixture::read(&path, &rules).unwrap();
    let turns = 0..fixture.table.turns().len();
    let mut turns = turns.map(|index| fixture.recorded(index, &rules).unwrap()).collect();
    change(&mut turns);
    let edited = Fixture::of_turns(&path, fixture.notes, turns, &rules);
    Fixture { recorded: fixture.recorded, ..edited }.write(&path).unwrap();
}

/// Writes a fixture into the tree.
pub(crate) fn write(tree: &Tree, name: &str, turns: Vec<Recorded>) {
    let notes = [("scenario".to_owned(), Json::from(name))].into();
    let path = tree.path(&format!("fixtures/{name}.json"));
    Fixture::of_turns(&path, notes, turns, &Rules::default()).write(&path).unwrap();
}

/// Returns a turn: the answer to one human message, without a system prompt or tools.
pub(crate) fn turn(caller: Option<&str>, said: &str, answer: &str) -> Recorded {
    let rules = Rules::default();
    let output = Answer {
        blocks: vec![Block::Text(answer.to_owned())],
        finish: Some(Finish::Stop),
        model: Some("gpt-4o-mini".to_owned()),
        ..Answer::default()
    };
    let as_json = RenderFor {
        api: Api::OpenAiChat,
        stream: false,
        array: false,
        include_usage: false,
        model: "gpt-4o-mini",
        seed: said,
    };
    let response = wire::render(&output, &as_json).unwrap();
    // Decoded as recording does it.
    let output = wire::decode_response(Api::OpenAiChat, &response).unwrap();
    Recorded {
        caller: caller.map(str::to_owned),
        conversation: rules.canonical(vec![Message::new("human", said)]),
        texts: Some(CheckTexts::new(&rules.normalizer, "", &Json::Null, "gpt-4o-mini", &Json::object::<String>([])).0),
        request: None,
        output,
        wire: Some(Wire::of(Api::OpenAiChat, response)),
    }
}

/// Replaces a word in the text of a recorded message. Panics if the word is not there.
pub(crate) fn change_word(message: &mut Json, from: &str, to: &str) {
    let Json::Object(fields) = message else { panic!("a message is an object") };
    let Some(Json::Str(content)) = fields.get_mut("content") else { panic!("its content is text") };
    assert!(content.contains(from), "{from:?} in {content:?}");
    *content = content.replace(from, to);
}

/// Changes the text of a check.
pub(crate) fn reworded(turn: &mut Recorded, check: Check, change: impl FnOnce(&str) -> String) {
    let text = turn.text(check);
    *text = Some(change(text.as_deref().unwrap()).into());
}
