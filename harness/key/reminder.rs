//! Version 1's first rule over the end of a message (KEY.md, section 1): in the second pass, over the JSON of the whole
//! conversation, a reminder that is opened in one message and closed in another takes all between with it. The letter stays,
//! so that is said.

use std::fmt;

use super::Rules;
use super::normalize::{OPEN, reminder};
use crate::json::{Json, Layout};

/// Messages between which text counts in no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReminderOverMessages {
    /// The number of the message in which the reminder begins, from 1.
    pub first: usize,
    /// The number of the message in which it ends.
    pub last: usize,
}

impl Rules {
    /// The first reminder of canonical messages that reaches from one into another.
    #[must_use]
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
        let mut from = 0;
        while let Some(found) = reminder(&text, from) {
            let (first, last) = (message_at(found.start), message_at(found.end - 1));
            if first != last {
                return Some(ReminderOverMessages { first, last });
            }
            from = found.end;
        }
        None
    }
}

fn opens_reminder(value: &Json) -> bool {
    match value {
        Json::Str(text) => text.contains(OPEN),
        Json::Array(items) => items.iter().any(opens_reminder),
        Json::Object(fields) => fields.values().any(opens_reminder),
        _ => false,
    }
}

impl fmt::Display for ReminderOverMessages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ReminderOverMessages { first, last } = self;
        write!(
            f,
            "`<system-reminder>` is opened in message {first} and closed in message {last}: what stands between them counts \
             in no key, so calls that differ there are taken for the same"
        )
    }
}
