//! Numbers that Python's JSON has, and JSON has not.

use super::value::Json;

/// Returns the place of the first number in an object or a list that clients cannot read or read as infinite, and what it is.
/// `None` also if the text is something else than an object or a list: prose may be the word `Infinity`.
pub fn unreadable_number(text: &str) -> Option<(String, &'static str)> {
    // Few texts are parsed.
    let word = ["NaN", "Infinity"].iter().any(|word| text.contains(word));
    if !word && !has_large_exponent(text.as_bytes()) {
        return None;
    }
    let json = Json::parse(text.as_bytes()).ok()?;
    let (place, number) = matches!(json, Json::Object(_) | Json::Array(_)).then(|| infinite(&json))??;
    let what = match number {
        _ if number.is_nan() => "NaN",
        _ if !word => "a number that is too large",
        _ if number > 0.0 => "Infinity",
        _ => "-Infinity",
    };
    Some((place, what))
}

/// Whether a number in a JSON text may be too large. Most letters are in words, and most digits around one in ids.
fn has_large_exponent(text: &[u8]) -> bool {
    memchr::memchr2_iter(b'e', b'E', text).filter(|at| *at > 0 && text[at - 1].is_ascii_digit()).any(|at| {
        let digits = text[at + 1..].strip_prefix(b"+").unwrap_or(&text[at + 1..]);
        let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
        count >= 3 && digits.get(count).is_none_or(|next| b",]} \t\r\n".contains(next))
    })
}

fn infinite(value: &Json) -> Option<(String, f64)> {
    let below = |token: &str, value| infinite(value).map(|(place, number)| (format!("/{token}{place}"), number));
    match value {
        Json::Float(number) if !number.is_finite() => Some((String::new(), *number)),
        Json::Array(items) => items.iter().enumerate().find_map(|(at, item)| below(&at.to_string(), item)),
        Json::Object(all) => all.iter().find_map(|(key, it)| below(&key.replace('~', "~0").replace('/', "~1"), it)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
