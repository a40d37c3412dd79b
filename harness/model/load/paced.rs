//! The HTTP response that keeps to the times at which its pieces are due.
//!
//! Each piece waits for a time that is counted from the call, not from the piece before: otherwise each wait would be a little too
//! long, and a stream of a thousand pieces would end seconds late.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes};
use axum::response::Response as HttpResponse;
use futures_util::{Stream, StreamExt as _};
use tokio::time::Instant;

use super::{Pass, limited_by};
use crate::activity::InFlight;
use crate::http;
use crate::served::Served;
use retake_wire::{Body, Frames, Response};

/// Returns a turn's response to a call that came at `arrived`, each piece at its time. It begins when its first piece is due.
pub(crate) async fn answer(
    response: &Response,
    served: &Served,
    arrived: Instant,
    in_flight: InFlight,
    pass: Pass,
) -> HttpResponse {
    let (api, quota) = (pass.api, pass.quota);
    let due = pass.load.pace.due(served.index, served.turn(), response);
    if let Some(first) = due.first() {
        tokio::time::sleep_until(arrived + *first).await;
    }
    let body = if let Body::Frames(frames) = &response.body {
        HttpBody::from_stream(pieces(frames, arrived, due, in_flight, pass))
    } else {
        if let Some(due) = due.last() {
            pass.load.metrics.lock().sent(arrived + *due);
        }
        pass.end();
        drop(in_flight);
        response.bytes().into()
    };
    let out = http::counted(http::headed(response, body), api, response);
    let Some(quota) = quota else { return out };
    limited_by(out, api, &quota)
}

/// Streams frames, each when it is due, and without an end if the client left before the end when they were recorded.
fn pieces(
    frames: &Frames,
    arrived: Instant,
    due: Vec<Duration>,
    in_flight: InFlight,
    pass: Pass,
) -> impl Stream<Item = Result<Bytes, Infallible>> + Send + use<> {
    let open = frames.is_open();
    let due = due.into_iter().map(move |due| arrived + due).collect::<Vec<_>>().into_iter();
    let state = (frames.bytes(), due, Some((in_flight, pass)));
    futures_util::stream::unfold(state, move |(mut frames, mut due, mut under_way)| async move {
        let Some(frame) = frames.next() else {
            if let Some((in_flight, pass)) = under_way.take() {
                pass.end();
                if open {
                    // The stream stays open until the client leaves, but the call no longer counts as under way.
                    let _held = in_flight.hold();
                    std::future::pending::<()>().await;
                }
            }
            return None;
        };
        if let Some(due) = due.next() {
            if due > Instant::now() {
                tokio::time::sleep_until(due).await;
            }
            if let Some((_, pass)) = &under_way {
                pass.load.metrics.lock().sent(due);
            }
        }
        Some((Ok(frame), (frames, due, under_way)))
    })
    .fuse()
}
