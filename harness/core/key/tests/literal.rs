//! A literal and slow implementation of KEY.md, sections 1 to 3, with its own JSON and one regular expression after the other.
//! Tests and fuzzing compare the key with it, so it shares no code with the library.

#![allow(clippy::format_collect, reason = "this code is meant to be simple, not fast")]

use std::collections::BTreeMap;
use std::iter::Peekable;
use std::str::Chars;
use std::sync::LazyLock;

use regex::{NoExpand, Regex};
use sha2::{Digest, Sha256};

/// The patterns of section 1, with Python's classes spelled out.
static PATTERNS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    let rules = [
        (r"(?s)<system-reminder>.*?</system-reminder>", ""),
        (r"(?m)^(User|Assistant):[\s\x1c-\x1f]*$\n?", ""),
        (r"--- BEGIN USER INPUT ---\n?", ""),
        (r"\n?--- END USER INPUT ---", ""),
        (r"[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}", "<UUID>"),
        (r"\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?", "<TS>"),
        (r"\d{4}-\d{2}-\d{2}", "<DATE>"),
        (r#"(?:/private)?/(?:var/folders|tmp)/[^\s\x1c-\x1f"']*"#, "<PATH>"),
    ];
    rules.map(|(pattern, word)| (Regex::new(pattern).unwrap(), word)).into()
});

/// Normalizes a text (section 1).
pub(crate) fn normalize(text: &str) -> String {
    PATTERNS
        .iter()
        .fold(text.to_owned(), |text, (pattern, word)| pattern.replace_all(&text, NoExpand(word)).into_owned())
}

/// Returns the text that is hashed for a conversation (section 2), from messages in LangChain's form; `None` if they are not
/// in that form, or contain a list or an object that Python would print with `repr`.
pub(crate) fn canonical(messages: &str) -> Option<String> {
    let Value::List(messages) = parse(messages)? else { return None };
    let mut entries = Vec::new();
    for message in messages {
        let Value::Dict(message) = message else { return None };
        let (Value::Str(kind), Value::Dict(data)) = (message.get("type")?, message.get("data")?) else { return None };
        let hidden = match data.get("additional_kwargs") {
            Some(Value::Dict(kwargs)) => kwargs.get("hide_from_ui").is_some_and(truthy),
            _ => false,
        };
        let content = normalize(&content_text(data.get("content")?)?);
        let mut calls = Vec::new();
        if let Some(Value::List(list)) = data.get("tool_calls") {
            for call in list {
                let Value::Dict(call) = call else { return None };
                let args = call.get("args").cloned().unwrap_or(Value::Null);
                calls.push(dict([("name", call.get("name")?.clone()), ("args", args)]));
            }
        }
        if kind == "system" || hidden || (content.trim_matches(is_space).is_empty() && calls.is_empty()) {
            continue;
        }
        let mut entry = vec![("type", Value::Str(kind.clone())), ("content", Value::Str(content))];
        if !calls.is_empty() {
            entry.push(("tool_calls", Value::List(calls)));
        }
        if let Some(Value::Str(name)) = data.get("name")
            && !name.is_empty()
        {
            entry.push(("name", Value::Str(name.clone())));
        }
        entries.push(dict(entry));
    }
    Some(normalize(&dumps(&Value::List(entries))))
}

/// Returns `conversation_hash` and `input_hash`.
pub(crate) fn key(messages: &str, caller: Option<&str>) -> Option<[String; 2]> {
    let conversation = sha256(&canonical(messages)?);
    let caller = normalize(caller.unwrap_or_default().trim_matches(is_space));
    let caller = match caller.as_str() {
        "" => "lead_agent".to_owned(),
        "title_agent" => "middleware:title".to_owned(),
        _ => caller,
    };
    let input = dict([("caller", Value::Str(caller)), ("conversation_hash", Value::Str(conversation.clone()))]);
    Some([conversation, sha256(&dumps(&input))])
}

fn content_text(content: &Value) -> Option<String> {
    let Value::List(blocks) = content else { return str_of(content) };
    let mut text = String::new();
    for block in blocks {
        text += &match block {
            Value::Dict(fields) => match fields.get("text") {
                Some(Value::Str(text)) if !text.is_empty() => text.clone(),
                _ => dumps(block),
            },
            other => str_of(other)?,
        };
    }
    Some(text)
}

/// Python's `str()`, except for lists and objects.
fn str_of(value: &Value) -> Option<String> {
    Some(match value {
        Value::Str(text) => text.clone(),
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Int(digits) => digits.clone(),
        Value::Float(f) => repr(*f).replace("Infinity", "inf").replace("NaN", "nan"),
        Value::List(_) | Value::Dict(_) => return None,
    })
}

fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

fn truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(b) => *b,
        Value::Int(digits) => digits != "0",
        Value::Float(f) => *f != 0.0,
        Value::Str(text) => !text.is_empty(),
        Value::List(list) => !list.is_empty(),
        Value::Dict(dict) => !dict.is_empty(),
    }
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A value as Python's `json.loads` returns it.
#[derive(Clone)]
enum Value {
    Null,
    Bool(bool),
    Int(String),
    Float(f64),
    Str(String),
    List(Vec<Value>),
    Dict(BTreeMap<String, Value>),
}

fn dict(entries: impl IntoIterator<Item = (&'static str, Value)>) -> Value {
    Value::Dict(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

/// `json.dumps(value, sort_keys=True, ensure_ascii=False)`.
fn dumps(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(b) => b.to_string(),
        Value::Int(digits) => digits.clone(),
        Value::Float(f) => repr(*f),
        Value::Str(text) => quoted(text),
        Value::List(list) => format!("[{}]", list.iter().map(dumps).collect::<Vec<_>>().join(", ")),
        Value::Dict(dict) => {
            let entry = |(key, value): (&String, &Value)| format!("{}: {}", quoted(key), dumps(value));
            format!("{{{}}}", dict.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

fn quoted(text: &str) -> String {
    let escaped = text.chars().map(|c| match c {
        '"' => "\\\"".to_owned(),
        '\\' => "\\\\".to_owned(),
        '\n' => "\\n".to_owned(),
        '\r' => "\\r".to_owned(),
        '\t' => "\\t".to_owned(),
        '\u{8}' => "\\b".to_owned(),
        '\u{c}' => "\\f".to_owned(),
        '\0'..='\u{1f}' => format!("\\u{:04x}", u32::from(c)),
        c => c.to_string(),
    });
    format!("\"{}\"", escaped.collect::<String>())
}

/// Python's `repr` of a float: the fewest digits that parse back to the same float, which Rust prints too, in Python's layout.
fn repr(f: f64) -> String {
    if f.is_nan() {
        return "NaN".to_owned();
    }
    if f.is_infinite() {
        return if f > 0.0 { "Infinity" } else { "-Infinity" }.to_owned();
    }
    let scientific = format!("{f:e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let (sign, mantissa) = mantissa.strip_prefix('-').map_or(("", mantissa), |rest| ("-", rest));
    let digits = mantissa.replace('.', "");
    if !(-4..16).contains(&exponent) {
        let fraction = if digits.len() > 1 { format!(".{}", &digits[1..]) } else { String::new() };
        let direction = if exponent < 0 { '-' } else { '+' };
        return format!("{sign}{}{fraction}e{direction}{:02}", &digits[..1], exponent.abs());
    }
    let zeros = |n: i32| "0".repeat(usize::try_from(n).unwrap_or(0));
    if exponent < 0 {
        return format!("{sign}0.{}{digits}", zeros(-exponent - 1));
    }
    let whole = usize::try_from(exponent).unwrap() + 1;
    let missing = zeros(exponent + 1 - i32::try_from(digits.len()).unwrap());
    let digits = digits + &missing;
    let fraction = &digits[whole..];
    format!("{sign}{}.{}", &digits[..whole], if fraction.is_empty() { "0" } else { fraction })
}

/// `json.loads`, for a text that is known to be JSON.
fn parse(text: &str) -> Option<Value> {
    let mut chars = text.chars().peekable();
    let value = parse_value(&mut chars)?;
    skip_space(&mut chars);
    chars.next().is_none().then_some(value)
}

fn skip_space(chars: &mut Peekable<Chars<'_>>) {
    while chars.next_if(|c| " \t\r\n".contains(*c)).is_some() {}
}

fn parse_value(chars: &mut Peekable<Chars<'_>>) -> Option<Value> {
    skip_space(chars);
    match chars.peek()? {
        '"' => parse_string(chars).map(Value::Str),
        '[' => {
            let mut list = Vec::new();
            chars.next();
            skip_space(chars);
            if chars.next_if_eq(&']').is_some() {
                return Some(Value::List(list));
            }
            loop {
                list.push(parse_value(chars)?);
                skip_space(chars);
                match chars.next()? {
                    ',' => {}
                    ']' => return Some(Value::List(list)),
                    _ => return None,
                }
            }
        }
        '{' => {
            let mut dict = BTreeMap::new();
            chars.next();
            skip_space(chars);
            if chars.next_if_eq(&'}').is_some() {
                return Some(Value::Dict(dict));
            }
            loop {
                skip_space(chars);
                let key = parse_string(chars)?;
                skip_space(chars);
                chars.next_if_eq(&':')?;
                dict.insert(key, parse_value(chars)?);
                skip_space(chars);
                match chars.next()? {
                    ',' => {}
                    '}' => return Some(Value::Dict(dict)),
                    _ => return None,
                }
            }
        }
        _ => {
            let mut word = String::new();
            while let Some(c) = chars.next_if(|c| c.is_ascii_alphanumeric() || "+-.".contains(*c)) {
                word.push(c);
            }
            Some(match word.as_str() {
                "null" => Value::Null,
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                "NaN" => Value::Float(f64::NAN),
                "Infinity" => Value::Float(f64::INFINITY),
                "-Infinity" => Value::Float(f64::NEG_INFINITY),
                "-0" => Value::Int("0".to_owned()),
                number if number.contains(['.', 'e', 'E']) => Value::Float(number.parse().ok()?),
                digits => Value::Int(digits.to_owned()),
            })
        }
    }
}

fn parse_string(chars: &mut Peekable<Chars<'_>>) -> Option<String> {
    chars.next_if_eq(&'"')?;
    let mut units = Vec::new();
    loop {
        let c = match chars.next()? {
            '"' => return String::from_utf16(&units).ok(),
            '\\' => match chars.next()? {
                'b' => '\u{8}',
                'f' => '\u{c}',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => {
                    let digits: String = chars.by_ref().take(4).collect();
                    units.push(u16::from_str_radix(&digits, 16).ok()?);
                    continue;
                }
                other => other,
            },
            c => c,
        };
        units.extend(c.encode_utf16(&mut [0; 2]).iter());
    }
}
