//! The evidence of a failure. It is typed, and made into lines in one place, so that the terminal, the page, the JSON and the
//! reports of CI systems show the same.

use std::fmt;

use serde::{Deserialize, Serialize};

use retake_base::line::{Line, Lines, Side};

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
        lines: Vec<LineData>,
    },
    /// The calls that missed: each with the turn that is nearest, and how it differs from it.
    Calls {
        /// The lines.
        lines: Vec<LineData>,
    },
    /// The end of a system's output.
    Log {
        /// The text.
        text: String,
    },
}

/// One line of evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LineData {
    /// `-` for what was recorded or is in the golden, `+` for this run; absent for a line that is about both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sign: Option<Sign>,
    /// The columns before the sign.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub indent: usize,
    /// The text after the sign.
    pub text: String,
}

/// Which side a line stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Sign {
    /// What was recorded, or is in the golden.
    #[serde(rename = "-")]
    Gone,
    /// What is there in this run.
    #[serde(rename = "+")]
    Come,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(indent: &usize) -> bool {
    *indent == 0
}

impl Evidence {
    /// A difference with a title.
    pub fn diff(title: impl Into<String>, lines: Lines) -> Evidence {
        Evidence::Diff { title: title.into(), lines: LineData::all(lines) }
    }

    /// Calls that missed.
    pub fn calls(lines: Lines) -> Evidence {
        Evidence::Calls { lines: LineData::all(lines) }
    }

    /// The evidence as lines. Every report is made of them.
    pub fn lines(&self) -> Lines {
        match self {
            Evidence::Text { text } | Evidence::Log { text } => Lines::from(text.as_str()),
            Evidence::Calls { lines } => lines.iter().map(line).collect(),
            Evidence::Diff { title, lines } => title.lines().map(Line::from).chain(lines.iter().map(line)).collect(),
        }
    }

    /// The same evidence with `shown` applied to each text.
    #[must_use]
    pub fn with_texts(self, shown: impl Fn(&str) -> String) -> Evidence {
        let each = |lines: Vec<LineData>| -> Vec<LineData> {
            lines.into_iter().map(|line| LineData { text: shown(&line.text), ..line }).collect()
        };
        match self {
            Evidence::Text { text } => Evidence::Text { text: shown(&text) },
            Evidence::Log { text } => Evidence::Log { text: shown(&text) },
            Evidence::Diff { title, lines } => Evidence::Diff { title: shown(&title), lines: each(lines) },
            Evidence::Calls { lines } => Evidence::Calls { lines: each(lines) },
        }
    }
}

impl<T: Into<String>> From<T> for Evidence {
    fn from(text: T) -> Evidence {
        Evidence::Text { text: text.into() }
    }
}

impl fmt::Display for Evidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().fmt(f)
    }
}

impl LineData {
    /// The data of lines.
    pub fn all(lines: Lines) -> Vec<LineData> {
        let sign = |side| match side {
            Side::Both => None,
            Side::Gone => Some(Sign::Gone),
            Side::Come => Some(Sign::Come),
        };
        lines.into_iter().map(|Line { side, indent, text }| LineData { sign: sign(side), indent, text }).collect()
    }
}

fn line(LineData { sign, indent, text }: &LineData) -> Line {
    let side = match sign {
        None => Side::Both,
        Some(Sign::Gone) => Side::Gone,
        Some(Sign::Come) => Side::Come,
    };
    Line::of(side, *indent, text)
}
