//! The value of an environment variable that must not be written, and its placeholder.

use std::ops::Range;

use memchr::memmem::{self, Finder};

use super::base64_run::{self, Run};

/// The shortest value to search for, in bytes. A shorter one cannot be distinguished from other text.
pub(super) const SHORTEST: usize = 6;

/// How much of a value the end of a text has to contain at least, in bytes.
const CUT_OFF: usize = 8;

/// The prefix of a variable's name in the list of a fixture.
pub(super) const VARIABLE: &str = "env:";

/// The value of an environment variable.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) name: String,
    pub(super) placeholder: String,
    /// The value, and the value with `+` in place of each space, as forms of web pages write it.
    spellings: Vec<Finder<'static>>,
    /// The middles of the base64 of the value and of its placeholder.
    base64: Vec<(Finder<'static>, usize)>,
}

impl Value {
    pub(super) fn new(name: &str, value: &str) -> Value {
        let placeholder = format!("<{name}>");
        let mut texts = vec![value.to_owned(), value.replace(' ', "+")];
        texts.dedup();
        texts.retain(|text| text.len() >= SHORTEST);
        let finder = |text: &str| Finder::new(text).into_owned();
        let base64 = texts.first().into_iter().chain([&placeholder]).flat_map(|text| base64_run::middles(text));
        let base64 = base64.map(|(middle, skipped)| (finder(&middle), skipped)).collect();
        Value { name: name.to_owned(), placeholder, spellings: texts.iter().map(|text| finder(text)).collect(), base64 }
    }

    /// The name under which a fixture lists the value.
    pub(super) fn fired_as(&self) -> String {
        format!("{VARIABLE}{}", self.name)
    }

    pub(super) fn length(&self) -> usize {
        self.spellings.first().map_or(0, |value| value.needle().len())
    }

    /// Returns the ranges of bytes that contain the value, sorted and without overlaps.
    pub(super) fn find(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        let fitting = self.spellings.iter().filter(|spelling| spelling.needle().len() <= bytes.len());
        fitting.fold(Vec::new(), |found, spelling| {
            merged(found, spelling.find_iter(bytes).map(|at| at..at + spelling.needle().len()))
        })
    }

    /// Returns the range at the end of a text that contains most of the value, if the text was cut off there.
    pub(super) fn cut_off(&self, text: &str) -> Option<Range<usize>> {
        let value = self.spellings.first()?.needle();
        let most = CUT_OFF.max(value.len() * 3 / 4);
        let length = (most..value.len()).rev().find(|length| text.as_bytes().ends_with(&value[..*length]))?;
        // Not in the middle of a character.
        let start = text.len() - length;
        text.is_char_boundary(start).then_some(start..text.len())
    }

    /// Returns the runs of base64 in a text that contain the value, or its placeholder, at whatever offset.
    pub(super) fn in_base64(&self, text: &str) -> Vec<Run> {
        let mut runs = Vec::new();
        for (middle, skipped) in self.base64.iter().filter(|(middle, _)| middle.needle().len() <= text.len()) {
            for at in middle.find_iter(text.as_bytes()) {
                let run = base64_run::around(text, at..at + middle.needle().len(), *skipped);
                let names = |run: &Run| memmem::find(&run.bytes, self.placeholder.as_bytes()).is_some();
                runs.extend(run.filter(|run| !self.find(&run.bytes).is_empty() || names(run)));
            }
        }
        runs
    }
}

/// The ranges of two lists, without those of the second that overlap one of the first.
pub(super) fn merged(mut all: Vec<Range<usize>>, second: impl IntoIterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let apart = |range: &Range<usize>| all.iter().all(|other| range.end <= other.start || other.end <= range.start);
    let more: Vec<Range<usize>> = second.into_iter().filter(apart).collect();
    all.extend(more);
    all.sort_by_key(|range| range.start);
    all
}
