//! Where two canonical messages first differ, down to the one text (or value) in which they do: a suite's rules act on
//! texts, one by one (KEY.md, section 1). Pure.

use super::rule::Rule;
use super::vary::{Mend, Variation, compare};
use crate::conversation::OPAQUE;
use crate::json::{Json, Layout};
use crate::model::first_difference;

/// The first place in which two messages, or two values, differ.
pub(super) struct Differing {
    /// The place: `content`, or `tool_calls[0].args.path`.
    pub(super) path: String,
    /// What was recorded there, and what was called with.
    pub(super) recorded: String,
    /// The same, of the call.
    pub(super) called: String,
    /// Whether a suite's rules act there: on both sides stands a text.
    ruled: bool,
}

impl Differing {
    /// The place in two canonical messages.
    pub(super) fn in_messages(recorded: &Json, called: &Json) -> Differing {
        let whole = Differing::in_values(recorded, called, false);
        let body = |message: &Json| {
            let opaque = message.str_of("type") == Some(OPAQUE);
            Json::parse(message.str_of("content")?.as_bytes()).ok().filter(|_| opaque)
        };
        match (body(recorded), body(called)) {
            (Some(a), Some(b)) if whole.path == "content" && a != b => {
                let inside = Differing::in_values(&a, &b, true);
                Differing { path: format!("content: {}", inside.path), ..inside }
            }
            _ => whole,
        }
    }

    /// The place in two values; `numbers` says whether rules act on numbers too.
    pub(super) fn in_values(recorded: &Json, called: &Json, numbers: bool) -> Differing {
        let (path, a, b) = first_difference(recorded, called, String::new());
        let acted_on = |value: Option<&Json>| match value {
            Some(Json::Str(_)) => true,
            Some(Json::Int(_) | Json::BigInt(_) | Json::Float(_)) => numbers,
            _ => false,
        };
        let text = |value: Option<&Json>| match value {
            Some(Json::Str(text)) => text.clone(),
            value => value.map_or_else(|| "(absent)".to_owned(), |value| value.print(Layout::Python)),
        };
        Differing { path, recorded: text(a), called: text(b), ruled: acted_on(a) && acted_on(b) }
    }

    /// What varies there. `fits` says whether a rule may be proposed at all.
    pub(super) fn variations(&self, fits: &dyn Fn(&Rule) -> bool) -> Vec<Variation> {
        if self.ruled {
            return compare(&self.recorded, &self.called, true, fits);
        }
        let values = (self.recorded.clone(), self.called.clone());
        vec![Variation { cause: "another value, and no text that a rule acts on".to_owned(), values, mend: Mend::None }]
    }
}
