use super::*;
use retake_core::key::Normalizer;

#[test]
fn a_changed_result_of_a_tool_gives_the_call_another_key_unless_a_rule_hides_it() {
    let tool = Message { name: Some("look".to_owned()), ..Message::new("tool", "found 12 notes") };
    let messages = vec![Message::new("human", "look"), Message::new("ai", "yes"), tool];
    let calls = [HeardCall { turn: 1, caller: None, messages }];
    let tally = of_results(&calls, &Rules::default());
    assert_eq!((tally.tried, tally.noticed), (3, 3));
    let number = regex::Regex::new(r"\d+").unwrap();
    let normalizer = Normalizer::default().with([(number, "<N>".to_owned())]);
    let tally = of_results(&calls, &Rules { normalizer, ..Rules::default() });
    assert_eq!((tally.tried, tally.noticed), (3, 2));
    assert_eq!(tally.hidden, BTreeMap::from([(0, 1)]));
}

#[test]
fn each_part_of_an_answer_is_changed() {
    let call = retake_core::conversation::ToolCall {
        id: String::new(),
        name: "look".to_owned(),
        args: Json::parse(br#"{"path": "a.txt", "deep": {"n": 1}}"#).unwrap(),
    };
    let blocks = vec![Block::Text("Let me look".to_owned()), Block::ToolCall(call)];
    let answer = Answer { blocks, finish: Some(Finish::ToolCalls), ..Answer::default() };
    let changed = changed_answers(&answer);
    let count = |part| changed.iter().filter(|(of, _)| *of == part).count();
    let counts = [Part::Text, Part::ToolName, Part::Argument, Part::Finish].map(count);
    assert_eq!(counts, [3, 1, 2, 1]);
    assert!(changed.iter().all(|(_, other)| *other != answer));
}
