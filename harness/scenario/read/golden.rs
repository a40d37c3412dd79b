//! `[golden]`: what a golden holds, and what it leaves open.

use super::raw::RawGolden;
use crate::events::ShapeOptions;

/// The options of a golden, which need no check beyond that of each value.
pub(super) fn read(raw: Option<&RawGolden>) -> ShapeOptions {
    let raw = raw.cloned().unwrap_or_default();
    ShapeOptions {
        detail: raw.detail.unwrap_or_default(),
        show: raw.show.iter().flatten().map(|pointer| pointer.as_str().to_owned()).collect(),
        collapse: raw.collapse.unwrap_or_default(),
        unordered: raw.unordered.unwrap_or_default(),
        comments: raw.comments.unwrap_or_default(),
    }
}
