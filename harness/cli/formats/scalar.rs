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

/// Compiles a pattern of this file. All of them are constant and valid.
fn pattern(pattern: &str) -> Option<Regex> {
    Regex::new(pattern).ok()
}

fn integer(text: &str) -> Option<Json> {
    static INTEGER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(r"^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]+|(?:0|[1-9][0-9_]*)|[1-9][0-9_]*(?::[0-5]?[0-9])+)$")
    });
    if !INTEGER.as_ref()?.is_match(text) {
        return None;
    }
    let (sign, digits) = signed(text);
    let digits = digits.replace('_', "");
    let with_radix =
        |digits: &str, radix| Some(Json::Int(i64::from_str_radix(&format!("{sign}{digits}"), radix).ok()?));
    if let Some(digits) = digits.strip_prefix("0b") {
        with_radix(digits, 2)
    } else if let Some(digits) = digits.strip_prefix("0x") {
        with_radix(digits, 16)
    } else if digits.len() > 1 && digits.starts_with('0') {
        with_radix(&digits, 8)
    } else if digits.contains(':') {
        let places = digits
            .split(':')
            .try_fold(0_i64, |all, place| all.checked_mul(60)?.checked_add(place.parse::<i64>().ok()?))?;
        Some(Json::Int(if sign == "-" { -places } else { places }))
    } else {
        // JSON's parser accepts integers of any size.
        Json::parse(format!("{sign}{digits}").as_bytes()).ok()
    }
}

fn float(text: &str) -> Option<Json> {
    static FLOAT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        pattern(
            r"^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*)$",
        )
    });
    let (sign, digits) = signed(text);
    match digits {
        ".inf" | ".Inf" | ".INF" => {
            return Some(Json::Float(if sign == "-" { f64::NEG_INFINITY } else { f64::INFINITY }));
        }
        ".nan" | ".NaN" | ".NAN" => return Some(Json::Float(f64::NAN)),
        _ => {}
    }
    if !FLOAT.as_ref()?.is_match(text) {
        return None;
    }
    let digits = digits.replace('_', "");
    let value = digits.split(':').try_fold(0.0, |all, place| Some(all * 60.0 + place.parse::<f64>().ok()?))?;
    Some(Json::Float(if sign == "-" { -value } else { value }))
}

/// Splits a number into its sign, as Rust's number parsers accept it, and the rest.
fn signed(text: &str) -> (&'static str, &str) {
    match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    }
}

#[cfg(test)]
mod tests;
