//! Tests with damaged recordings: parts are cut out, repeated or overwritten. Each becomes a fixture that can be read again, or
//! an error.
//!
//! To fuzz: `PROPTEST_CASES=1000000 cargo test --release --lib import::tests::spoilt`.

use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use crate::formats::*;
use retake_core::key::Rules;
use retake_core::secrets::Scrub;
use retake_wire::fixture::Fixture;

/// A file of each format.
const SAMPLES: [&str; 4] = [
    "interactions:\n- request:\n    body: '{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}'\n    \
     headers: {content-type: [application/json]}\n    method: POST\n    uri: https://a/v1/chat/completions\n  response:\n    \
     body: {string: '{\"choices\": [{\"message\": {\"role\": \"assistant\", \"content\": \"yes\"}}]}'}\n    \
     status: {code: 200, message: OK}\nversion: 1\n",
    "---\nversion: 2\ninteractions:\n    - id: 0\n      request:\n        method: POST\n        url: https://a/v1/messages\n        \
     body: '{\"model\": \"m\", \"messages\": [{\"role\": \"user\", \"content\": \"hi\"}]}'\n      response:\n        body: !!binary \
     e30=\n        code: 200\n        headers: {Content-Type: [application/json]}\n",
    "{\"log\": {\"entries\": [{\"request\": {\"method\": \"POST\", \"url\": \"https://a/v1/responses\", \"postData\": {\"text\": \
     \"{\\\"model\\\": \\\"m\\\", \\\"input\\\": \\\"hi\\\"}\"}}, \"response\": {\"status\": 200, \"content\": {\"mimeType\": \
     \"application/json\", \"text\": \"e30=\", \"encoding\": \"base64\"}}}]}}",
    "{\"fixtures\": [{\"match\": {\"userMessage\": \"hi\", \"sequenceIndex\": 0}, \"response\": {\"content\": \"yes\", \
     \"toolCalls\": [{\"name\": \"f\", \"arguments\": \"{}\"}]}}]}",
];
/// Texts that have a meaning in one of the formats.
const WORDS: [&str; 24] = [
    "&a ",
    "*a",
    "<<: *a",
    "!!binary ",
    "!!float ",
    "|\n  ",
    ">-\n",
    "? ",
    "- ",
    "{",
    "[",
    "]",
    "}",
    "\"",
    "'",
    "\n",
    "\t",
    ": ",
    "null",
    "1e999",
    "\\ud800",
    "\u{feff}",
    "base64",
    "999999999999999999999",
];

/// A change of a file: its position, as a fraction of the file in units of 1/65536, and its length or the new content.
#[derive(Clone, Debug)]
enum Edit {
    Cut(u16, u8),
    Repeat(u16, u8),
    Byte(u16, u8),
    Word(u16, usize),
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        (any::<u16>(), any::<u8>()).prop_map(|(at, length)| Edit::Cut(at, length)),
        (any::<u16>(), any::<u8>()).prop_map(|(at, length)| Edit::Repeat(at, length)),
        (any::<u16>(), any::<u8>()).prop_map(|(at, byte)| Edit::Byte(at, byte)),
        (any::<u16>(), 0..WORDS.len()).prop_map(|(at, word)| Edit::Word(at, word)),
    ]
}

fn spoil(bytes: &mut Vec<u8>, edit: &Edit) {
    let length = bytes.len();
    let place = |at: u16| usize::from(at) * length / 65536;
    let part = |at: u16, part: u8| place(at)..(place(at) + usize::from(part)).min(length);
    match *edit {
        Edit::Cut(at, length) => drop(bytes.drain(part(at, length))),
        Edit::Repeat(at, length) => {
            let again = bytes[part(at, length)].to_vec();
            bytes.splice(place(at)..place(at), again);
        }
        Edit::Byte(at, byte) => bytes.splice(part(at, 1), [byte]).for_each(drop),
        Edit::Word(at, word) => bytes.splice(place(at)..place(at), WORDS[word].bytes()).for_each(drop),
    }
}

proptest! {
    #[test]
    fn a_damaged_recording_gives_turns_or_an_error(
        sample in 0..SAMPLES.len(),
        edits in prop::collection::vec(edit(), 0..8),
        errors: bool,
    ) {
        let mut bytes = SAMPLES[sample].as_bytes().to_vec();
        for edit in &edits {
            spoil(&mut bytes, edit);
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, &bytes).unwrap();
        let rules = Rules::default();
        let options = Options { rules: &rules, caller: &|_, _| None, errors, scrub: &Scrub::known() };
        for form in [Foreign::Vcr, Foreign::Har, Foreign::Aimock] {
            match to_fixture(form, std::slice::from_ref(&path), Path::new("out.json"), BTreeMap::new(), &options) {
                Err(errors) => prop_assert!(!errors.is_empty() && errors.iter().all(|e| e.file().is_some())),
                Ok(imported) => {
                    let text = imported.fixture.print();
                    prop_assert_eq!(Fixture::parse(Path::new("f"), text.as_bytes(), &rules).unwrap().print(), text);
                }
            }
        }
    }
}
