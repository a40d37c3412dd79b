//! The kinds of change. Each kind has the same weight in a score, however many places of a capture it applies to.

use retake_core::events::Detail;

/// A kind of change to a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    DropEvent,
    RepeatEvent,
    SwapEvents,
    RenameEvent,
    DropKey,
    AddKey,
    RenameKey,
    RetypeKey,
    ChangeValue,
    ChangeWord,
    ChangeTime,
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
    DropAttribute,
}

impl Kind {
    /// All kinds, in the order in which they are printed.
    pub const ALL: [Kind; 21] = [
        Kind::DropEvent,
        Kind::RepeatEvent,
        Kind::SwapEvents,
        Kind::RenameEvent,
        Kind::DropKey,
        Kind::AddKey,
        Kind::RenameKey,
        Kind::RetypeKey,
        Kind::ChangeValue,
        Kind::ChangeWord,
        Kind::ChangeTime,
        Kind::ChangeText,
        Kind::ShortenList,
        Kind::LengthenList,
        Kind::ReverseList,
        Kind::RepeatList,
        Kind::SwapIds,
        Kind::CutTail,
        Kind::Status,
        Kind::ContentType,
        Kind::DropAttribute,
    ];

    /// What the change does, as it is printed. This is also its name in the JSON report.
    pub fn words(self) -> &'static str {
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
            Kind::ChangeWord => "change a word",
            Kind::ChangeTime => "change a time's form",
            Kind::ChangeText => "change a streamed text",
            Kind::ShortenList => "shorten a list",
            Kind::LengthenList => "lengthen a list",
            Kind::ReverseList => "reverse a list",
            Kind::RepeatList => "repeat a list",
            Kind::SwapIds => "swap two ids",
            Kind::CutTail => "cut the end",
            Kind::Status => "change the status",
            Kind::ContentType => "change the content type",
            Kind::DropAttribute => "drop an attribute",
        }
    }

    /// Whether a golden with this detail is meant to notice the change: only `values` pins values, and `keys` pins nothing below
    /// the top-level keys.
    pub fn counts_at(self, detail: Detail) -> bool {
        match self {
            Kind::ChangeValue => detail == Detail::Values,
            Kind::ChangeWord | Kind::ChangeTime => detail != Detail::Keys,
            _ => true,
        }
    }
}
