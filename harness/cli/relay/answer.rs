//! An answer of a provider on its way back, while it arrives: decoded, and without the providers' keys.

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, Response, header};
use futures_util::Stream;
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};

use super::keys::Censor;
use retake_model::clients::reason;
use retake_model::relay::{ANSWERED, MARK};
use retake_wire::Decoder;

/// Returns an answer as the recorder gets it.
/// Fails if it is compressed in a way that nobody can unpack: the name of that.
pub(super) fn passed_on(answer: Response<Body>, censor: Censor) -> Result<Response<Body>, String> {
    let encodings = answer.headers().get_all(header::CONTENT_ENCODING).iter();
    let encodings: Vec<&str> = encodings.map(|value| value.to_str().unwrap_or("?")).collect();
    let decoder = Decoder::of(&encodings.join(","))?;
    let (parts, body) = answer.into_parts();
    let mut out = Response::new(Body::new(StreamBody::new(pieces(Arriving { body, decoder: Some(decoder), censor }))));
    *out.status_mut() = parts.status;
    // The others are the provider's and the relay's own matter.
    for name in ANSWERED.into_iter().chain([header::CONTENT_TYPE.as_str()]) {
        let Some(value) = parts.headers.get(name) else { continue };
        out.headers_mut().insert(name, value.clone());
    }
    out.headers_mut().insert(header::TRAILER, HeaderValue::from_static(MARK));
    Ok(out)
}

fn of_answer(why: &str) -> String {
    format!("the answer {why}")
}

struct Arriving {
    body: Body,
    /// `None` after the end.
    decoder: Option<Decoder>,
    censor: Censor,
}

/// The pieces of an answer. If the rest is missing, the last one is a trailer that says why.
fn pieces(arriving: Arriving) -> impl Stream<Item = Result<Frame<Bytes>, std::convert::Infallible>> {
    futures_util::stream::unfold(arriving, async |mut arriving| {
        loop {
            let decoder = arriving.decoder.as_mut()?;
            let piece = match arriving.body.frame().await {
                Some(Ok(frame)) => {
                    frame.into_data().map_or(Ok(Bytes::new()), |data| decoder.push(data).map_err(|why| of_answer(&why)))
                }
                Some(Err(e)) => Err(reason(&e)),
                None => {
                    let rest = decoder.finish().map_err(|why| of_answer(&why));
                    arriving.decoder = None;
                    rest
                }
            };
            let piece = match piece {
                Ok(piece) => arriving.censor.push(piece),
                Err(why) => {
                    arriving.decoder = None;
                    let why = HeaderValue::from_bytes(why.replace(char::is_control, " ").as_bytes());
                    let why = why.unwrap_or(HeaderValue::from_static("the answer broke off"));
                    return Some((
                        Ok(Frame::trailers(HeaderMap::from_iter([(header::HeaderName::from_static(MARK), why)]))),
                        arriving,
                    ));
                }
            };
            let piece =
                if arriving.decoder.is_some() { piece } else { [piece, arriving.censor.finish()].concat().into() };
            if !piece.is_empty() {
                return Some((Ok(Frame::data(piece)), arriving));
            }
        }
    })
}
