//! Encoded secrets: a value as it appears in JSON, in a URL or in base64, and base64 whose decoded text contains a secret.

use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::{STANDARD, URL_SAFE};
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::json::{Json, Layout};

/// The shortest value to search for, in bytes. A shorter one cannot be distinguished from other text.
pub(super) const SHORTEST: usize = 6;

/// The shortest run of base64 to decode. A shorter one contains no secret of a known form.
const SHORTEST_RUN: usize = 20;

/// The value of an environment variable, in each of its encodings, longest first.
#[derive(Clone, Debug)]
pub(super) struct Value {
    name: String,
    placeholder: String,
    encodings: Vec<String>,
}

impl Value {
    pub(super) fn new(name: &str, value: &str) -> Value {
        let placeholder = format!("<{name}>");
        // In replay the system gets the placeholder instead of the value, and may put it into a URL.
        let mut encodings = of_placeholder(name).to_vec();
        if value.len() >= SHORTEST {
            let in_json = as_json(value);
            encodings.extend([
                value.to_owned(),
                as_json(&in_json),
                in_json,
                url_encoded(value),
                url_encoded(value).replace("%20", "+"),
                engine(false).encode(value).trim_end_matches('=').to_owned(),
                engine(true).encode(value).trim_end_matches('=').to_owned(),
            ]);
        }
        encodings.sort_by(|a, b| b.len().cmp(&a.len()).then_with(|| a.cmp(b)));
        encodings.dedup();
        Value { name: name.to_owned(), placeholder, encodings }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    pub(super) fn placeholder(&self) -> &str {
        &self.placeholder
    }

    pub(super) fn length(&self) -> usize {
        self.encodings.first().map_or(0, String::len)
    }

    /// Whether the value itself is in a text. A URL-encoded placeholder does not count.
    pub(super) fn is_in(&self, text: &str) -> bool {
        let has = |encoding: &String| memchr::memmem::find(text.as_bytes(), encoding.as_bytes()).is_some();
        let placeholders = of_placeholder(&self.name);
        self.encodings.iter().filter(|encoding| !placeholders.contains(encoding)).any(has)
    }

    /// Returns the ranges of a text that contain the value, sorted and without overlaps.
    pub(super) fn find(&self, text: &str) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for encoding in &self.encodings {
            for at in memchr::memmem::find_iter(text.as_bytes(), encoding.as_bytes()) {
                let range = at..at + encoding.len();
                if found.iter().all(|other| range.end <= other.start || other.end <= range.start) {
                    found.push(range);
                }
            }
        }
        found.sort_by_key(|range| range.start);
        found
    }
}

/// The URL encodings of a placeholder, with digits in upper and in lower case.
fn of_placeholder(name: &str) -> [String; 2] {
    [format!("%3C{}%3E", url_encoded(name)), format!("%3c{name}%3e")]
}

/// Returns a text as JSON writes it between quotes.
fn as_json(text: &str) -> String {
    let quoted = Json::from(text).print(Layout::Compact);
    quoted[1..quoted.len() - 1].to_owned()
}

fn url_encoded(text: &str) -> String {
    let encoded: String = url::form_urlencoded::byte_serialize(text.as_bytes()).collect();
    encoded.replace('+', "%20")
}

/// A decoded run of base64, and how it was encoded.
pub(super) struct Decoded {
    pub(super) bytes: Vec<u8>,
    url_safe: bool,
    padded: bool,
}

impl Decoded {
    /// Encodes other bytes in the same way.
    pub(super) fn encode(&self, bytes: &[u8]) -> String {
        let text = engine(self.url_safe).encode(bytes);
        if self.padded { text } else { text.trim_end_matches('=').to_owned() }
    }
}

/// Returns the runs of base64 in a text whose decoded bytes look like text.
pub(super) fn base64_runs(text: &str) -> impl Iterator<Item = (Range<usize>, Decoded)> + '_ {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() {
            if !in_alphabet(bytes[at]) {
                at += 1;
                continue;
            }
            // The `n` of an escape such as `\n` in a JSON string does not belong to the run after it.
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

/// Whether decoded bytes look like text. Images and other binary data are not searched.
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
