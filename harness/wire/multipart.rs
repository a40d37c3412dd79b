//! Reads multipart bodies, so that each field of an upload counts by itself. The bytes of a file that is no text count by their hash.

use memchr::memmem;

use retake_core::json::Json;
use retake_core::key::Hash;

/// The longest boundary (RFC 2046).
const BOUNDARY: usize = 70;

/// Returns the parts of a multipart body, each with its `name`, `filename` and `type`, and the text of its content as `value` or else the
/// hash of its bytes as `sha256`. Returns `None` if it is no such body.
pub(crate) fn parts(bytes: &[u8]) -> Option<Json> {
    let line = bytes.split(|byte| matches!(byte, b'\r' | b'\n')).next()?;
    if !line.starts_with(b"--") || !(3..=BOUNDARY + 2).contains(&line.len()) {
        return None;
    }
    let mut rest = bytes.get(line.len()..)?;
    let end = if rest.starts_with(b"\r\n") { &b"\r\n"[..] } else { b"\n" };
    let delimiter = [end, line].concat();
    let mut parts = Vec::new();
    // The delimiter after the last part goes on with two hyphens.
    while !rest.starts_with(b"--") {
        let begun = rest.strip_prefix(end)?;
        let length = memmem::find(begun, &delimiter)?;
        parts.push(part(&begun[..length], end)?);
        rest = &begun[length + delimiter.len()..];
    }
    Some(Json::Array(parts))
}

fn part(bytes: &[u8], end: &[u8]) -> Option<Json> {
    // A part without headers begins with the line between them and the content.
    let at = if bytes.starts_with(end) { 0 } else { memmem::find(bytes, &[end, end].concat())? + end.len() };
    let (head, content) = (String::from_utf8_lossy(&bytes[..at]), &bytes[at + end.len()..]);
    let header = |name: &str| {
        let mut headers = head.lines().filter_map(|line| line.split_once(':'));
        let found = headers.find(|(found, _)| found.trim().eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.trim().to_owned())
    };
    let disposition = header("content-disposition").unwrap_or_default();
    let kind = header("content-type").and_then(|value| Some(value.split(';').next()?.trim().to_ascii_lowercase()));
    let name = |name| parameter(&disposition, name);
    // What follows two quotes is encoded, as in `UTF-8''a%20b.png`.
    let encoded = || name("filename*").map(|it| it.rsplit('\'').next().unwrap_or_default().to_owned());
    let within = kind.as_ref().filter(|kind| kind.starts_with("multipart/")).and_then(|_| parts(content));
    let content = match (within, std::str::from_utf8(content)) {
        (Some(parts), _) => ("multipart", parts),
        (None, Ok(text)) => ("value", text.into()),
        (None, Err(_)) => ("sha256", Hash::of(content).to_string().as_str().into()),
    };
    let named = [("name", name("name")), ("filename", name("filename").or_else(encoded)), ("type", kind)];
    let named = named.into_iter().filter_map(|(key, value)| Some((key, Json::Str(value?))));
    Some(Json::object(named.chain([content])))
}

/// Returns a parameter of a header: `name` of `form-data; name="image"; filename="a.png"`.
fn parameter(header: &str, wanted: &str) -> Option<String> {
    let mut rest = header.split_once(';')?.1;
    loop {
        let (name, value) = rest.split_once('=')?;
        let mut text = String::new();
        let mut chars = value.trim_start().chars();
        if chars.as_str().starts_with('"') {
            chars.next();
            while let Some(next) = chars.next().filter(|next| *next != '"') {
                let escaped = next == '\\' && chars.as_str().starts_with(['"', '\\']);
                text.push(if escaped { chars.next()? } else { next });
            }
        } else {
            chars.as_str().split(';').next()?.trim().clone_into(&mut text);
        }
        if name.trim().eq_ignore_ascii_case(wanted) {
            return Some(text);
        }
        rest = chars.as_str().split_once(';')?.1;
    }
}

#[cfg(test)]
mod tests;
