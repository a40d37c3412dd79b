//! Requests of this project's runs to `https:` addresses: attached systems, live tools and MCP servers. The run sends them to the
//! relay as to a proxy, without TLS, and the relay speaks TLS.

use axum::body::Body;
use axum::http::uri::{Parts, PathAndQuery, Scheme};
use axum::http::{Request, Response, Uri, header};

use super::handler::failed;
use super::outward::Outward;

/// The headers that belong to one connection.
const OF_A_CONNECTION: [&str; 6] =
    ["connection", "keep-alive", "proxy-authorization", "proxy-connection", "transfer-encoding", "upgrade"];

/// Sends a request on, unchanged but for TLS.
pub(super) async fn forward(outward: &Outward, mut request: Request<Body>) -> Response<Body> {
    let Some(uri) = secure(request.uri().clone()) else { return failed("the request has no address") };
    let host = uri.authority().map(ToString::to_string).unwrap_or_default();
    *request.uri_mut() = uri;
    for name in OF_A_CONNECTION {
        request.headers_mut().remove(name);
    }
    request
        .headers_mut()
        .entry(header::HOST)
        .or_insert_with(|| host.parse().unwrap_or(header::HeaderValue::from_static("")));
    match outward.send(request).await {
        Ok(mut answer) => {
            for name in OF_A_CONNECTION {
                answer.headers_mut().remove(name);
            }
            answer
        }
        Err(why) => failed(&format!("https://{host} cannot be reached: {why}")),
    }
}

/// Returns the same address over TLS.
fn secure(uri: Uri) -> Option<Uri> {
    let Parts { authority, path_and_query, .. } = uri.into_parts();
    let mut parts = Parts::default();
    parts.scheme = Some(Scheme::HTTPS);
    parts.authority = Some(authority?);
    parts.path_and_query = path_and_query.or_else(|| Some(PathAndQuery::from_static("/")));
    Uri::from_parts(parts).ok()
}
