//! Amazon Bedrock: Converse, and `InvokeModel` with Anthropic's bodies.

pub(super) mod answer;
pub(super) mod invoke;
pub(super) mod render;
pub(super) mod request;
pub(super) mod stream;

use std::borrow::Cow;

/// Returns the model and the operation of a path: `/model/us.amazon.nova-lite-v1%3A0/converse`.
pub(super) fn of_path(path: &str) -> Option<(Cow<'_, str>, &str)> {
    let path = path.split(['?', '#']).next()?.trim_end_matches('/');
    let (before, operation) = path.rsplit_once('/')?;
    let model = &before[before.rfind("/model/")? + "/model/".len()..];
    Some((percent_encoding::percent_decode_str(model).decode_utf8_lossy(), operation))
}

#[cfg(test)]
mod tests;
