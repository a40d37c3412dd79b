//! Converts a whole response into the pieces of a stream, and a stream into a whole response. Each piece is itself a response.

use std::collections::BTreeMap;

use super::parts::is_thought;
use crate::parts::fields::{self, WireError};
use crate::parts::pieces::words;
use crate::parts::sse;
use retake_core::json::{Json, Object};

/// Assembles the response that SSE frames carry, as if it had come whole.
pub(crate) fn assemble(frames: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Json, WireError> {
    let mut whole = Whole::default();
    for (i, frame) in frames.into_iter().enumerate() {
        sse::each_json(frame.as_ref(), |piece| whole.add(&piece))
            .map_err(|error| error.of(format_args!("frames[{i}]")))?;
    }
    whole.finished()
}

/// Assembles the response that the pieces in a JSON array carry.
pub(crate) fn assemble_array(pieces: &[Json]) -> Result<Json, WireError> {
    let mut whole = Whole::default();
    for (i, piece) in pieces.iter().enumerate() {
        whole.add(piece).map_err(|error| error.of(format_args!("[{i}]")))?;
    }
    whole.finished()
}

#[derive(Default)]
struct Whole {
    response: Object,
    candidates: BTreeMap<u64, Candidate>,
}

#[derive(Default)]
struct Candidate {
    fields: Object,
    role: Option<Json>,
    parts: Vec<Json>,
}

impl Whole {
    /// Adds a piece. Its parts are appended; all other fields replace those of earlier pieces.
    fn add(&mut self, piece: &Json) -> Result<(), WireError> {
        fields::no_error(piece)?;
        let Some(sent) = piece.as_object() else {
            return Err(WireError::expected("the piece", "an object", Some(piece)));
        };
        fields::each(piece, "candidates", |candidate| {
            let index = candidate.get("index").and_then(Json::as_u64).unwrap_or(0);
            let all = self.candidates.entry(index).or_default();
            let content = fields::optional_object(candidate, "content")?;
            if let Some(content) = content {
                all.role = fields::given(content, "role").cloned().or(all.role.take());
                let parts = fields::each(content, "parts", |part| Ok(part.clone()));
                parts.map_err(|error| error.within("content"))?.into_iter().for_each(|part| all.part(part));
            }
            let other = candidate.as_object().into_iter().flatten().filter(|(key, _)| *key != "content");
            all.fields.extend(other.map(|(key, value)| (key.clone(), value.clone())));
            Ok(())
        })?;
        let other = sent.iter().filter(|(key, _)| *key != "candidates");
        self.response.extend(other.map(|(key, value)| (key.clone(), value.clone())));
        Ok(())
    }

    fn finished(mut self) -> Result<Json, WireError> {
        let first = self.candidates.values().next();
        let stopped =
            first.is_some_and(|first| first.fields.get("finishReason").is_some_and(|reason| *reason != Json::Null));
        // A refused prompt has no candidates. If there are candidates, feedback about the prompt does not mean a refusal.
        let refused = first.is_none()
            && self.response.get("promptFeedback").is_some_and(|feedback| feedback.get("blockReason").is_some());
        if !stopped && !refused {
            return Err(WireError::new("an incomplete answer: the stream ended before a finishReason"));
        }
        if !self.candidates.is_empty() {
            let candidates = self.candidates.into_values().map(Candidate::into_json).collect();
            self.response.insert("candidates".into(), Json::Array(candidates));
        }
        Ok(Json::Object(self.response))
    }
}

impl Candidate {
    /// Adds a part. Text is appended to the text before it, unless a signature separates them.
    fn part(&mut self, part: Json) {
        let Some(text) = part.str_of("text") else {
            self.parts.push(part);
            return;
        };
        if let Some(Json::Object(last)) = self.parts.last_mut() {
            let same = last.get("thought").is_some_and(Json::is_truthy) == is_thought(&part);
            if same
                && !last.contains_key("thoughtSignature")
                && let Some(Json::Str(before)) = last.get_mut("text")
            {
                before.push_str(text);
                last.extend(part.get("thoughtSignature").map(|sign| ("thoughtSignature".into(), sign.clone())));
                return;
            }
        }
        if !text.is_empty() || part.get("thoughtSignature").is_some() {
            self.parts.push(part);
        }
    }

    fn into_json(mut self) -> Json {
        let role = self.role.unwrap_or_else(|| "model".into());
        let content = Json::object([("role", role), ("parts", Json::Array(self.parts))]);
        self.fields.insert("content".into(), content);
        Json::Object(self.fields)
    }
}

/// Returns the pieces of a whole response: one for each part of the first candidate, then one with everything else.
pub(crate) fn pieces(response: &Json) -> Vec<Json> {
    let mut rest = response.as_object().cloned().unwrap_or_default();
    let Some(Json::Array(candidates)) = rest.remove("candidates") else { return vec![response.clone()] };
    let mut candidates = candidates.into_iter();
    let Some(Json::Object(mut first)) = candidates.next() else { return vec![response.clone()] };
    let content = first.remove("content").unwrap_or(Json::Null);
    let index = first.get("index").cloned().unwrap_or(Json::Int(0));
    let role = content.get("role").cloned().unwrap_or_else(|| "model".into());
    let given = |key: &str| Some((key.into(), rest.get(key)?.clone()));
    let head: Object = ["modelVersion", "responseId", "createTime"].into_iter().filter_map(given).collect();
    let of_part = |part: Json| Json::object([("role", role.clone()), ("parts", vec![part].into())]);

    let parts = content.get("parts").and_then(Json::as_array).unwrap_or_default();
    let mut pieces: Vec<Json> = Vec::new();
    for part in parts.iter().flat_map(split) {
        let candidate = Json::object([("content", of_part(part)), ("index", index.clone())]);
        let with_head = head.clone().into_iter().chain([("candidates".into(), vec![candidate].into())]);
        pieces.push(Json::object(with_head));
    }
    first.insert("content".into(), of_part(Json::object([("text", "".into())])));
    first.insert("index".into(), index);
    let last = [Json::Object(first)].into_iter().chain(candidates).collect();
    rest.insert("candidates".into(), Json::Array(last));
    pieces.push(Json::Object(rest));
    pieces
}

/// Splits a text part into parts of a few words, the last of which has the signature. Returns any other part as it is.
fn split(part: &Json) -> Vec<Json> {
    let (Some(text), Json::Object(fields)) = (part.str_of("text").filter(|text| !text.is_empty()), part) else {
        return vec![part.clone()];
    };
    let mut parts: Vec<Json> = Vec::new();
    for piece in words(text) {
        let mut fields = fields.clone();
        fields.remove("thoughtSignature");
        fields.insert("text".into(), piece.into());
        parts.push(Json::Object(fields));
    }
    if let (Some(Json::Object(last)), Some(signature)) = (parts.last_mut(), part.get("thoughtSignature")) {
        last.insert("thoughtSignature".into(), signature.clone());
    }
    parts
}

#[cfg(test)]
mod tests;
