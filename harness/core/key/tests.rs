pub(super) mod literal;
mod prefixes;
mod properties;

use super::reminder::ReminderOverMessages;
use super::*;
use crate::conversation::{Message, ToolCall};
use crate::json::{Json, Layout};

/// Returns rules with those of a suite, each a pattern and its replacement.
fn with(own: &[(&str, &str)]) -> Rules {
    let own = own.iter().map(|(pattern, replace)| (regex::Regex::new(pattern).unwrap(), (*replace).to_owned()));
    Rules { normalizer: Normalizer::default().with(own), ..Rules::default() }
}

fn hash(rules: &Rules, messages: &[Message]) -> Hash {
    rules.conversation_hash(&rules.canonical(messages.to_vec()))
}

fn calling(args: Json) -> Message {
    let call = ToolCall { id: "c".to_owned(), name: "save".to_owned(), args };
    Message { tool_calls: vec![call], ..Message::new("ai", "") }
}

#[test]
fn a_rule_of_the_suite_never_reaches_from_one_text_into_the_next() {
    let rules = with(&[("took .*", "took <TIME>")]);
    let said =
        |time: &str, after: &str| [Message::new("human", format!("it took {time}")), Message::new("human", after)];
    assert_eq!(hash(&rules, &said("3 s", "go on")), hash(&rules, &said("4 s", "go on")));
    assert_ne!(hash(&rules, &said("3 s", "go on")), hash(&rules, &said("3 s", "stop")));
    let call = |text: &str, path: &str| {
        calling(Json::object([("text", Json::from(format!("took {text}"))), ("zpath", path.into())]))
    };
    assert_eq!(hash(&rules, &[call("3 s", "a")]), hash(&rules, &[call("4 s", "a")]));
    assert_ne!(hash(&rules, &[call("3 s", "a")]), hash(&rules, &[call("3 s", "b")]));
}

#[test]
fn a_rule_of_the_suite_leaves_keys_names_and_numbers_of_arguments_alone() {
    let rules = with(&[("save|order|[0-9]+", "<X>")]);
    let plain = Rules::default();
    let args = |name: &str, value: Json| [calling(Json::object([(name.to_owned(), value)]))];
    assert_ne!(hash(&rules, &args("order", "a".into())), hash(&rules, &args("save", "a".into())));
    assert_ne!(hash(&rules, &args("n", Json::Int(1))), hash(&rules, &args("n", Json::Int(2))));
    assert_eq!(hash(&rules, &args("n", Json::Int(1))), hash(&plain, &args("n", Json::Int(1))));
    assert_eq!(hash(&rules, &args("n", "1".into())), hash(&rules, &args("n", "22".into())));
    assert_eq!(rules.caller(Some("order")), "order");
}

#[test]
fn a_rule_of_the_suite_acts_on_texts_and_numbers_of_a_body_that_is_not_a_chat_models() {
    let rules = with(&[("^[0-9]{10}$", "<TIME>"), ("took .*", "took <TIME>")]);
    let body = |at: Json, text: &str, input: &str| {
        let content = Json::object([("at", at), ("input", text.into()), ("zinput", input.into())]);
        [Message { content, name: Some("POST /v1/embeddings".to_owned()), ..Message::new("opaque", "") }]
    };
    let one = hash(&rules, &body(Json::Int(1_700_000_000), "took 1 s", "a"));
    assert_eq!(one, hash(&rules, &body(Json::Int(1_800_000_000), "took 2 s", "a")));
    assert_ne!(one, hash(&rules, &body(Json::Int(1_700_000_000), "took 1 s", "b")));
    assert_ne!(one, hash(&rules, &body(Json::Int(17), "took 1 s", "a")));
}

#[test]
fn each_check_has_its_own_place_and_its_own_text() {
    let texts = Check::ALL
        .into_iter()
        .fold(CheckTexts::new(&Normalizer::default(), "", &Json::Null, "", &Json::Null), |texts, check| {
            texts.with(check, check.to_string().into())
        });
    for (place, check) in Check::ALL.into_iter().enumerate() {
        assert_eq!((check as usize, texts.text(check)), (place, &*check.to_string()));
        assert_eq!(texts.hashes().of(check), Some(Hash::of(check.to_string().as_bytes())));
    }
}

#[test]
fn dates_are_told_as_they_are_written() {
    for (text, told) in [
        ("from 2029-03-04 to 2029-03-05T08:00:00.5Z", r#"["2029-03-04","2029-03-05T08:00:00.5Z"]"#),
        ("2029-03-04 08:00:00+0100, 2029-03-04T08:00", r#"["2029-03-04 08:00:00+0100","2029-03-04"]"#),
        ("<system-reminder>2029-03-04</system-reminder>12-03-2029, 5678-1234", "[]"),
    ] {
        assert_eq!(dates(text).print(Layout::Compact), told);
    }
}

#[test]
fn a_check_removes_innermost_reminders_only() {
    let checks = |prompt: &str| {
        CheckTexts::new(&Normalizer::default(), prompt, &Json::Null, "m", &Json::Null).text(Check::Prompt).to_owned()
    };
    let long = "You may see <system-reminder> tags. Rules: be brief. <system-reminder>today</system-reminder> End.";
    assert_eq!(&*checks(long), "You may see <system-reminder> tags. Rules: be brief.  End.");
    assert_ne!(checks(long), checks(&long.replace("brief", "long")));
    // The key follows the letter of version 1.
    let rules = Rules::default();
    assert_eq!(rules.normalizer.apply(long), "You may see  End.");
}

#[test]
fn a_rule_of_the_suite_leaves_the_json_of_a_check_intact() {
    let rules = with(&[("took .*", "took <TIME>")]);
    let tools = |first: &str, second: &str| {
        let tool = |text: &str| Json::object([("description", Json::from(text))]);
        CheckTexts::new(&rules.normalizer, "", &Json::Array(vec![tool(first), tool(second)]), "m", &Json::Null)
            .text(Check::Tools)
            .to_owned()
    };
    assert_eq!(tools("took 1 s", "a"), tools("took 2 s", "a"));
    assert_ne!(tools("took 1 s", "a"), tools("took 1 s", "b"));
}

/// The vectors have the hashes that the reference implementation in Python computed.
#[test]
fn agrees_with_the_reference_vectors() {
    let rules = Rules::default();
    let vectors = include_str!("../../../tests/vectors/key-v1.jsonl");
    for (number, line) in vectors.lines().enumerate() {
        let case = Json::parse(line.as_bytes()).unwrap();
        let messages = case.get("messages").unwrap().as_array().unwrap().iter();
        let messages: Vec<_> = messages.map(|m| message_from_langchain(m.clone()).unwrap()).collect();
        let key = rules.key(&rules.canonical(messages), case.str_of("caller"));
        assert_eq!(Some(key.conversation_hash.to_string().as_str()), case.str_of("conversation_hash"), "{number}");
        assert_eq!(Some(key.input_hash.to_string().as_str()), case.str_of("input_hash"), "{number}");
    }
    assert_eq!(vectors.lines().count(), 300);
}

#[test]
fn a_reminder_that_reaches_over_messages_is_found() {
    let rules = Rules::default();
    let of = |texts: &[&str]| {
        let messages: Vec<_> = texts.iter().map(|text| Message::new("human", *text)).collect();
        rules.reminder_over_messages(&rules.canonical(messages))
    };
    assert_eq!(
        of(&["a <system-reminder>", "hidden", "b</system-reminder>"]),
        Some(ReminderOverMessages { first: 1, last: 3 })
    );
    assert_eq!(of(&["a <system-reminder>", "b"]), None);
    assert_eq!(of(&["<system-reminder>x</system-reminder> a", "b"]), None);
}
