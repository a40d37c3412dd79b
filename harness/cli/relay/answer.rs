//! An answer of a provider on its way back, while it arrives: decoded, and without the providers' keys.

use std::convert::Infallible;

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
    let mut out = Response::new(Body::new(StreamBody::new(pieces(body, decoder, censor))));
    *out.status_mut() = parts.status;
    // The others are the provider's and the relay's own matter.
    for name in ANSWERED.into_iter().chain([header::CONTENT_TYPE.as_str()]) {
        let Some(value) = parts.headers.get(name) else { continue };
        out.headers_mut().insert(name, value.clone());
    }
    out.headers_mut().insert(header::TRAILER, HeaderValue::from_static(MARK));
    Ok(out)
}

/// The pieces of an answer. If the rest is missing, the last one is a trailer that says why.
fn pieces(body: Body, decoder: Decoder, censor: Censor) -> impl Stream<Item = Result<Frame<Bytes>, Infallible>> {
    futures_util::stream::unfold(Some((body, decoder, censor)), async |arriving| {
        let (mut body, mut decoder, mut censor) = arriving?;
        loop {
            let of_answer = |why: String| format!("the answer {why}");
            let (piece, is_last) = match body.frame().await {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => (decoder.push(data).map_err(of_answer), false),
                    Err(_) => continue,
                },
                Some(Err(e)) => (Err(reason(&e)), true),
                None => (decoder.finish().map_err(of_answer), true),
            };
            let piece = match piece {
                Ok(piece) if is_last => [censor.push(piece), censor.finish()].concat().into(),
                Ok(piece) => censor.push(piece),
                Err(why) => {
                    let why = HeaderValue::from_bytes(why.replace(char::is_control, " ").as_bytes());
                    let why = why.unwrap_or(HeaderValue::from_static("the answer broke off"));
                    let trailers = HeaderMap::from_iter([(header::HeaderName::from_static(MARK), why)]);
                    return Some((Ok(Frame::trailers(trailers)), None));
                }
            };
            if is_last || !piece.is_empty() {
                let rest = (!is_last).then_some((body, decoder, censor));
                return (!piece.is_empty()).then_some((Ok(Frame::data(piece)), rest));
            }
        }
    })
}
