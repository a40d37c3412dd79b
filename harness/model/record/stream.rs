//! Passes an answer on from the provider to the client.

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes, HttpBody as _};
use axum::http::header;
use axum::response::Response as HttpResponse;
use futures_util::{Stream, StreamExt as _};
use memchr::memmem;
use tokio::sync::mpsc;

use super::call_writer::{CallWriter, client_left};
use super::relay::{ANSWERED, MARK};
use crate::activity::InFlight;
use crate::clients::reqwest_reason;
use crate::http;
use retake_wire::fixture::call_log::{Cut, CutBy};
use retake_wire::{self as wire, Api};

/// How long to wait for the end of a stream after the frame that ends the answer.
const END_OF_STREAM: Duration = Duration::from_millis(250);

/// Returns the response to the client: the status and headers of the answer, and its body as it arrives.
pub(super) fn sent_on(answer: reqwest::Response, mut writer: CallWriter, in_flight: InFlight) -> HttpResponse {
    let content_type = answer.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
    writer.begin_answer(answer.status().as_u16(), content_type.unwrap_or_default());
    let head = writer.entry.response.clone();
    if writer.entry.method == "HEAD" || matches!(head.status, 204 | 304) {
        // Nobody reads a body here, which would look like a client that left.
        if let Err(why) = writer.write(None) {
            return http::final_error(&wire::error_response(writer.entry.api, 400, "record_error", &why), in_flight);
        }
        return http::answer(&head, in_flight);
    }
    let passed: Vec<_> = ANSWERED.into_iter().filter_map(|of| Some((of, answer.headers().get(of)?.clone()))).collect();
    let (sender, mut receiver) = mpsc::channel::<Bytes>(64);
    tokio::spawn(async move {
        stream_through(body_of(answer), writer, sender).await;
        drop(in_flight);
    });
    let chunks = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
    // An empty chunk marks a stream that broke off.
    let chunks = chunks
        .map(|chunk| if chunk.is_empty() { Err(std::io::Error::other("the answer broke off")) } else { Ok(chunk) });
    let mut out = http::headed(&head, HttpBody::from_stream(chunks));
    for (name, value) in passed {
        out.headers_mut().insert(name, value);
    }
    out
}

/// What comes next from the provider's stream.
enum Next {
    Chunk(Bytes),
    /// The end of the stream, with the reason if the answer is not complete.
    End(Option<Cut>),
    /// Nothing for a while after the frame that ends the answer.
    Quiet,
}

impl Next {
    fn of(chunk: Option<Result<Bytes, String>>) -> Next {
        match chunk {
            None => Next::End(None),
            Some(Ok(chunk)) => Next::Chunk(chunk),
            Some(Err(why)) => {
                Next::End(Some(Cut { by: CutBy::Provider, why: format!("the provider left before the end: {why}") }))
            }
        }
    }
}

/// Returns an answer's body as it arrives, without empty chunks. An error says why the rest is missing: the relay tells the reason
/// in a trailer.
fn body_of(answer: reqwest::Response) -> impl Stream<Item = Result<Bytes, String>> {
    let body = HttpResponse::from(answer).into_body();
    futures_util::stream::unfold(Some(body), async |body| {
        let mut body = body?;
        loop {
            let frame = match poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await? {
                Ok(frame) => frame.into_data(),
                Err(e) => return Some((Err(reqwest_reason(e)), None)),
            };
            match frame {
                Ok(chunk) if chunk.is_empty() => {}
                Ok(chunk) => return Some((Ok(chunk), Some(body))),
                Err(frame) => {
                    let why = frame.trailers_ref().and_then(|trailers| trailers.get(MARK));
                    let Some(why) = why else { continue };
                    return Some((Err(String::from_utf8_lossy(why.as_bytes()).into_owned()), None));
                }
            }
        }
    })
}

/// Passes an answer on as it arrives. Its journal line is written before the client gets the end of the answer, so that whatever
/// a client got completely is on disk.
async fn stream_through(
    answer: impl Stream<Item = Result<Bytes, String>>,
    mut writer: CallWriter,
    sender: mpsc::Sender<Bytes>,
) {
    let api = writer.entry.api;
    let mut stream = std::pin::pin!(answer);
    // The last frame completes the answer for a client, so it is held back until the line is written.
    let mut last: Option<Bytes> = None;
    // A client that leaves ends a stream. It also leaves when the status says enough for it, and what is there is recorded then.
    let (streams, mut left) = (writer.streams(), false);
    let cut = loop {
        let next = async {
            match &last {
                None if !left => Next::of(stream.next().await),
                // Some providers keep the connection open after the last frame.
                _ => tokio::time::timeout(END_OF_STREAM, stream.next()).await.map_or(Next::Quiet, Next::of),
            }
        };
        let next = tokio::select! {
            next = next => next,
            () = sender.closed(), if !left => {
                left = true;
                if streams { Next::End(Some(client_left())) } else { continue }
            }
        };
        let out = match next {
            // After the last frame the answer is complete, even if the provider or the client leaves then.
            Next::End(cut) => break cut.filter(|_| last.is_none() || !writer.is_whole()),
            Next::Quiet if writer.is_whole() => break None,
            Next::Quiet if left => break Some(client_left()),
            // That was not the last frame, it only looked like it.
            Next::Quiet => last.take(),
            Next::Chunk(chunk) => {
                writer.take(&chunk);
                let is_last = !chunk.is_empty() && ends_answer(api, &writer.bytes, chunk.len());
                match last.take() {
                    held if is_last => {
                        last = Some(chunk);
                        held
                    }
                    Some(held) => Some([held, chunk].concat().into()),
                    None => Some(chunk),
                }
            }
        };
        // An empty chunk would mark a stream that broke off.
        let Some(out) = out.filter(|out| !out.is_empty()) else { continue };
        left |= sender.send(out).await.is_err();
        if left && streams {
            break Some(client_left());
        }
    };
    let broken = cut.as_ref().is_some_and(|cut| cut.by == CutBy::Provider);
    // Beside this thread, which passes on the frames of all answers: writing waits for the disk.
    let saved = tokio::task::spawn_blocking(move || writer.write(cut).is_ok()).await.unwrap_or_default();
    if let Some(last) = last.filter(|_| saved) {
        // If the client has left, it has everything that it wanted.
        let _ = sender.send(last).await;
    }
    if broken || !saved {
        // The client sees the same as the recorder: a stream that breaks off. An answer that is not saved is not complete either.
        let _ = sender.send(Bytes::new()).await;
    }
}

/// How many bytes before a chunk are searched too, because a chunk may begin in the middle of the frame.
const BEFORE: usize = 64;

/// Whether the frame that ends an answer ends in the last `length` bytes of a stream. Clients go on when they see it, without
/// waiting for the end of the stream.
fn ends_answer(api: Api, stream: &[u8], length: usize) -> bool {
    let marks: &[&str] = match api {
        Api::OpenAiChat => &["data: [DONE]", "data:[DONE]"],
        Api::OpenAiResponses => &["response.completed", "response.incomplete", "response.failed"],
        Api::Bedrock => &["metadata\r:content-type"],
        Api::Anthropic => &["message_stop"],
        Api::Gemini => &["\"finishReason\""],
        Api::Ollama => &["\"done\":true", "\"done\": true"],
        // What a declared API ends with is not known; these lines end the streams of most.
        Api::Declared(_) => &["\ndata: [DONE]", "\ndata:[DONE]", "\nevent: message_stop"],
        // What ends a stream of `InvokeModel` is in base64; AWS closes its streams.
        Api::BedrockInvoke | Api::Opaque => &[],
    };
    let tail = &stream[stream.len().saturating_sub(length + BEFORE)..];
    marks.iter().any(|mark| memmem::find(tail, mark.as_bytes()).is_some())
}

#[cfg(test)]
mod tests;
