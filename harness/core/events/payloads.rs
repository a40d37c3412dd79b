//! The hash of all payloads of a label. A tree of values shows each value at a place only once. Which values belong together,
//! how often they appear and in which order is covered by a hash next to the label. In this hash, each distinct value at a place
//! is represented by its number, so a changed value changes only its own line in the golden.

use std::collections::HashMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::ids::{self, Ids};
use super::labels::Label;
use super::notation::{self, Normalize};
use super::options::ShapeOptions;
use super::value;
use crate::json::{Json, Layout};

/// The payloads of one label.
#[derive(Default)]
pub(super) struct Payloads {
    hashes: Vec<[u8; 32]>,
    /// Whether some list has several elements.
    lists: bool,
    /// The number of each value at each place, in the order in which the values first appeared.
    numbers: HashMap<(u64, String), usize>,
    /// The number of distinct values at each place.
    counts: HashMap<u64, usize>,
}

/// Reads the payloads of all labels.
pub(super) struct PayloadReader<'a> {
    pub(super) options: &'a ShapeOptions,
    pub(super) normalize: &'a Normalize<'a>,
    pub(super) ids: &'a Ids,
}

impl Payloads {
    /// Returns the beginning of the hash of all payloads, or `None` if their tree already describes them completely.
    pub(super) fn finish(self) -> Option<String> {
        if !self.lists && self.hashes.windows(2).all(|two| two[0] == two[1]) {
            return None;
        }
        Some(notation::hash(self.hashes.concat()))
    }

    fn number(&mut self, place: u64, value: String) -> usize {
        *self.numbers.entry((place, value)).or_insert_with(|| {
            let count = self.counts.entry(place).or_default();
            *count += 1;
            *count
        })
    }
}

impl PayloadReader<'_> {
    /// Adds a payload of a label. Values at loose places do not count.
    pub(super) fn take(&self, payload: &Json, label: &Label, payloads: &mut Payloads) {
        let pointer = self.options.loose.iter().any(|loose| loose.label == label.name).then(String::new);
        let mut text = String::new();
        self.print(payload, (0, pointer), label, payloads, &mut text);
        payloads.hashes.push(Sha256::digest(text).into());
    }

    /// Appends the value at a place. There is a pointer only if some place of the label is loose.
    fn print(
        &self,
        value: &Json,
        (place, pointer): (u64, Option<String>),
        label: &Label,
        payloads: &mut Payloads,
        out: &mut String,
    ) {
        if pointer.as_ref().is_some_and(|pointer| self.options.loosens(&label.name, Some(pointer))) {
            out.push('_');
            return;
        }
        match value {
            Json::Array(items) => {
                payloads.lists |= items.len() > 1;
                let pointer = pointer.map(|pointer| format!("{pointer}/*"));
                out.push('[');
                for item in items {
                    self.print(item, (ids::place(place, "[]"), pointer.clone()), label, payloads, out);
                    out.push(',');
                }
                out.push(']');
            }
            Json::Object(entries) => {
                let mut named: Vec<_> = entries.iter().map(|(key, value)| ((self.normalize)(key), value)).collect();
                // The sort is stable: keys that normalize to the same key keep their order.
                named.sort_by(|(one, _), (other, _)| one.cmp(other));
                out.push('{');
                for (key, value) in named {
                    let pointer =
                        pointer.as_ref().map(|pointer| format!("{pointer}/{}", notation::pointer_token(&key)));
                    out.push_str(&notation::json_quoted(&key));
                    self.print(value, (ids::place(place, &*key), pointer), label, payloads, out);
                    out.push(',');
                }
                out.push('}');
            }
            scalar => {
                let (raw, shown) = (scalar.print(Layout::Compact), value::value(scalar, self.ids, self.normalize));
                // Equal ids are equal in each run, so the raw id counts. Not so in unordered events: none of these is the first.
                let is_id = shown.contains("<UUID>") && !label.unordered;
                let number = payloads.number(place, if is_id { raw } else { shown });
                let _ = write!(out, "{number}");
            }
        }
    }
}
