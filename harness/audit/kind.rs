//! The kinds of change. Each kind has the same weight in a score, however many places of a capture it applies to.

use retake_core::events::Detail;

/// Makes the type of the kinds, from the name of each and what it does.
macro_rules! kinds {
    ($($(#[$about:meta])* $kind:ident = $words:literal),+ $(,)?) => {
        /// A kind of change to a capture.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $(#[doc = $words] $(#[$about])* $kind),+ }

        impl Kind {
            /// All kinds, in the order in which they are printed.
            pub const ALL: [Kind; [$($words),+].len()] = [$(Kind::$kind),+];

            /// What the change does, as it is printed. This is also its name in the JSON report.
            pub fn words(self) -> &'static str {
                match self { $(Kind::$kind => $words),+ }
            }
        }
    };
}

kinds! {
    DropEvent = "drop an event",
    RepeatEvent = "send an event twice",
    SwapEvents = "swap two events",
    RenameEvent = "rename an event",
    DropKey = "drop a key",
    AddKey = "add a key",
    RenameKey = "rename a key",
    RetypeKey = "change a type",
    ChangeValue = "change a value",
    ChangeWord = "change a word",
    ChangeTime = "change a time's form",
    /// Changes words of the model; if collapsed events deliver them in pieces, in all of these.
    ChangeText = "change a streamed text",
    ShortenList = "shorten a list",
    LengthenList = "lengthen a list",
    ReverseList = "reverse a list",
    RepeatList = "repeat a list",
    SwapIds = "swap two ids",
    CutTail = "cut the end",
    Status = "change the status",
    ContentType = "change the content type",
    DropHeaderPart = "drop part of a header",
}

impl Kind {
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
