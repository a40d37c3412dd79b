//! Where the model's words go: which turns a text of the service repeats, and how. The words themselves stand in the fixture, so a
//! recording with other words changes no golden, and a service that changes the words does.

use std::collections::BTreeMap;
use std::fmt;

use super::notation;
use super::recorded::Source;
use retake_base::text::clipped;

/// The largest number of characters of a turn's words that a difference quotes.
const QUOTED: usize = 60;

/// How a text of the service comes from the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum How {
    Equal,
    /// The words of several turns, with white space between them.
    Apart,
    Trimmed,
    /// Without quotes at its ends, which models put around titles.
    Unquoted,
    Cut,
    /// Cut, and the text says so.
    Elided,
    Html,
    Json,
    /// It contains the words, beside others.
    Has,
    HasHtml,
    HasJson,
}

/// Which words of the model a text repeats.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Told {
    pub(super) how: How,
    /// Several if their words follow one another.
    pub(super) of: Vec<Source>,
}

impl How {
    /// Where one is written as another and more, it comes first.
    pub(super) const ALL: [How; 11] = {
        use How::{Apart, Cut, Elided, Equal, Has, HasHtml, HasJson, Html, Json, Trimmed, Unquoted};
        [Equal, Apart, Trimmed, Unquoted, Elided, Cut, Html, Json, Has, HasHtml, HasJson]
    };

    /// What stands between a place and the turns.
    pub(super) fn verb(self) -> &'static str {
        if self.is_beside() { " has " } else { " = " }
    }

    /// Whether the text contains the words beside others.
    pub(super) fn is_beside(self) -> bool {
        matches!(self, How::Has | How::HasHtml | How::HasJson)
    }

    /// What follows the turns.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            How::Apart => ", with space between",
            How::Trimmed => ", trimmed",
            How::Unquoted => ", without its quotes",
            How::Cut => ", cut",
            How::Elided => ", cut with …",
            How::Html | How::HasHtml => ", escaped as HTML",
            How::Json | How::HasJson => ", escaped as JSON",
            How::Equal | How::Has => "",
        }
    }

    /// Whether only their beginning is there.
    pub(super) fn is_cut(self) -> bool {
        matches!(self, How::Cut | How::Elided)
    }

    /// Whether the words are there as a whole, and nothing else.
    pub(super) fn is_whole(self) -> bool {
        matches!(self, How::Equal | How::Apart | How::Trimmed | How::Unquoted | How::Html | How::Json)
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, source) in self.of.iter().enumerate() {
            write!(f, "{}{source}", if nth == 0 { "" } else { " and " })?;
        }
        f.write_str(self.how.suffix())
    }
}

/// What stands beside a golden and is no part of what it holds, and so equal to any other.
#[derive(Clone, Debug, Default, Eq)]
pub(super) struct Beside<T>(pub(super) T);

impl<T> PartialEq for Beside<T> {
    fn eq(&self, _: &Beside<T>) -> bool {
        true
    }
}

/// What the turns say, by how a golden names them: the beginning of each. A difference quotes it.
pub(super) type Said = Beside<BTreeMap<Source, String>>;

/// Whose words stand at a place, and whether beside others.
pub(super) type Words = (Source, bool);

/// The beginning of what a turn says, in quotes.
pub(super) fn quoted(text: &str) -> String {
    notation::json_quoted(&clipped(text.trim(), QUOTED))
}
