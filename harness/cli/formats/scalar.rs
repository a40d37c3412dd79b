//! Resolves scalars by the rules of YAML 1.1. PyYAML leaves out quotes by these rules, so its files have to be read by them.

use std::sync::LazyLock;

use regex::Regex;

use retake_core::json::Json;

/// Returns the value of a plain scalar. Dates stay text, since JSON has no dates.
pub(super) fn resolved(text: &str) -> Json {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Json::Null,
        "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => return Json::Bool(true),
        "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => return Json::Bool(false),
        _ => {}
    }
    // Most scalars are words, and are not tested any further.
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return text.into();
    }
    integer(text).or_else(|| float(text)).unwrap_or_else(|| text.into())
}

fn integer(text: &str) -> Option<Json> {
    static INTEGER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]+|(?:0|[1-9][0-9_]*)|[1-9][0-9_]*(?::[0-5]?[0-9])+)$")
            .ok()
    });
    let (sign, digits) = INTEGER.as_ref()?.is_match(text).then(|| signed(text))?;
    let with_radix = |digits: &str, radix| i64::from_str_radix(&format!("{sign}{digits}"), radix).ok().map(Json::Int);
    match digits.as_bytes() {
        [b'0', b'b', ..] => with_radix(&digits[2..], 2),
        [b'0', b'x', ..] => with_radix(&digits[2..], 16),
        [b'0', _, ..] => with_radix(&digits, 8),
        _ if digits.contains(':') => {
            let places = digits
                .split(':')
                .try_fold(0_i64, |all, place| all.checked_mul(60)?.checked_add(place.parse::<i64>().ok()?))?;
            Some(Json::Int(if sign == "-" { -places } else { places }))
        }
        // JSON's parser accepts integers of any size.
        _ => Json::parse(format!("{sign}{digits}").as_bytes()).ok(),
    }
}

fn float(text: &str) -> Option<Json> {
    static FLOAT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)$",
        )
        .ok()
    });
    let (sign, digits) = signed(text);
    let value = match &*digits {
        ".inf" | ".Inf" | ".INF" => f64::INFINITY,
        ".nan" | ".NaN" | ".NAN" => f64::NAN,
        _ if !FLOAT.as_ref()?.is_match(text) => return None,
        _ => digits.split(':').try_fold(0.0, |all, place| Some(all * 60.0 + place.parse::<f64>().ok()?))?,
    };
    Some(Json::Float(if sign == "-" { -value } else { value }))
}

/// Splits a number into its sign, as Rust's number parsers accept it, and its digits.
fn signed(text: &str) -> (&'static str, String) {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    (sign, digits.replace('_', ""))
}

#[cfg(test)]
mod tests;
