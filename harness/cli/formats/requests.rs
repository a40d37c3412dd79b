//! The requests of a recording of another tool, to send them again.

use std::path::Path;

use axum::http::HeaderMap;

use super::body::Body;
use super::foreign::{self, json, tree};
use super::interaction::{PlacedInteraction, host_and_path, hosts_of_calls};
use super::{har, vcr};
use retake_base::error::{Error, Result};
use retake_core::json::Layout;
use retake_wire::Target;

/// A request as a client sent it.
#[derive(Clone, Debug)]
pub(crate) struct RequestAtHand {
    /// `interaction 3 (line 120): POST https://api.openai.com/v1/responses`
    pub(crate) place: String,
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
    /// Whether its recorded answer is a failed one, of which an import makes a turn only if it is told to.
    pub(crate) failed: bool,
}

/// Returns the requests to providers in a cassette of VCR or go-vcr, or in an HTTP archive, and what is left out, one line each.
/// Fails if the file cannot be read, or is none of these.
pub(crate) fn requests(file: &Path) -> Result<(Vec<RequestAtHand>, Vec<String>)> {
    let bytes = foreign::bytes(file)?;
    let is_archive = || json(&bytes).ok().and_then(|json| har::interactions(&json));
    let of_cassette = || vcr::interactions(&*tree(&bytes).ok()?);
    let found = is_archive().or_else(of_cassette).ok_or_else(|| {
        Error::new("not a recording with requests: expected a cassette of VCR or go-vcr, or an HTTP archive")
            .in_file(file)
    })?;
    let (mut requests, mut left_out, hosts) = (Vec::new(), Vec::new(), hosts_of_calls(&found));
    for PlacedInteraction { place, interaction } in found {
        match interaction {
            Err(reason) => left_out.push(format!("{place}: {reason}")),
            Ok(sent) => {
                let place = format!("{place}: {}", sent.what());
                let Some((_, path)) = host_and_path(&sent.url) else { continue };
                if !sent.is_of_recording(&hosts) {
                    left_out.push(format!("{place}: not a model call"));
                    continue;
                }
                // A service calls the paths of the provider's SDK, whatever its base URL is.
                let target = Target { method: &sent.method, path: &path };
                let version = path.find("/v1").filter(|_| target.api().is_some()).unwrap_or_default();
                let path = path[version..].to_owned();
                let body = match sent.request {
                    Ok(Body::Bytes(bytes)) => bytes,
                    Ok(Body::Json(json)) => json.print(Layout::Compact).into_bytes(),
                    Err(reason) => {
                        left_out.push(format!("{place}: the request: {reason}"));
                        continue;
                    }
                };
                let failed = sent.status.is_some_and(|status| status >= 300);
                requests.push(RequestAtHand { place, method: sent.method, path, headers: sent.headers, body, failed });
            }
        }
    }
    Ok((requests, left_out))
}
