//! Decodes a response into an [`Answer`]: its text, what it cost, or the error in it. All else is replayed as it came.

use super::request::first;
use super::{Declaration, all};
use crate::Body;
use crate::parts::fields::WireError;
use crate::parts::sse;
use retake_core::conversation::{Answer, Block, Usage};
use retake_core::json::Json;

pub(crate) fn of_body(declared: &Declaration, body: &Body) -> Result<Answer, WireError> {
    let mut pieces = Vec::new();
    match body {
        Body::Frames(frames) => {
            for (i, frame) in frames.iter().enumerate() {
                let before = pieces.len();
                sse::each_json(frame, |piece| {
                    pieces.push(piece);
                    Ok(())
                })
                .map_err(|error| error.of(format_args!("frames[{i}]")))?;
                if pieces.len() == before {
                    pieces.extend(Json::parse_request(frame.trim().as_bytes()).ok());
                }
            }
        }
        body => pieces.push(body.value().ok_or_else(|| WireError::new("expected JSON or a stream, found text"))?),
    }
    let (mut text, mut usage) = (String::new(), [None; 3]);
    for piece in &pieces {
        if let Some(error) = first(piece, &declared.error) {
            return Err(WireError::of_provider(error));
        }
        let texts = declared.text.iter().flat_map(|pointer| all(piece, pointer));
        texts.filter_map(Json::as_str).for_each(|piece| text.push_str(piece));
        for (count, pointers) in usage.iter_mut().zip(&declared.usage) {
            *count = first(piece, pointers).and_then(Json::as_u64).or(*count);
        }
    }
    let [input, output, cached] = usage.map(Option::unwrap_or_default);
    Ok(Answer {
        blocks: if text.is_empty() { Vec::new() } else { vec![Block::Text(text)] },
        usage: usage.iter().any(Option::is_some).then(|| Usage { input, output, cached, ..Usage::default() }),
        ..Answer::default()
    })
}
