//! Reads HTTP archives (HAR 1.2), which browsers, mitmproxy and Playwright write.

use super::body::{Body, unpacked};
use super::interaction::{Interaction, PlacedInteraction, headers, is_of_provider, unsupported};
use retake_core::json::Json;
use retake_wire::{self as wire, from_base64};

/// Returns the interactions of an archive; `None` if the file is not an archive.
pub(super) fn interactions(file: &Json) -> Option<Vec<PlacedInteraction>> {
    let entries = file.pointer("/log/entries")?.as_array()?.iter().enumerate();
    let found = entries
        .map(|(i, entry)| PlacedInteraction { place: format!("entry {}", i + 1), interaction: interaction(entry) });
    Some(found.collect())
}

fn interaction(entry: &Json) -> Result<Interaction, String> {
    let request = entry.get("request").ok_or("no `request`")?;
    let response = entry.get("response").ok_or("no `response`")?;
    let method = request.str_of("method").ok_or("no `request.method`")?.to_uppercase();
    let url = request.str_of("url").ok_or("no `request.url`")?.to_owned();
    let what = format!("{method} {}", url.split(['?', '#']).next().unwrap_or_default());
    let status = response.get("status").and_then(Json::as_u64).and_then(|status| u16::try_from(status).ok());
    let sent = |name: &str| header(request, name).unwrap_or_default();
    let is_socket = entry.str_of("_resourceType") == Some("websocket");
    if let Some(reason) = unsupported(if is_socket { "ws://" } else { &url }, sent) {
        return Err(reason.to_owned());
    }
    let status = status.filter(|status| *status > 0).ok_or_else(|| format!("{what}: it got no answer"))?;
    let content = response.get("content").unwrap_or(&Json::Null);
    let mut interaction = Interaction {
        method,
        url,
        headers: headers(pairs(request)),
        request: Body::Bytes(Vec::new()),
        status: Some(status),
        content_type: header(response, "content-type")
            .or_else(|| content.str_of("mimeType").map(str::to_owned))
            .filter(|kind| kind != "x-unknown")
            .unwrap_or_default(),
        response: Body::Bytes(Vec::new()),
    };
    // A page makes hundreds of requests. Only those that may be model calls are read completely.
    if interaction.method == "POST" || is_of_provider(&interaction.url) {
        let posted = request.get("postData").unwrap_or(&Json::Null);
        interaction.request = body(posted, header(request, "content-encoding"), &what, "the request")?;
        interaction.response = body(content, header(response, "content-encoding"), &what, "the answer")?;
        if !is_of_a_model(&interaction) {
            return Err(format!("{what}: names no model, so not a model call"));
        }
    }
    Ok(interaction)
}

/// Whether a request is a model call. Pages also post other things, but a model call names its model in the path or in the body.
fn is_of_a_model(interaction: &Interaction) -> bool {
    let path = interaction.url.split(['?', '#']).next().unwrap_or_default();
    let in_body = || match &interaction.request {
        Body::Bytes(bytes) => Json::parse(bytes).is_ok_and(|body| body.str_of("model").is_some()),
        Body::Json(body) => body.str_of("model").is_some(),
    };
    is_of_provider(path)
        || wire::api_of_path(path).is_some()
        || path.contains("/models/")
        || path.contains("/model/")
        || in_body()
}

fn body(of: &Json, encodings: Option<String>, what: &str, which: &str) -> Result<Body, String> {
    if let Some(file) = of.str_of("_file") {
        return Err(format!(
            "{what}: {which} is in a separate file, {file}: export the archive with its contents embedded"
        ));
    }
    let text = of.str_of("text").unwrap_or_default();
    let bytes = match of.str_of("encoding") {
        Some("base64") => from_base64(text).ok_or_else(|| format!("{what}: {which} is not base64"))?,
        _ => text.as_bytes().to_vec(),
    };
    let bytes = unpacked(bytes, &encodings.unwrap_or_default()).map_err(|e| format!("{what}: {which}: {e}"))?;
    Ok(Body::Bytes(bytes))
}

fn pairs(of: &Json) -> impl Iterator<Item = (&str, String)> {
    let headers = of.get("headers").and_then(Json::as_array).unwrap_or_default();
    headers.iter().filter_map(|header| Some((header.str_of("name")?, header.str_of("value")?.to_owned())))
}

fn header(of: &Json, name: &str) -> Option<String> {
    pairs(of).find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}
