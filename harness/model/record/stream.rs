//! An answer on its way through, from the provider to the client.

use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes};
use axum::http::{Response as HttpResponse, StatusCode, header};
use futures_util::StreamExt as _;
use tokio::sync::mpsc;

use super::call_writer::{CallWriter, Cut};
use super::last_frame;
use crate::clients::reqwest_reason;
use crate::model::activity::InFlight;
use crate::model::http;
use crate::wire::{Body, Response};

/// How long the end of a stream is waited for behind the frame that ends the answer.
const END_OF_STREAM: Duration = Duration::from_millis(250);

/// The response to the client: the answer's head, and its body as it comes.
pub(super) fn sent_on(
    answer: reqwest::Response,
    mut writer: CallWriter,
    in_flight: InFlight,
) -> HttpResponse<HttpBody> {
    let content_type = answer.headers().get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
    writer.begin_answer(answer.status().as_u16(), content_type.unwrap_or_default());
    let (status, content_type) = (writer.status, writer.content_type.clone());
    if writer.has_no_body() {
        // Nobody waits for a body here, which would be taken for a client that left.
        writer.write(None);
        let nothing = Response { status, content_type, body: Body::Text(String::new()) };
        return http::answer(&nothing, in_flight);
    }
    let (sender, mut receiver) = mpsc::channel::<Bytes>(64);
    tokio::spawn(async move {
        stream_through(answer, writer, sender).await;
        drop(in_flight);
    });
    let chunks = futures_util::stream::poll_fn(move |context| receiver.poll_recv(context));
    // An empty chunk is the mark of a stream that broke off.
    let chunks = chunks.map(|chunk| {
        if chunk.is_empty() { Err(std::io::Error::other("the provider left before the end")) } else { Ok(chunk) }
    });
    let mut out = HttpResponse::new(HttpBody::from_stream(chunks));
    *out.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
    if let Ok(value) = content_type.parse() {
        out.headers_mut().insert(header::CONTENT_TYPE, value);
    }
    out
}

/// Sends an answer on as it comes, and writes its line before the client sees the end: what it was given is then on disk.
async fn stream_through(answer: reqwest::Response, mut writer: CallWriter, sender: mpsc::Sender<Bytes>) {
    let api = writer.api;
    let mut stream = answer.bytes_stream();
    // A client takes the answer for whole at its last frame: that goes out when the line is written.
    let mut last: Option<Bytes> = None;
    let cut = loop {
        let next = async {
            match &last {
                None => stream.next().await,
                // Where the end does not follow, the client need not wait for it.
                Some(_) => match tokio::time::timeout(END_OF_STREAM, stream.next()).await {
                    Ok(chunk) => chunk,
                    Err(_) => Some(Ok(Bytes::new())),
                },
            }
        };
        let chunk = tokio::select! {
            chunk = next => chunk,
            () = sender.closed() => break Some(Cut::ClientLeft),
        };
        let out = match chunk {
            None => break None,
            Some(Err(e)) => break Some(Cut::ProviderLeft(reqwest_reason(e))),
            Some(Ok(chunk)) => {
                writer.take(&chunk);
                let is_last = !chunk.is_empty() && last_frame::is_in_last(api, &writer.bytes, chunk.len());
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
        // An empty one would be the mark of a stream that broke off.
        let Some(out) = out.filter(|out| !out.is_empty()) else { continue };
        if sender.send(out).await.is_err() {
            break Some(Cut::ClientLeft);
        }
    };
    let broken = matches!(cut, Some(Cut::ProviderLeft(_)));
    writer.write(cut.as_ref());
    if let Some(last) = last {
        // Where the client has left, it has all that it wanted.
        let _ = sender.send(last).await;
    }
    if broken {
        // The client sees what the recorder saw: a stream that breaks off.
        let _ = sender.send(Bytes::new()).await;
    }
}
