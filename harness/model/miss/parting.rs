//! Where two conversations part: which message, which field, which words.

use super::messages::describe;
use super::words::diff;
use crate::json::{Json, Layout};
use crate::text::around;

/// Where two conversations part: which message, which field, which words.
pub(super) fn parting(recorded: &[Json], called: &[Json]) -> Vec<String> {
    let at = recorded.iter().zip(called).take_while(|(a, b)| a == b).count();
    let place = |messages: &[Json]| format!("message {} of {}", at + 1, messages.len());
    match (recorded.get(at), called.get(at)) {
        (Some(a), Some(b)) => {
            let (field, a, b) = first_difference(a, b, String::new());
            let message = describe(&called[at]);
            let mut lines = vec![format!("they part  at {} ({message}), in `{field}`:", place(called))];
            lines.extend(diff(&text_of(a), &text_of(b)));
            lines
        }
        (Some(a), None) => vec![
            format!("they part  the call ends where the recorded conversation goes on, at {}:", place(recorded)),
            format!("  - {}", around(&describe_whole(a), 0)),
        ],
        (None, Some(b)) => vec![
            format!("they part  the call goes on where the recorded conversation ends, at {}:", place(called)),
            format!("  + {}", around(&describe_whole(b), 0)),
        ],
        (None, None) => vec!["they part  nowhere: the conversations are equal, their callers are not".to_owned()],
    }
}

/// The first field in which two messages differ: its path, and both values.
pub(crate) fn first_difference<'a>(
    a: &'a Json,
    b: &'a Json,
    path: String,
) -> (String, Option<&'a Json>, Option<&'a Json>) {
    let deeper = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (a, b) {
        (Json::Object(left), Json::Object(right)) => {
            // The type and the name come first: other text in another kind of message is no news.
            let mut keys: Vec<&str> = left.keys().chain(right.keys()).collect();
            keys.sort_by_key(|key| (!matches!(*key, "type" | "name"), *key));
            for key in keys {
                match (left.get(key), right.get(key)) {
                    (Some(l), Some(r)) if l == r => {}
                    (Some(l), Some(r)) => return first_difference(l, r, deeper(key)),
                    (l, r) => return (deeper(key), l, r),
                }
            }
            (path, Some(a), Some(b))
        }
        (Json::Array(left), Json::Array(right)) => {
            let at = left.iter().zip(right).take_while(|(l, r)| l == r).count();
            let path = format!("{path}[{at}]");
            match (left.get(at), right.get(at)) {
                (Some(l), Some(r)) => first_difference(l, r, path),
                (l, r) => (path, l, r),
            }
        }
        _ => (path, Some(a), Some(b)),
    }
}

fn text_of(value: Option<&Json>) -> String {
    match value {
        None => "(absent)".to_owned(),
        Some(Json::Str(text)) => text.clone(),
        Some(other) => other.print(Layout::Python),
    }
}

fn describe_whole(message: &Json) -> String {
    format!("{}: {}", describe(message), text_of(message.get("content")).replace('\n', "⏎"))
}

#[cfg(test)]
mod tests;
