//! What a call gets instead of its recorded response.

use std::io;
use std::time::Duration;

use axum::body::{Body as HttpBody, Bytes};
use axum::http::StatusCode;
use axum::response::Response as HttpResponse;
use futures_util::Stream;

use crate::activity::InFlight;
use crate::http;
use retake_wire::{Body, Response};

/// How long a connection stays open after the last piece that is sent, so that the piece leaves before the connection breaks.
const LEAVING: Duration = Duration::from_millis(5);

/// How an answer ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// Well-formed.
    Whole,
    /// The connection is closed inside the body.
    Broken,
    /// Never: the connection stays open.
    Open,
    /// The connection is closed before the head.
    BeforeHead,
    /// There is no answer.
    Hang,
}

/// An answer as it is sent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sent {
    pub(super) status: u16,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) content_type: String,
    /// The pieces of the body, each of which is written by itself.
    pub(super) pieces: Vec<Bytes>,
    /// The length that the head names; `None` if the body comes in chunks.
    pub(super) length: Option<usize>,
    pub(super) end: End,
}

impl Sent {
    /// An answer without a body.
    pub(super) fn nothing(end: End) -> Sent {
        let (headers, pieces, content_type) = (Vec::new(), Vec::new(), String::new());
        // With a length of 0 the head would be written at once.
        let length = (end != End::BeforeHead).then_some(0);
        Sent { status: 200, headers, content_type, pieces, length, end }
    }

    /// A response as it is sent without a fault.
    pub(super) fn of(response: &Response) -> Sent {
        let pieces = match &response.body {
            Body::Frames(frames) => frames.bytes().collect(),
            _ => vec![response.bytes()],
        };
        Sent::in_pieces(response, pieces)
    }

    /// A response in these pieces.
    pub(super) fn in_pieces(response: &Response, pieces: Vec<Bytes>) -> Sent {
        let length = (!response.is_stream()).then(|| pieces.iter().map(Bytes::len).sum());
        let (status, content_type) = (response.status, response.content_type.clone());
        Sent { status, headers: Vec::new(), content_type, pieces, length, end: End::Whole }
    }

    /// Sends the answer. The call is under way until the answer ends.
    pub(crate) async fn answer(self, in_flight: InFlight) -> HttpResponse {
        if self.end == End::Hang {
            let _under_way = in_flight;
            std::future::pending::<()>().await;
            return HttpResponse::default();
        }
        let Sent { status, headers, content_type, pieces, length, end } = self;
        let mut response = HttpResponse::new(HttpBody::from_stream(body(pieces, end, in_flight)));
        *response.status_mut() = StatusCode::from_u16(status).unwrap_or_default();
        let length = length.map(|length| ("content-length", length.to_string()));
        let kind = (!content_type.is_empty()).then_some(("content-type", content_type));
        http::with_headers(response, headers.into_iter().chain(length).chain(kind))
    }
}

/// The body. An error at its very beginning closes the connection before the head is written.
fn body(pieces: Vec<Bytes>, end: End, in_flight: InFlight) -> impl Stream<Item = io::Result<Bytes>> + Send + use<> {
    let state = (pieces.into_iter(), 0_usize, in_flight);
    futures_util::stream::unfold(state, move |(mut pieces, sent, in_flight)| async move {
        if let Some(piece) = pieces.next() {
            if sent > 0 {
                // What was returned before is written now, in a piece of its own.
                tokio::task::yield_now().await;
            }
            return Some((Ok(piece), (pieces, sent + 1, in_flight)));
        }
        match end {
            End::Whole | End::Hang => None,
            End::Open => {
                let _under_way = in_flight;
                std::future::pending::<()>().await;
                None
            }
            End::BeforeHead | End::Broken => {
                if end == End::Broken {
                    tokio::time::sleep(LEAVING).await;
                }
                Some((Err(io::Error::from(io::ErrorKind::ConnectionReset)), (pieces, sent, in_flight)))
            }
        }
    })
}
