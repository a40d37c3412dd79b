//! Secrets in another dress: a value as JSON, a URL or base64 write it, and texts that are base64 as a whole.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::json::{Json, Layout};

/// Below this many characters a value is not told from other text.
pub(super) const SHORTEST: usize = 6;

/// Runs of base64 below this length hold no secret of a known form.
const SHORTEST_RUN: usize = 20;

/// The value of a variable in each of its dresses, longest first.
#[derive(Clone, Debug)]
pub(super) struct Value {
    name: String,
    word: String,
    dresses: Vec<String>,
}

impl Value {
    pub(super) fn new(name: &str, value: &str) -> Value {
        let word = format!("<{name}>");
        // What replay hands to the system, and the system to a URL, is what recording put in the value's place.
        let mut dresses = vec![url_encoded(&word), format!("%3c{name}%3e")];
        if value.len() >= SHORTEST {
            let in_json = as_json(value);
            dresses.extend([
                value.to_owned(),
                as_json(&in_json),
                in_json,
                url_encoded(value),
                url_encoded(value).replace("%20", "+"),
                engine(false).encode(value).trim_end_matches('=').to_owned(),
                engine(true).encode(value).trim_end_matches('=').to_owned(),
            ]);
        }
        dresses.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        dresses.dedup();
        Value { name: name.to_owned(), word, dresses }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn word(&self) -> &str {
        &self.word
    }

    pub(super) fn length(&self) -> usize {
        self.dresses.first().map_or(0, String::len)
    }

    /// Whether the value itself is in a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let has = |dress: &String| memchr::memmem::find(text.as_bytes(), dress.as_bytes()).is_some();
        self.dresses.iter().filter(|dress| !dress.starts_with("%3")).any(has)
    }

    /// Where the value stands, in order and apart.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for dress in &self.dresses {
            for at in memchr::memmem::find_iter(text.as_bytes(), dress.as_bytes()) {
                let range = at..at + dress.len();
                if found.iter().all(|other| range.end <= other.start || other.end <= range.start) {
                    found.push(range);
                }
            }
        }
        found.sort_by_key(|range| range.start);
        found
    }
}

/// A text as it stands between the quotes of JSON.
fn as_json(text: &str) -> String {
    let quoted = Json::from(text).print(Layout::Compact);
    quoted[1..quoted.len() - 1].to_owned()
}

fn url_encoded(text: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    encoded.replace('+', "%20")
}

/// What a run of base64 holds.
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    url_safe: bool,
    padded: bool,
}

impl Decoded {
    /// Other bytes in the same dress.
    pub(super) fn encode(&self, bytes: &[u8]) -> String {
        let text = engine(self.url_safe).encode(bytes);
        if self.padded { text } else { text.trim_end_matches('=').to_owned() }
    }
}

/// The runs of base64 in a text that decode to something like text.
pub(super) fn base64_runs(text: &str) -> impl Iterator<Item = (Range<usize>, Decoded)> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            if !in_alphabet(bytes[at]) {
                at += 1;
                continue;
            }
            // `\n` in the text of a JSON string is not a part of what follows it.
            let escape = usize::from(at > 0 && bytes[at - 1] == b'\\');
            let start = at + escape;
            let length = bytes[at..].iter().take_while(|byte| in_alphabet(**byte)).count();
            at += length;
            let padding = bytes[at..].iter().take(2).take_while(|byte| **byte == b'=').count();
            at += padding;
            let run = bytes.get(start..at - padding).unwrap_or_default();
            if run.len() < SHORTEST_RUN {
                continue;
            }
            let url_safe = run.iter().any(|byte| matches!(byte, b'-' | b'_'));
            let decoded = engine(url_safe).decode(run).ok().filter(|bytes| looks_like_text(bytes));
            if let Some(bytes) = decoded {
                let padded = padding > 0 || run.len() % 4 == 0;
                return Some((start..at, Decoded { bytes, url_safe, padded }));
            }
        }
        None
    })
}

fn in_alphabet(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

/// Images and the like are not looked into: their bytes hold no text to be found.
fn looks_like_text(bytes: &[u8]) -> bool {
    let first = &bytes[..bytes.len().min(256)];
    let odd = first.iter().filter(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace()).count();
    odd * 16 < first.len() && first.iter().filter(|byte| !byte.is_ascii()).count() * 2 < first.len()
}

fn engine(url_safe: bool) -> GeneralPurpose {
    let config = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    GeneralPurpose::new(if url_safe { &URL_SAFE } else { &STANDARD }, config)
}
