//! The hash of a conversation, message by message, is the hash of the whole, whatever stands at the borders.

use proptest::prelude::*;

use crate::conversation::{Message, ToolCall};
use crate::json::Json;
use crate::key::*;

/// Halves and wholes of what the rules match, so that a match could reach over a border of messages.
const PIECES: [&str; 32] = [
    "<system-reminder>",
    "</system-reminder>",
    "<system-rem",
    "inder>",
    "</system-",
    "reminder>",
    "<system-reminder>x</system-reminder>",
    "User:",
    "Assistant: ",
    "\n",
    "--- BEGIN USER INPUT ---",
    "--- END ",
    "USER INPUT ---",
    "f0494dc0-1392-e452-",
    "7ea2-fb2b42eb80dc",
    "2026-",
    "11-21",
    "2026-11-21T10:00",
    ":00Z",
    "/private",
    "/tmp",
    "/tmp/",
    "/var/folders/x",
    "took 3 s",
    "order-",
    "42",
    "\"",
    "\"}, {\"",
    "\\",
    " ",
    "é",
    "",
];

/// Rules of a suite that would match over a border if they saw it.
const OWN: [(&str, &str); 8] = [
    ("took .*", "took <TIME>"),
    (r"order-\d+", "<ORDER>"),
    (r#""\}, \{""#, "<BORDER>"),
    ("(?s).*", "<system-reminder>"),
    (r"\bx\b", "</system-reminder>"),
    ("^$", "nothing"),
    ("[{}\"]", ""),
    (r"/tmp$", "/tmp/z"),
];

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&PIECES[..]), 0..5).prop_map(|pieces| pieces.concat())
}

fn message() -> impl Strategy<Value = Message> {
    let args = prop_oneof![
        text().prop_map(Json::Str),
        (text(), text()).prop_map(|(key, value)| Json::object([(key, Json::Str(value))])),
        Just(Json::Int(2026)),
        text().prop_map(|text| Json::Array(vec![Json::Null, Json::Str(text)])),
    ];
    let call = (text(), args).prop_map(|(name, args)| ToolCall { id: "c".to_owned(), name, args });
    // A role that no API knows is kept as it is, so the last text of a message can be anything.
    let kind = prop_oneof![6 => prop::sample::select(&["human", "ai", "tool", "opaque"][..]).prop_map(str::to_owned), 1 => text()];
    (kind, text(), prop::collection::vec(call, 0..2), prop::option::of(text()))
        .prop_map(|(kind, content, tool_calls, name)| Message { name, tool_calls, ..Message::new(&kind, content) })
}

fn rules() -> impl Strategy<Value = Rules> {
    prop_oneof![
        2 => Just(Vec::new()),
        1 => prop::sample::subsequence(&OWN[..], 0..4),
    ]
    .prop_map(|own| super::with(&own))
}

/// How many conversations are tried. `.ci/run` tries 100,000.
fn cases() -> u32 {
    std::env::var("RETAKE_CONVERSATIONS").ok().and_then(|cases| cases.parse().ok()).unwrap_or(1_000)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases()))]

    #[test]
    fn each_beginning_of_a_conversation_has_the_hash_of_the_whole(
        messages in prop::collection::vec(message(), 0..8), rules in rules(), other in message(),
    ) {
        let mut running = RunningHash::default();
        for count in 0..=messages.len() {
            let beginning = rules.canonical(messages[..count].to_vec());
            let whole = rules.hash_of_whole(&beginning);
            prop_assert_eq!(rules.conversation_hash(&beginning), whole);
            prop_assert_eq!(running.length, beginning.len());
            match running.hash() {
                Some(hash) => prop_assert_eq!(hash, whole),
                None => prop_assert!(rules.reminder_over_messages(&beginning).is_some(), "{:?}", beginning),
            }
            // Another conversation that begins in the same way leaves this one alone.
            let mut branch = running.clone();
            branch.add(&other, &rules.normalizer);
            let branched = rules.canonical([&messages[..count], std::slice::from_ref(&other)].concat());
            prop_assert!(branch.hash().is_none_or(|hash| hash == rules.hash_of_whole(&branched)));
            if let Some(next) = messages.get(count) {
                running.add(next, &rules.normalizer);
            }
        }
    }
}
