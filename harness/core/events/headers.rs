//! The headers of a response that a golden holds: their names, the attributes in them, and what their values look like. The
//! values themselves are often secrets, or differ from run to run.

use super::golden::Header;
use super::ids::is_id;
use super::notation::{self, Normalize};

/// The header of which each occurrence is a value of its own, with commas in its dates.
const COOKIE: &str = "set-cookie";
/// The headers whose attributes are worth holding in most services.
pub const USUAL: [&str; 2] = [COOKIE, "cache-control"];

/// Returns a line for each value of the headers that services set for browsers.
pub fn shown(headers: &[(String, String)], normalize: &Normalize<'_>) -> Vec<String> {
    held(headers, &USUAL.map(str::to_owned), normalize).iter().map(ToString::to_string).collect()
}

/// Returns each value of the headers with these names, sorted within each name.
pub(super) fn held(headers: &[(String, String)], names: &[String], normalize: &Normalize<'_>) -> Vec<Header> {
    let mut held = Vec::new();
    for name in names {
        let values =
            headers.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str());
        let mut shown: Vec<String> = if name == COOKIE {
            values.map(|value| cookie(value, normalize)).collect()
        } else {
            let all: Vec<&str> = values.collect();
            if all.is_empty() { Vec::new() } else { vec![directives(&all.join(", "), normalize)] }
        };
        shown.sort_unstable();
        let header =
            |value: String| Header { name: name.clone(), value: notation::unseen_escaped(&value).into_owned() };
        held.extend(shown.into_iter().map(header));
    }
    held
}

/// Returns a cookie with the shape of its value, and its attributes in alphabetical order.
fn cookie(value: &str, normalize: &Normalize<'_>) -> String {
    let mut parts = value.split(';').map(str::trim);
    let (name, value) = parts.next().and_then(|first| first.split_once('=')).unwrap_or_default();
    let value = match shape(value, normalize) {
        Shape::Word(_) | Shape::Number(_) => "string".to_owned(),
        shape => shape.text(),
    };
    let attribute = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = name.trim().to_ascii_lowercase();
        match (name.as_str(), value.trim()) {
            // A cookie is deleted by a time in the past.
            ("max-age", "0") => "max-age=0".to_owned(),
            ("expires", past) if past.contains("1970") => "expires=1970".to_owned(),
            ("max-age" | "expires", _) | (_, "") => name,
            (_, value) => format!("{name}={}", normalize(value)),
        }
    };
    let mut attributes: Vec<String> = parts.filter(|part| !part.is_empty()).map(attribute).collect();
    attributes.sort_unstable();
    std::iter::once(format!("{}={value}", normalize(name))).chain(attributes).collect::<Vec<_>>().join("; ")
}

/// Returns a list of directives, such as `max-age=number, no-store`, in alphabetical order.
fn directives(value: &str, normalize: &Normalize<'_>) -> String {
    // A date contains a comma.
    if value.ends_with(" GMT") {
        return "time".to_owned();
    }
    let directive = |part: &str| match part.split_once('=') {
        Some((name, value)) => format!("{}={}", name.to_ascii_lowercase(), shape(value, normalize).text()),
        None => shape(part, normalize).text(),
    };
    let mut all: Vec<String> = value.split([',', ';']).map(str::trim).map(directive).collect();
    all.sort_unstable();
    all.join(", ")
}

/// What a value looks like.
enum Shape {
    Empty,
    Id,
    /// The name of a value of the run: `<thread>`.
    Named(String),
    /// A word of the service, which is the same in each run.
    Word(String),
    /// A number; whether it is 0 often matters, as in `max-age=0`.
    Number(bool),
    Other,
}

impl Shape {
    fn text(self) -> String {
        match self {
            Shape::Empty => "\"\"".to_owned(),
            Shape::Id => "id".to_owned(),
            Shape::Named(text) | Shape::Word(text) => text,
            Shape::Number(is_zero) => if is_zero { "0" } else { "number" }.to_owned(),
            Shape::Other => "string".to_owned(),
        }
    }
}

fn shape(value: &str, normalize: &Normalize<'_>) -> Shape {
    let value = value.trim().trim_matches('"');
    let normal = normalize(value);
    let name =
        normal.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).filter(|name| !name.contains(['<', '>']));
    match name {
        _ if value.is_empty() => Shape::Empty,
        Some("UUID") => Shape::Id,
        Some(_) => Shape::Named(normal),
        None if value.bytes().all(|c| c.is_ascii_digit()) => Shape::Number(value.bytes().all(|c| c == b'0')),
        None if is_id(value) => Shape::Id,
        None if value.bytes().all(|c| c.is_ascii_alphabetic() || b"-_/*+.: ".contains(&c)) => Shape::Word(normal),
        None => Shape::Other,
    }
}

#[cfg(test)]
mod tests;
