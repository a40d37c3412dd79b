//! Python's `str()` of a part of a JSON text, with the keys of objects in the order in which they are written. A [`Json`] value
//! sorts them.

use super::parser::{Parsed, Parser};
use super::parts::Step;
use super::printer::{python_repr, python_repr_string};

/// Returns Python's `str()` of what its `json.loads` reads at a path of a JSON text; `None` if there is nothing. A string is
/// in quotes, as it is inside a list.
pub(crate) fn python_repr_at(text: &[u8], path: &[Step<'_>]) -> Option<String> {
    let mut parser = Parser::lossy(std::str::from_utf8(text).ok()?);
    for step in path {
        parser.go_to(step).ok()??;
    }
    repr(&mut parser).ok()
}

fn repr(parser: &mut Parser<'_>) -> Parsed<String> {
    parser.skip_space();
    match parser.peek() {
        Some(b'[') => {
            parser.at += 1;
            Ok(format!("[{}]", parser.items(repr)?.join(", ")))
        }
        Some(b'{') => {
            let mut entries: Vec<(String, String)> = Vec::new();
            parser.entries(0, |parser, key| {
                let value = repr(parser)?;
                // A repeated key keeps its place and gets the last value.
                match entries.iter_mut().find(|(known, _)| known == key) {
                    Some((_, earlier)) => *earlier = value,
                    None => entries.push((key.to_owned(), value)),
                }
                Ok(None)
            })?;
            let entry = |(key, value): &(String, String)| {
                let mut out = String::new();
                python_repr_string(key, &mut out);
                out + ": " + value
            };
            Ok(format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", ")))
        }
        _ => {
            let mut out = String::new();
            python_repr(&parser.value(0)?, &mut out);
            Ok(out)
        }
    }
}

#[cfg(test)]
mod tests;
