//! Content whose text depends on the order in which keys are written: Python's `str()` of an object is part of the key (KEY.md,
//! section 2), and a JSON value no longer has that order.

use crate::json::{Json, Step, python_repr_at};

/// Replaces the content of a call's messages that is printed with Python's `str()` by that text, as `text` has it, from which
/// the call was read. The key is the same as that of the content itself. `within` is the path from a message to the object that
/// holds its content; there, the content may also be an object.
pub fn keep_order(call: &mut Json, text: &[u8], within: &[&str]) {
    let messages = call.as_object_mut().and_then(|call| call.get_mut("messages"));
    let Some(Json::Array(messages)) = messages else { return };
    for (index, message) in messages.iter_mut().enumerate() {
        keep_order_of(message, text, vec![Step::Key("messages"), Step::Index(index)], within);
    }
}

/// The same for one message of a call, which was read from the text of this message alone.
pub fn keep_order_of_message(message: &mut Json, text: &str) {
    keep_order_of(message, text.as_bytes(), Vec::new(), &[]);
}

fn keep_order_of<'a>(message: &mut Json, text: &[u8], mut path: Vec<Step<'a>>, within: &[&'a str]) {
    let mut holder = Some(message);
    for key in within {
        path.push(Step::Key(key));
        holder = holder.and_then(Json::as_object_mut).and_then(|object| object.get_mut(*key));
    }
    path.push(Step::Key("content"));
    let content = holder.and_then(Json::as_object_mut).and_then(|object| object.get_mut("content"));
    let Some(content) = content else { return };
    match content {
        Json::Array(blocks) => {
            for (at, block) in blocks.iter_mut().enumerate().filter(|(_, block)| block.as_array().is_some()) {
                let path: Vec<Step<'_>> = path.iter().copied().chain([Step::Index(at)]).collect();
                if let Some(text) = python_repr_at(text, &path) {
                    *block = Json::Str(text);
                }
            }
        }
        Json::Object(_) if !within.is_empty() => {
            if let Some(text) = python_repr_at(text, &path) {
                *content = Json::Str(text);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
