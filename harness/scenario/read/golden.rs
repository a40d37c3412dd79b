//! Reads `[golden]`: what a golden pins, and what it leaves open.

use super::raw::RawGolden;
use retake_core::events::{Loose, ShapeOptions};

/// Returns the options of a golden. They need no checks in addition to those of each value. `headers` are read with the options
/// that a suite can set.
pub(super) fn read(raw: Option<&RawGolden>, headers: Vec<String>) -> ShapeOptions {
    let raw = raw.cloned().unwrap_or_default();
    ShapeOptions {
        detail: raw.detail.unwrap_or_default().0,
        show: raw.show.iter().flatten().map(|pointer| pointer.as_str().to_owned()).collect(),
        collapse: raw.collapse.unwrap_or_default(),
        unordered: raw.unordered.unwrap_or_default(),
        ordered: raw.ordered.unwrap_or_default(),
        ignore: raw.ignore.unwrap_or_default(),
        text: raw.text.unwrap_or_default().0,
        comments: raw.comments.unwrap_or_default(),
        lengths: raw.lengths.unwrap_or(true),
        words: raw.words.unwrap_or_default(),
        after_last: raw.after_last.unwrap_or(true),
        loose: raw.loose.iter().flatten().map(|place| Loose::of(place)).collect(),
        headers,
        event_name: raw.event_name.map(|pointer| pointer.as_str().to_owned()),
    }
}
