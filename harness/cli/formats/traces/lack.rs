//! What a span lacks, in words: why it is no turn, and the setting that would keep what is missing.

use super::fields::{CAPTURE, COUNT_LIMIT, LENGTH_LIMIT};
use super::span::{Span, names};

/// Why a span cannot become a turn. The later ones say more.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Lack {
    /// It holds no messages.
    Nothing,
    /// It holds messages, but no answer.
    NoAnswer,
    /// It holds an answer, but not what it answers.
    NotAsked,
    Failed(String),
    NoRoles,
    Several,
    Steps,
    Redacted,
    Cut,
    /// Attributes of it were dropped, as this says.
    Dropped(String),
    /// A tool call in it has a form that cannot be read.
    Call,
    Conflict(String),
}

const NO_ROLES: &str =
    "its messages are texts without roles, or have a form that is not read: who said what would be a guess";

/// A span that is no turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused {
    pub(crate) trace: String,
    pub(crate) span: String,
    pub(crate) name: String,
    pub(crate) reason: String,
    /// The setting that would keep what is missing.
    pub(crate) setting: Option<&'static str>,
}

impl Lack {
    /// The same, of an answer: what it lacks are not the messages.
    pub(super) fn in_answer(self) -> Lack {
        if matches!(self, Lack::Nothing | Lack::NoRoles | Lack::Several) { Lack::NoAnswer } else { self }
    }

    /// The one that says more. That nothing is there says most, if it is so on both sides.
    pub(super) fn worse(self, other: Lack) -> Lack {
        if self == Lack::Nothing && other == Lack::NoAnswer { self } else { self.max(other) }
    }
}

impl Refused {
    pub(super) fn of(span: &Span, lack: Lack) -> Refused {
        // Which instrumentation wrote the span is told by its own name, then by those of the attributes.
        let capture = || {
            let scope = span.text("otel.scope.name").unwrap_or_default();
            let is_scope = |mark: &str| scope.starts_with(mark.trim_end_matches('.'));
            let has = |mark: &str| span.fields.keys().any(|name| name.starts_with(mark));
            let by = |is: &dyn Fn(&str) -> bool| CAPTURE.iter().find(|(marks, _)| names(marks).any(is));
            by(&is_scope).or_else(|| by(&has)).map(|(_, setting)| *setting).filter(|setting| !setting.is_empty())
        };
        // What OpenInference hides has a mark in its place. Where one side is there, only a setting for the other helps.
        let unmarked = || capture().filter(|setting| !setting.starts_with("OPENINFERENCE"));
        let of_side = || unmarked().filter(|setting| setting.contains("INPUT") || setting.contains("recordInputs"));
        let (reason, setting) = match lack {
            Lack::Nothing => match unmarked() {
                None => ("it holds no messages".to_owned(), None),
                setting => ("it holds no messages: the service did not record their content".to_owned(), setting),
            },
            Lack::NoAnswer => ("it holds no answer".to_owned(), of_side()),
            Lack::NotAsked => ("it holds an answer, but not what was asked".to_owned(), of_side()),
            Lack::Redacted => ("its messages were hidden by what recorded them".to_owned(), capture()),
            Lack::Cut => ("a text in it was cut by a length limit".to_owned(), Some(LENGTH_LIMIT)),
            Lack::Dropped(reason) => (reason, Some(COUNT_LIMIT)),
            Lack::NoRoles => (NO_ROLES.to_owned(), None),
            Lack::Several => ("it holds several conversations at once".to_owned(), None),
            Lack::Steps => ("it holds several steps of an agent, not one answer".to_owned(), None),
            Lack::Call => ("a tool call in it has a form that cannot be read".to_owned(), None),
            Lack::Failed(reason) | Lack::Conflict(reason) => (reason, None),
        };
        Refused { trace: span.trace.clone(), span: span.id.clone(), name: span.name.clone(), reason, setting }
    }
}
