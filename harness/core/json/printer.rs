//! The JSON printer: its layouts, Python's `str()` and `repr()`, and Python's floats.

use std::fmt::Write as _;

use super::parser::{has_control, has_control_but_newline};
use super::value::Json;

/// The layout of printed JSON. Every layout sorts the keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// `{"a": 1, "b": [1, 2]}`: what Python's `json.dumps` prints. Hashes are computed from this layout.
    Python,
    /// `{"a":1,"b":[1,2]}`: for HTTP bodies and for JSON lines.
    Compact,
    /// An indent of two spaces and one entry on each line: for files that people review.
    Pretty,
}

impl Json {
    pub fn print(&self, layout: Layout) -> String {
        let mut out = String::new();
        self.print_to(&mut out, layout);
        out
    }

    /// Appends the printed value to a buffer.
    pub fn print_to(&self, out: &mut String, layout: Layout) {
        print_value(self, out, layout, 0);
    }

    /// Returns Python's `str()` of the value, which is the text of message content that is neither a string nor a list.
    pub fn python_str(&self) -> String {
        if let Json::Str(s) = self {
            return s.clone();
        }
        let mut out = String::new();
        python_repr(self, &mut out);
        out
    }
}

/// Appends a string with its quotes, escaped as `json.dumps(…, ensure_ascii=False)` does.
pub(super) fn print_string(s: &str, out: &mut String) {
    out.push('"');
    // Most texts have no other control character, so one search covers all runs.
    let others = has_control_but_newline(s.as_bytes());
    let mut at = 0;
    for i in memchr::memchr3_iter(b'"', b'\\', b'\n', s.as_bytes()) {
        print_run(&s[at..i], out, others);
        out.push_str(match s.as_bytes()[i] {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            _ => "\\n",
        });
        at = i + 1;
    }
    print_run(&s[at..], out, others);
    out.push('"');
}

/// Appends a part of a string without quotes, backslashes and line feeds. `controls` says whether the string has other
/// control characters.
fn print_run(run: &str, out: &mut String, controls: bool) {
    if !controls || !has_control(run.as_bytes()) {
        return out.push_str(run);
    }
    let mut plain = 0;
    for (i, b) in run.bytes().enumerate().filter(|(_, b)| *b < 0x20) {
        out.push_str(&run[plain..i]);
        plain = i + 1;
        let _ = match b {
            b'\r' => out.write_str("\\r"),
            b'\t' => out.write_str("\\t"),
            0x08 => out.write_str("\\b"),
            0x0c => out.write_str("\\f"),
            _ => write!(out, "\\u{b:04x}"),
        };
    }
    out.push_str(&run[plain..]);
}

pub(super) fn print_value(value: &Json, out: &mut String, layout: Layout, depth: usize) {
    match value {
        Json::Null => out.push_str("null"),
        Json::Bool(b) => out.push_str(if *b { "true" } else { "false" }),
        Json::Int(i) => drop(write!(out, "{i}")),
        Json::BigInt(digits) => out.push_str(digits),
        Json::Float(f) => print_float(*f, out, ["NaN", "Infinity", "-Infinity"]),
        Json::Str(s) => print_string(s, out),
        Json::Array(a) => print_list(out, layout, depth, ('[', ']'), a.iter(), |item, out| {
            print_value(item, out, layout, depth + 1);
        }),
        Json::Object(o) => print_list(out, layout, depth, ('{', '}'), o.iter(), |(key, item), out| {
            print_string(key, out);
            out.push_str(if layout == Layout::Compact { ":" } else { ": " });
            print_value(item, out, layout, depth + 1);
        }),
    }
}

pub(super) fn print_list<T>(
    out: &mut String,
    layout: Layout,
    depth: usize,
    brackets: (char, char),
    items: impl ExactSizeIterator<Item = T>,
    mut print: impl FnMut(T, &mut String),
) {
    out.push(brackets.0);
    let filled = items.len() > 0;
    for (i, item) in items.enumerate() {
        if i > 0 {
            out.push_str(if layout == Layout::Python { ", " } else { "," });
        }
        if layout == Layout::Pretty {
            newline(out, depth + 1);
        }
        print(item, out);
    }
    if filled && layout == Layout::Pretty {
        newline(out, depth);
    }
    out.push(brackets.1);
}

/// Begins a line that is indented by two spaces for each level of `depth`.
pub(super) fn newline(out: &mut String, depth: usize) {
    out.push('\n');
    out.extend(std::iter::repeat_n("  ", depth));
}

/// Appends Python's `repr` of a float: the fewest digits that parse back to the same float, with an exponent below `1e-4` and
/// from `1e16` on. Of two that are equally near, Python takes the one with the even digit, and Rust the greater.
fn print_float(f: f64, out: &mut String, [nan, inf, neg_inf]: [&str; 3]) {
    if f.is_nan() {
        return out.push_str(nan);
    }
    if f.is_infinite() {
        return out.push_str(if f > 0.0 { inf } else { neg_inf });
    }
    let mut scientific = format!("{f:e}");
    let decimals = scientific.split(['.', 'e']).nth(1).map_or(0, str::len);
    // With fewer digits, no two such numbers are the same float.
    let even = (decimals >= 15).then(|| format!("{f:.decimals$e}")).filter(|even| even.parse() == Ok(f));
    let is_even = even.is_some();
    scientific = even.unwrap_or(scientific);
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: isize = exponent.parse().unwrap_or(0);
    let _ = if (-4..16).contains(&exponent) {
        let plain = if is_even { format!("{f:.*}", decimals.saturating_add_signed(-exponent)) } else { format!("{f}") };
        write!(out, "{plain}{}", if plain.contains('.') { "" } else { ".0" })
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        write!(out, "{digits}e{sign}{:02}", exponent.unsigned_abs())
    };
}

/// Appends Python's `repr` of a value.
pub(super) fn python_repr(value: &Json, out: &mut String) {
    match value {
        Json::Null => out.push_str("None"),
        Json::Bool(b) => out.push_str(if *b { "True" } else { "False" }),
        Json::Int(_) | Json::BigInt(_) => print_value(value, out, Layout::Python, 0),
        Json::Float(f) => print_float(*f, out, ["nan", "inf", "-inf"]),
        Json::Str(s) => python_repr_string(s, out),
        Json::Array(a) => print_list(out, Layout::Python, 0, ('[', ']'), a.iter(), python_repr),
        Json::Object(o) => print_list(out, Layout::Python, 0, ('{', '}'), o.iter(), |(key, item), out| {
            python_repr_string(key, out);
            out.push_str(": ");
            python_repr(item, out);
        }),
    }
}

pub(super) fn python_repr_string(s: &str, out: &mut String) {
    let quote = if s.contains('\'') && !s.contains('"') { '"' } else { '\'' };
    out.push(quote);
    for c in s.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            _ if c == quote => {
                out.push('\\');
                out.push(c);
            }
            // Python's `str.isprintable`. Rust's `escape_debug` escapes the same Unicode categories, and also a combining mark at the beginning of a
            // text, so the character is tested in second place.
            _ if "'\"".contains(c) || format!("a{c}").escape_debug().nth(1).is_none_or(|first| first != '\\') => {
                out.push(c);
            }
            _ => drop(match u32::from(c) {
                code @ 0..=0xff => write!(out, "\\x{code:02x}"),
                code @ 0x100..=0xffff => write!(out, "\\u{code:04x}"),
                code => write!(out, "\\U{code:08x}"),
            }),
        }
    }
    out.push(quote);
}
