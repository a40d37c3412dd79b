//! The kinds of change. Each kind has the same weight in a score, however many places of a capture it applies to.

use crate::events::Detail;

/// A kind of change to a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    DropEvent,
    RepeatEvent,
    SwapEvents,
    RenameEvent,
    DropKey,
    AddKey,
    RenameKey,
    RetypeKey,
    ChangeValue,
    /// Changes the text that collapsed events deliver in pieces, in all of them.
    ChangeText,
    ShortenList,
    LengthenList,
    ReverseList,
    RepeatList,
    SwapIds,
    CutTail,
    Status,
    ContentType,
}

impl Kind {
    /// All kinds, in the order in which they are printed.
    pub(crate) const ALL: [Kind; 18] = [
        Kind::DropEvent,
        Kind::RepeatEvent,
        Kind::SwapEvents,
        Kind::RenameEvent,
        Kind::DropKey,
        Kind::AddKey,
        Kind::RenameKey,
        Kind::RetypeKey,
        Kind::ChangeValue,
        Kind::ChangeText,
        Kind::ShortenList,
        Kind::LengthenList,
        Kind::ReverseList,
        Kind::RepeatList,
        Kind::SwapIds,
        Kind::CutTail,
        Kind::Status,
        Kind::ContentType,
    ];

    /// What the change does, as it is printed. This is also its name in the JSON report.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Kind::DropEvent => "drop an event",
            Kind::RepeatEvent => "send an event twice",
            Kind::SwapEvents => "swap two events",
            Kind::RenameEvent => "rename an event",
            Kind::DropKey => "drop a key",
            Kind::AddKey => "add a key",
            Kind::RenameKey => "rename a key",
            Kind::RetypeKey => "change a type",
            Kind::ChangeValue => "change a value",
            Kind::ChangeText => "change a streamed text",
            Kind::ShortenList => "shorten a list",
            Kind::LengthenList => "lengthen a list",
            Kind::ReverseList => "reverse a list",
            Kind::RepeatList => "repeat a list",
            Kind::SwapIds => "swap two ids",
            Kind::CutTail => "cut the end",
            Kind::Status => "change the status",
            Kind::ContentType => "change the content type",
        }
    }

    /// Whether a golden with this detail is meant to notice the change: only `values` pins values.
    pub(crate) fn counts_at(self, detail: Detail) -> bool {
        self != Kind::ChangeValue || detail == Detail::Values
    }
}
