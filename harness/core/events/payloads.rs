//! The hash of all payloads of a label. A tree of values shows each value at a place only once. Which values belong together,
//! how often they appear and in which order is covered by a hash next to the label. In this hash, each distinct value at a place
//! is represented by its number, so a changed value changes only its own line in the golden.

use std::collections::HashMap;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

use super::labels::Label;
use super::sequence::Writing;
use super::{ids, notation, value};
use crate::json::{Json, Layout};

/// The payloads of one label.
#[derive(Default)]
pub(super) struct Payloads {
    hashes: Vec<[u8; 32]>,
    /// Whether some list has several elements.
    lists: bool,
    /// At each place, the number of each value, in the order in which the values first appeared.
    numbers: HashMap<u64, HashMap<String, usize>>,
}

impl Payloads {
    /// Returns the beginning of the hash of all payloads, or `None` if their tree already describes them completely.
    pub(super) fn hash(&self) -> Option<String> {
        if !self.lists && self.hashes.windows(2).all(|two| two[0] == two[1]) {
            return None;
        }
        Some(notation::hash(self.hashes.concat()))
    }

    fn number(&mut self, place: u64, value: String) -> usize {
        let known = self.numbers.entry(place).or_default();
        let next = known.len() + 1;
        *known.entry(value).or_insert(next)
    }

    /// Adds a payload of the label. Values at loose places do not count.
    pub(super) fn take(&mut self, payload: &Json, label: &Label, writing: &Writing<'_>) {
        let pointer = writing.options.loose.iter().any(|loose| loose.label == label.name).then(String::new);
        let mut text = String::new();
        self.print(payload, (0, pointer), label, writing, &mut text);
        self.hashes.push(Sha256::digest(text).into());
    }

    /// Appends the value at a place. There is a pointer only if some place of the label is loose.
    fn print(
        &mut self,
        value: &Json,
        (place, pointer): (u64, Option<String>),
        label: &Label,
        writing: &Writing<'_>,
        out: &mut String,
    ) {
        if pointer.as_ref().is_some_and(|pointer| writing.options.loosens(&label.name, Some(pointer))) {
            out.push('_');
            return;
        }
        match value {
            Json::Array(items) => {
                self.lists |= items.len() > 1;
                let pointer = pointer.map(|pointer| format!("{pointer}/*"));
                out.push('[');
                for item in items {
                    self.print(item, (ids::place(place, "[]"), pointer.clone()), label, writing, out);
                    out.push(',');
                }
                out.push(']');
            }
            Json::Object(entries) => {
                let mut named: Vec<_> = entries.iter().map(|(key, value)| ((writing.normalize)(key), value)).collect();
                // The sort is stable: keys that normalize to the same key keep their order.
                named.sort_by(|(one, _), (other, _)| one.cmp(other));
                out.push('{');
                for (key, value) in named {
                    let pointer = pointer.as_ref().map(|at| format!("{at}/{}", notation::pointer_token(&key)));
                    out.push_str(&notation::json_quoted(&key));
                    self.print(value, (ids::place(place, &*key), pointer), label, writing, out);
                    out.push(',');
                }
                out.push('}');
            }
            scalar => {
                let shown = value::value(scalar, writing.ids, writing.normalize);
                // Equal ids are equal in each run, so the raw id counts. Not so in unordered events: none of these is the first.
                let is_id = shown.contains("<UUID>") && !label.unordered;
                let number = self.number(place, if is_id { scalar.print(Layout::Compact) } else { shown });
                let _ = write!(out, "{number}");
            }
        }
    }
}
