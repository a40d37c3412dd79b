use super::RunningHash;
use crate::conversation::Message;
use crate::key::Rules;

/// The hash of texts as messages, one by one, and at once.
fn both(texts: &[&str]) -> (Option<String>, String) {
    let rules = Rules::default();
    let messages: Vec<Message> = texts.iter().map(|text| Message::new("human", *text)).collect();
    let mut running = RunningHash::default();
    for message in &messages {
        running.add(message, &rules.normalizer);
    }
    let canonical = rules.canonical(messages);
    assert_eq!(running.length, canonical.len());
    (running.hash().map(|hash| hash.to_string()), rules.hash_of_whole(&canonical).to_string())
}

#[test]
fn a_reminder_over_messages_needs_the_whole_conversation() {
    let cases: [&[&str]; 3] = [
        &["<system-reminder>", "b", "</system-reminder>"],
        &["a<system-reminder>", "</system-reminder>b"],
        // What is left of the first message is an opening tag.
        &["<system-rem<system-reminder>x</system-reminder>inder>", "</system-reminder>"],
    ];
    for texts in cases {
        assert_eq!(both(texts).0, None, "{texts:?}");
    }
}

#[test]
fn every_other_conversation_is_hashed_message_by_message() {
    let cases: [&[&str]; 6] = [
        &[],
        &["a", "b"],
        &["<system-reminder>", "b", "<system-reminder>"],
        &["</system-reminder>", "b<system-reminder>", "c"],
        &["<system-reminder>x</system-reminder> 2026-01-01 /tmp/x", "User:\nb", "/private", "/tmp/y"],
        &["--- END USER", " INPUT ---", "2026-", "01-01", "User:", "\n"],
    ];
    for texts in cases {
        let (running, whole) = both(texts);
        assert_eq!(running, Some(whole), "{texts:?}");
    }
}
