//! The evidence of a failure. It is typed, and made into lines in one place, so that the terminal, the page, the JSON and the
//! reports of CI systems show the same.

use serde::{Deserialize, Serialize};

use retake_base::line::{Line, lines_of};

/// One piece of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Evidence {
    /// Something that is said in words.
    Text {
        /// The text, which may have several lines.
        text: String,
    },
    /// The difference between two texts.
    Diff {
        /// The lines above it.
        title: String,
        /// Its lines.
        lines: Vec<Line>,
    },
    /// The calls that missed: each with the turn that is nearest, and how it differs from it.
    Calls {
        /// The lines.
        lines: Vec<Line>,
    },
    /// The end of a system's output.
    Log {
        /// The text.
        text: String,
    },
}

impl Evidence {
    /// A difference with a title.
    pub fn diff(title: impl Into<String>, lines: Vec<Line>) -> Evidence {
        Evidence::Diff { title: title.into(), lines }
    }

    /// The evidence as lines. Every report is made of them.
    pub fn lines(&self) -> Vec<Line> {
        match self {
            Evidence::Text { text } | Evidence::Log { text } => lines_of(text),
            Evidence::Calls { lines } => lines.clone(),
            Evidence::Diff { title, lines } => title.lines().map(Line::from).chain(lines.iter().cloned()).collect(),
        }
    }

    /// The same evidence with `shown` applied to each text.
    pub fn with_texts(mut self, shown: impl Fn(&str) -> String) -> Evidence {
        let (text, lines) = match &mut self {
            Evidence::Text { text } | Evidence::Log { text } => (Some(text), None),
            Evidence::Diff { title, lines } => (Some(title), Some(lines)),
            Evidence::Calls { lines } => (None, Some(lines)),
        };
        let of_lines = lines.into_iter().flatten().map(|line| &mut line.text);
        text.into_iter().chain(of_lines).for_each(|text| *text = shown(text));
        self
    }
}

impl<T: Into<String>> From<T> for Evidence {
    fn from(text: T) -> Evidence {
        Evidence::Text { text: text.into() }
    }
}
