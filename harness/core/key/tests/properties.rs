//! Properties of the key of random conversations: which parts count, which do not, and that it equals the key of KEY.md.

use proptest::prelude::*;

use crate::conversation::{Message, ToolCall};
use crate::json::{Json, Layout};
use crate::key::tests::literal;
use crate::key::*;

/// Pieces of text that match the patterns of KEY.md, or nearly do.
const PIECES: [&str; 44] = [
    "2024-01-02",
    "2026-11-21 10:00:00",
    "2026-11-21T10:00:00.123456+02:00",
    "2026-11-21T10:00:00Z",
    "٢٠٢٤-٠١-٠٢",
    "२०२४-01-02T03:04:05",
    "²024-01-02",
    "f0494dc0-1392-e452-7ea2-fb2b42eb80dc",
    "F0494DC0-1392-E452-7EA2-FB2B42EB80DC0",
    "<system-reminder>",
    "</system-reminder>",
    "<system-reminder><system-reminder>x</system-reminder>",
    "User:",
    "Assistant:",
    "\nUser:\n",
    "Assistant: \u{1c}\u{85}\n",
    "--- BEGIN USER INPUT ---",
    "--- END USER INPUT ---",
    "/tmp/",
    "/private/tmp/a b",
    "/private",
    "/var/folders/x/y",
    "-",
    "1",
    "12:00:00",
    "T",
    " ",
    "\n",
    "\r\n",
    "\t",
    "'",
    "\"",
    "\\",
    "\\n",
    "\u{1c}",
    "\u{1f}",
    "\u{a0}",
    "\u{2028}",
    "\u{7f}",
    "\u{0}",
    "é",
    "😀",
    "{\"a\": 1}",
    "<DATE>",
];

/// Numbers that Python prints in its own way, and words that only Python accepts as numbers.
const NUMBERS: [&str; 20] = [
    "0",
    "-0",
    "-0.0",
    "1.0",
    "1e400",
    "-1e400",
    "1E16",
    "1e-5",
    "0.0001",
    "0.00001",
    "123456789012345678901234567890",
    "-9223372036854775809",
    "9007199254740993.0",
    "5e-324",
    "1.7976931348623157e308",
    "0.1e1",
    "100000000000000000000.0",
    "NaN",
    "Infinity",
    "-Infinity",
];

fn text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop::sample::select(&PIECES[..]).prop_map(str::to_owned),
        2 => "[0-9a-f-]{1,6}",
        1 => any::<String>(),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

/// A string as JSON: plain, or with each character escaped, where surrogates come in pairs and sometimes alone.
fn json_string() -> impl Strategy<Value = String> {
    let escaped = |text: String| text.encode_utf16().map(|unit| format!("\\u{unit:04X}")).collect::<Vec<_>>().concat();
    prop_oneof![
        8 => text().prop_map(|text| Json::Str(text).print(Layout::Compact)),
        2 => text().prop_map(move |text| format!("\"{}\"", escaped(text))),
        1 => Just("\"\\ud800\"".to_owned()),
        1 => Just("\"\\udc00\\ud800x\\/\"".to_owned()),
    ]
}

/// JSON as text, since the spelling of a number matters.
fn json_text() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        3 => json_string(),
        3 => prop::sample::select(&NUMBERS[..]).prop_map(str::to_owned),
        1 => any::<f64>().prop_map(|f| format!("{f:e}").replace("inf", "Infinity")),
        1 => prop::sample::select(&["null", "true", "false", "[]", "{}"][..]).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(|items| format!("[{}]", items.join(" , "))),
            prop::collection::vec((json_string(), inner), 0..4).prop_map(|entries| {
                let entries: Vec<String> = entries.into_iter().map(|(key, value)| format!("{key} :{value}")).collect();
                format!("{{{}}}", entries.join(","))
            }),
        ]
    })
}

/// A message in LangChain's form, as JSON text.
fn message_text() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(&["human", "ai", "tool", "system", "function"][..]);
    let block = prop_oneof![
        json_string(),
        json_string().prop_map(|text| format!("{{\"type\": \"text\", \"text\": {text}}}")),
        json_text(),
    ];
    let content = prop_oneof![
        4 => json_string(),
        2 => prop::collection::vec(block, 0..4).prop_map(|blocks| format!("[{}]", blocks.join(","))),
        1 => json_text(),
    ];
    let call = (json_string(), json_text())
        .prop_map(|(name, args)| format!("{{\"name\":{name},\"args\":{args},\"id\":\"c\"}}"));
    let calls = prop::collection::vec(call, 0..3).prop_map(|calls| format!("[{}]", calls.join(",")));
    (kind, content, calls, prop::option::of(json_string()), prop::option::of(json_text())).prop_map(
        |(kind, content, calls, name, hidden)| {
            let name = name.map_or(String::new(), |name| format!(", \"name\": {name}"));
            let hidden = hidden
                .map_or(String::new(), |hidden| format!(", \"additional_kwargs\": {{\"hide_from_ui\": {hidden}}}"));
            format!(r#"{{"type": "{kind}", "data": {{"content": {content}, "tool_calls": {calls}{name}{hidden}}}}}"#)
        },
    )
}

/// Returns Retake's key of messages in LangChain's form; `None` if they are not in that form.
fn key_of(messages: &str, caller: Option<&str>) -> Option<[String; 2]> {
    let json = Json::parse(messages.as_bytes()).ok()?;
    let messages: Option<Vec<Message>> =
        json.as_array()?.iter().map(|m| message_from_langchain(m.clone()).ok()).collect();
    let rules = Rules::default();
    let key = rules.key(&rules.canonical(messages?), caller);
    Some([key.conversation_hash.to_string(), key.input_hash.to_string()])
}

fn args() -> impl Strategy<Value = Json> {
    json_text().prop_filter_map("a lone surrogate", |text| Json::parse(text.as_bytes()).ok())
}

fn any_message() -> impl Strategy<Value = Message> {
    let call = (text(), args()).prop_map(|(name, args)| ToolCall { id: "call_1".to_owned(), name, args });
    let calls = prop::collection::vec(call, 0..3);
    (prop::sample::select(&["human", "ai", "tool"][..]), text(), calls, prop::option::of(text()))
        .prop_map(|(kind, content, tool_calls, name)| Message { name, tool_calls, ..Message::new(kind, content) })
}

fn any_conversation() -> impl Strategy<Value = Vec<Message>> {
    prop::collection::vec(any_message(), 1..6)
}

fn hash(messages: &[Message]) -> Hash {
    let rules = Rules::default();
    rules.conversation_hash(&rules.canonical(messages.to_vec()))
}

/// A change to a conversation that must not change its key.
#[derive(Clone, Debug)]
enum Noise {
    System(String),
    Hidden(String),
    Blank(String),
    CallIds(String),
    Reminder(String),
    Date(String),
}

fn noise() -> impl Strategy<Value = Noise> {
    prop_oneof![
        text().prop_map(Noise::System),
        text().prop_map(Noise::Hidden),
        "[ \n\t\u{1c}\u{85}\u{2028}]{0,4}".prop_map(Noise::Blank),
        text().prop_map(Noise::CallIds),
        "[a-z \n]{0,9}".prop_map(Noise::Reminder),
        "20[0-9]{2}-[01][0-9]-[0-3][0-9]".prop_map(Noise::Date),
    ]
}

impl Noise {
    /// Returns the conversation without the change, and with it.
    fn applied(&self, mut plain: Vec<Message>, at: usize) -> (Vec<Message>, Vec<Message>) {
        let at = at % plain.len();
        let mut noisy = plain.clone();
        let mut insert = |message| noisy.insert(at, message);
        let say = |messages: &mut Vec<Message>, text: String| messages.insert(at, Message::new("human", text));
        match self {
            Noise::System(text) => insert(Message::new("system", text.as_str())),
            Noise::Hidden(text) => insert(Message { hidden: true, ..Message::new("human", text.as_str()) }),
            Noise::Blank(text) => insert(Message::new("ai", text.as_str())),
            Noise::CallIds(id) => noisy.iter_mut().for_each(|message| {
                message.tool_call_id = Some(id.clone());
                message.tool_calls.iter_mut().for_each(|call| call.id.clone_from(id));
            }),
            Noise::Reminder(text) => {
                say(&mut plain, "hello you".to_owned());
                say(&mut noisy, format!("hello<system-reminder>{text}</system-reminder> you"));
            }
            Noise::Date(date) => {
                let all = |date: &str| {
                    let uuid = format!("{}-f049-4dc0-1392-fb2b42eb80dc", date.replace('-', ""));
                    format!("on {date}, at {date}T10:00:00Z, {uuid} in /tmp/{date}/x.")
                };
                say(&mut plain, all("2024-01-02"));
                say(&mut noisy, all(date));
            }
        }
        (plain, noisy)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn a_conversation_has_the_key_of_the_literal_implementation(
        messages in prop::collection::vec(message_text(), 0..5), caller in prop::option::of(text()),
    ) {
        let messages = format!("[{}]", messages.join(", "));
        if let (Some(key), Some(literal)) = (key_of(&messages, caller.as_deref()), literal::key(&messages, caller.as_deref())) {
            prop_assert_eq!(key, literal);
        }
    }

    #[test]
    fn noise_does_not_change_the_key(conversation in any_conversation(), noise in noise(), at: usize) {
        let (plain, noisy) = noise.applied(conversation, at);
        prop_assert_eq!(hash(&plain), hash(&noisy));
    }

    /// The new text has only letters that no pattern matches, so normalization cannot remove the change.
    #[test]
    fn any_other_change_counts(
        conversation in any_conversation(), word in "[g-z]{1,8}", place in 0..5usize,
    ) {
        let mut messages = conversation;
        let call = ToolCall { id: String::new(), name: "gg".to_owned(), args: Json::object([("k", "gg".into())]) };
        let calling = Message { tool_calls: vec![call], name: Some("gg".to_owned()), ..Message::new("ai", "gg") };
        messages.insert(0, calling);
        let before = hash(&messages);
        match place {
            0 => messages[0].content = Json::Str(format!("gg{word}")),
            1 => messages[0].tool_calls[0].name.push_str(&word),
            2 => messages[0].tool_calls[0].args = Json::object([("k", Json::Str(format!("gg{word}")))]),
            3 => messages[0].name = Some(format!("gg{word}")),
            _ => messages.insert(0, Message::new("human", word)),
        }
        prop_assert_ne!(hash(&messages), before);
    }

    #[test]
    fn the_order_of_messages_and_calls_counts(one in "[g-z]{1,8}", other in "[g-z]{1,8}") {
        prop_assume!(one != other);
        let said = |texts: [&str; 2]| texts.map(|text| Message::new("human", text));
        prop_assert_ne!(hash(&said([&one, &other])), hash(&said([&other, &one])));
        let calls = |names: [&str; 2]| {
            let call = |name: &str| ToolCall { id: String::new(), name: name.to_owned(), args: Json::Null };
            [Message { tool_calls: names.map(call).into(), ..Message::new("ai", "") }]
        };
        prop_assert_ne!(hash(&calls([&one, &other])), hash(&calls([&other, &one])));
        let kinds = |kind: &str| [Message::new(kind, one.as_str())];
        prop_assert_ne!(hash(&kinds("human")), hash(&kinds("ai")));
    }

    #[test]
    fn the_caller_counts_and_its_spelling_does_not(name in "[g-z]{1,8}", space in "[ \n\u{1c}]{0,3}") {
        let rules = Rules::default();
        let conversation = hash(&[Message::new("human", "hi")]);
        let input = |caller: &str| rules.input_hash(conversation, Some(caller));
        prop_assert_eq!(input(&format!("{space}{name}{space}")), input(&name));
        prop_assert_ne!(input(&format!("{name}x")), input(&name));
        prop_assert_ne!(input(&name), rules.input_hash(conversation, None));
    }
}
