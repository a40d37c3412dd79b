//! Finds the first text or value in which two canonical messages differ, since a suite's rules work on single texts (KEY.md,
//! section 1). Pure.

use super::rule::Rule;
use super::vary::{Mend, Variation, compare};
use retake_core::conversation::OPAQUE;
use retake_core::json::{Json, Layout};
use retake_model::first_difference;

/// The first place in which two messages, or two values, differ.
pub(super) struct Differing {
    /// The place: `content`, or `tool_calls[0].args.path`.
    pub(super) path: String,
    /// The recorded text there.
    pub(super) recorded: String,
    /// The call's text there.
    pub(super) called: String,
    /// Whether a suite's rules work there, which they do if both values are texts.
    ruled: bool,
}

impl Differing {
    /// Compares two canonical messages.
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

    /// Compares two values. `numbers` says whether rules work on numbers too.
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

    /// What varies there. `fits` decides whether a rule may be proposed.
    pub(super) fn variations(&self, fits: &dyn Fn(&Rule) -> bool) -> Vec<Variation> {
        if self.ruled {
            return compare(&self.recorded, &self.called, true, fits);
        }
        let values = (self.recorded.clone(), self.called.clone());
        vec![Variation { cause: "a different value, which no rule works on".to_owned(), values, mend: Mend::None }]
    }
}
