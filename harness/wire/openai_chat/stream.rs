//! Decodes a recorded stream into an [`Answer`].

use std::borrow::Cow;

use super::answer::{Draft, first_choice};
use crate::parts::fields::{self, WireError};
use crate::parts::{args, sse};
use crate::{Body, Frames, Response};
use retake_core::conversation::{Answer, ToolCall};
use retake_core::json::{Json, Layout};

/// Assembles the chunks. Some services send no `[DONE]`, others no finish reason, but one of them is required.
pub(crate) fn of_frames(frames: impl IntoIterator<Item = impl AsRef<str>>) -> Result<Answer, WireError> {
    let mut stream = Stream::default();
    for (i, frame) in frames.into_iter().enumerate() {
        sse::each_data(frame.as_ref(), |data| stream.read_data(data))
            .map_err(|error| error.of(format_args!("frames[{i}]")))?;
    }
    if stream.draft.finish.is_none() && !stream.done {
        return Err(WireError::new("an incomplete answer: the stream ended before a finish_reason"));
    }
    let calls = stream.calls.into_iter().map(CallDraft::into_call).collect();
    Ok(stream.draft.into_answer(calls))
}

/// Returns a recorded stream as the provider would have sent it without being asked for its usage. All other frames stay as they
/// were recorded.
pub fn without_usage(response: &Response) -> Response {
    let Body::Frames(frames) = &response.body else { return response.clone() };
    let mut delays = frames.delays().iter();
    let (mut kept, mut pauses, mut pause) = (Vec::new(), Vec::new(), 0);
    for frame in frames.iter() {
        pause += delays.next().copied().unwrap_or_default();
        if let Some(frame) = frame_without_usage(frame) {
            kept.push(frame);
            pauses.push(std::mem::take(&mut pause));
        }
    }
    let body = kept.into_iter().collect::<Frames>().with_delays(&pauses).with_open(frames.is_open());
    Response { body: Body::Frames(body), ..response.clone() }
}

/// Returns a frame without its usage, or `None` if it has nothing else to say.
fn frame_without_usage(frame: &str) -> Option<Cow<'_, str>> {
    let mut chunk = None;
    let read = sse::each_data(frame, |data| {
        chunk = Json::parse(data.trim().as_bytes()).ok();
        Ok::<_, ()>(())
    });
    let Some(chunk) = chunk.filter(|chunk| read.is_ok() && fields::given(chunk, "usage").is_some()) else {
        return Some(Cow::Borrowed(frame));
    };
    let says_more = chunk.get("choices").is_some_and(Json::is_truthy);
    let mut rest = chunk.into_object().filter(|_| says_more)?;
    rest.remove("usage");
    Some(Cow::Owned(sse::frame(&Json::Object(rest).print(Layout::Compact))))
}

#[derive(Default)]
struct Stream {
    draft: Draft,
    calls: Vec<CallDraft>,
    done: bool,
}

/// A tool call that is being assembled from pieces.
#[derive(Default)]
struct CallDraft {
    index: Option<u64>,
    id: String,
    name: String,
    arguments: String,
    custom: bool,
}

impl Stream {
    fn read_data(&mut self, data: &str) -> Result<(), WireError> {
        let data = data.trim();
        self.done |= data == "[DONE]";
        if self.done || data.is_empty() {
            return Ok(());
        }
        let chunk = Json::parse_request(data.as_bytes()).map_err(|error| WireError::new(format!("data: {error}")))?;
        self.draft.read_head(&chunk)?;
        let Some(choice) = first_choice(&chunk)? else { return Ok(()) };
        self.draft.read_finish(choice)?;
        let read = fields::optional_object(choice, "delta").and_then(|delta| match delta {
            Some(delta) => self.read_delta(delta).map_err(|error| error.within("delta")),
            None => Ok(()),
        });
        read.map_err(|error| error.within("choices[0]"))
    }

    fn read_delta(&mut self, delta: &Json) -> Result<(), WireError> {
        self.draft.read_message(delta)?;
        fields::each(delta, "tool_calls", |piece| self.read_piece(piece))?;
        if let Some(legacy) = fields::optional_object(delta, "function_call")? {
            let call = self.call_of(None, "", "");
            call.read_function(legacy).map_err(|error| error.within("function_call"))?;
        }
        Ok(())
    }

    fn read_piece(&mut self, piece: &Json) -> Result<(), WireError> {
        let index = piece.get("index").and_then(Json::as_u64);
        let id = fields::optional_string(piece, "id")?.unwrap_or_default();
        let custom = piece.str_of("type") == Some("custom") || fields::given(piece, "custom").is_some();
        let key = if custom { "custom" } else { "function" };
        let part = fields::optional_object(piece, key)?;
        let name = part.and_then(|part| part.str_of("name")).unwrap_or_default();
        let call = self.call_of(index, id, name);
        call.custom |= custom;
        part.map_or(Ok(()), |part| call.read_function(part).map_err(|error| error.within(key)))
    }

    /// Returns the call that a piece belongs to, and starts a new one if needed. A piece without an index belongs to the last
    /// call. A piece with a name and a different id starts a new call, whatever its index is, because Gemini's version of
    /// this API gives every parallel call the index 0.
    fn call_of(&mut self, index: Option<u64>, id: &str, name: &str) -> &mut CallDraft {
        let known = match index {
            Some(_) => self.calls.iter().rposition(|call| call.index == index),
            None => self.calls.len().checked_sub(1),
        };
        let same = known.filter(|at| {
            let call = &self.calls[*at];
            id.is_empty() || call.id.is_empty() || call.id == id || name.is_empty()
        });
        let at = same.unwrap_or_else(|| {
            self.calls.push(CallDraft { index, ..CallDraft::default() });
            self.calls.len() - 1
        });
        let call = &mut self.calls[at];
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        call
    }
}

impl CallDraft {
    /// Reads a piece of `function` or `custom`. The arguments of `custom` are in the field `input`.
    fn read_function(&mut self, part: &Json) -> Result<(), WireError> {
        // Some services repeat the name in each chunk.
        let name = fields::optional_string(part, "name")?.filter(|name| *name != self.name);
        self.name.push_str(name.unwrap_or_default());
        let key = if self.custom { "input" } else { "arguments" };
        match fields::given(part, key) {
            None => {}
            Some(Json::Str(text)) => self.arguments.push_str(text),
            Some(object @ Json::Object(_)) => object.print_to(&mut self.arguments, Layout::Compact),
            found => return Err(WireError::expected(key, "a string or an object", found)),
        }
        Ok(())
    }

    fn into_call(self) -> ToolCall {
        let args = if self.custom { self.arguments.into() } else { args::parsed(&self.arguments) };
        ToolCall { id: self.id, name: self.name, args }
    }
}

#[cfg(test)]
mod tests;
