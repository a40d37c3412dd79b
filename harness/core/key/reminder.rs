//! Warns when version 1's first rule removes text across messages (KEY.md, section 1). The rules are applied a second time to
//! the JSON of the whole conversation, and there a reminder that opens in one message and closes in another removes everything
//! in between. The rule cannot change without changing keys, so users get a warning instead.

use std::fmt;

use super::Rules;
use super::normalize::{OPEN, all, reminder};
use crate::json::{Json, Layout};

/// A reminder that reaches from one message into another. The text in between is not part of the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReminderOverMessages {
    /// The number of the message in which the reminder begins, counted from 1.
    pub first: usize,
    /// The number of the message in which the reminder ends.
    pub last: usize,
}

impl Rules {
    /// Returns the first reminder in canonical messages that reaches from one message into another.
    pub fn reminder_over_messages(&self, canonical: &[Json]) -> Option<ReminderOverMessages> {
        if !canonical.iter().any(opens_reminder) {
            return None;
        }
        let mut text = String::new();
        let mut ends = Vec::with_capacity(canonical.len());
        for message in canonical {
            message.print_to(&mut text, Layout::Python);
            ends.push(text.len());
        }
        let message_at = |offset: usize| 1 + ends.partition_point(|end| *end <= offset);
        let mut found = all(&text, reminder).map(|found| (message_at(found.start), message_at(found.end - 1)));
        found.find(|(first, last)| first != last).map(|(first, last)| ReminderOverMessages { first, last })
    }
}

fn opens_reminder(value: &Json) -> bool {
    match value {
        Json::Str(text) => text.contains(OPEN),
        Json::Array(items) => items.iter().any(opens_reminder),
        Json::Object(fields) => fields.iter().any(|(key, value)| key.contains(OPEN) || opens_reminder(value)),
        _ => false,
    }
}

impl fmt::Display for ReminderOverMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReminderOverMessages { first, last } = self;
        write!(
            f,
            "`<system-reminder>` is opened in message {first} and closed in message {last}: the text in between is not part \
             of the key, so calls that differ only there count as the same call"
        )
    }
}
