//! What a JSON text has in the order in which it is written: its values, and Python's `str()` of a part. A [`Json`] value sorts the
//! keys of objects.

use super::parser::{Parsed, Parser};
use super::parts::Step;
use super::printer::{python_repr, python_repr_string};
use super::value::Json;

/// Returns Python's `str()` of what its `json.loads` reads at a path of a JSON text; `None` if there is nothing. A string is
/// in quotes, as it is inside a list.
pub(crate) fn python_repr_at(text: &[u8], path: &[Step<'_>]) -> Option<String> {
    let mut parser = Parser::lossy(std::str::from_utf8(text).ok()?);
    for step in path {
        parser.go_to(step).ok()??;
    }
    repr(&mut parser).ok()
}

/// Calls `found` with each value of a JSON text and its pointer, an object or a list (as `None`) before what is in it. What follows
/// something that is not JSON is left out.
pub fn each_value(text: &[u8], found: &mut dyn FnMut(&str, Option<&Json>)) {
    if let Ok(text) = std::str::from_utf8(text) {
        let _ = each_below(&mut Parser::lossy(text), "", 0, found);
    }
}

fn each_below(
    parser: &mut Parser<'_>,
    pointer: &str,
    depth: usize,
    found: &mut dyn FnMut(&str, Option<&Json>),
) -> Parsed<()> {
    parser.skip_space();
    match parser.peek() {
        Some(b'[') => {
            found(pointer, None);
            parser.deeper(depth)?;
            let mut at = 0..;
            parser.items(|parser| {
                let index = at.next().unwrap_or(0);
                each_below(parser, &format!("{pointer}/{index}"), depth + 1, found)
            })
        }
        Some(b'{') => {
            found(pointer, None);
            parser.entries(depth, |parser, key| {
                let key = key.replace('~', "~0").replace('/', "~1");
                each_below(parser, &format!("{pointer}/{key}"), depth + 1, found).map(|()| None)
            })?;
            Ok(())
        }
        _ => {
            found(pointer, Some(&parser.value(depth)?));
            Ok(())
        }
    }
}

fn repr(parser: &mut Parser<'_>) -> Parsed<String> {
    parser.skip_space();
    match parser.peek() {
        Some(b'[') => {
            let mut items = Vec::new();
            parser.at += 1;
            parser.items(|parser| {
                items.push(repr(parser)?);
                Ok(())
            })?;
            Ok(format!("[{}]", items.join(", ")))
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
