//! Reads HTTP archives (HAR 1.2), which browsers, mitmproxy, Playwright and Polly write.

use std::collections::HashSet;

use super::body::{Body, unpacked};
use super::interaction::{Interaction, PlacedInteraction, headers, host_and_path, is_of_provider, unsupported};
use retake_core::json::Json;
use retake_wire::{self as wire, from_base64};

/// Returns the interactions of an archive; `None` if the file is not an archive.
pub(super) fn interactions(file: &Json) -> Option<Vec<PlacedInteraction>> {
    let entries = file.pointer("/log/entries")?.as_array()?;
    let pages: HashSet<&str> = entries.iter().filter_map(host_of_a_page).collect();
    let found = entries.iter().enumerate().map(|(i, entry)| PlacedInteraction {
        place: format!("entry {}", i + 1),
        interaction: interaction(entry, &pages),
    });
    Some(found.collect())
}

fn interaction(entry: &Json, pages: &HashSet<&str>) -> Result<Interaction, String> {
    let request = entry.get("request").ok_or("no `request`")?;
    let response = entry.get("response").ok_or("no `response`")?;
    let method = request.str_of("method").ok_or("no `request.method`")?.to_uppercase();
    let url = request.str_of("url").ok_or("no `request.url`")?.to_owned();
    let status = response.get("status").and_then(Json::as_u64).and_then(|status| u16::try_from(status).ok());
    let sent = |name: &str| header(request, name).unwrap_or_default();
    let is_socket = entry.str_of("_resourceType") == Some("websocket");
    if let Some(reason) = unsupported(if is_socket { "ws://" } else { &url }, sent) {
        return Err(reason.to_owned());
    }
    let content = response.get("content").unwrap_or(&Json::Null);
    let interaction = Interaction {
        method,
        url,
        headers: headers(pairs(request)),
        request: body(request.get("postData").unwrap_or(&Json::Null), request.get("bodySize"), request),
        status: status.filter(|status| *status > 0),
        content_type: header(response, "content-type")
            .or_else(|| content.str_of("mimeType").map(str::to_owned))
            .filter(|kind| kind != "x-unknown")
            .unwrap_or_default(),
        // Chrome and Playwright say so, each with a field of its own.
        left: ["_error", "_failureText"]
            .iter()
            .any(|field| response.str_of(field).is_some_and(|why| why.contains("ABORTED"))),
        response: body(content, content.get("size"), response),
    };
    let what = interaction.what();
    if interaction.status.is_none() {
        return Err(format!("{what}: it got no answer"));
    }
    // A page sends much else, to its own host and to others.
    let to_a_page = host_and_path(&interaction.url).is_some_and(|(host, _)| pages.contains(host));
    match &*interaction.method {
        "POST" if !pages.is_empty() && !is_of_a_model(&interaction) => {
            Err(format!("{what}: names no model, so not a model call"))
        }
        method if method != "POST" && to_a_page && !is_of_provider(&interaction.url) => {
            Err(format!("{what}: not a POST request, so not a model call"))
        }
        _ => Ok(interaction),
    }
}

/// The host of an entry that is a part of a page, which a browser loaded.
fn host_of_a_page(entry: &Json) -> Option<&str> {
    let kind = entry.pointer("/response/content")?.str_of("mimeType")?;
    let of_page = ["text/html", "javascript", "text/css"].iter().any(|own| kind.contains(own));
    let request = entry.get("request").filter(|request| of_page && request.str_of("method") == Some("GET"))?;
    host_and_path(request.str_of("url")?).map(|(host, _)| host)
}

/// Whether a request is a model call, which names its model in the path or in the body.
fn is_of_a_model(interaction: &Interaction) -> bool {
    let path = interaction.url.split(['?', '#']).next().unwrap_or_default();
    let in_body = || match &interaction.request {
        Ok(Body::Bytes(bytes)) => Json::parse(bytes).is_ok_and(|body| body.str_of("model").is_some()),
        Ok(Body::Json(body)) => body.str_of("model").is_some(),
        Err(_) => false,
    };
    is_of_provider(path)
        || wire::api_of_path(path).is_some()
        || path.contains("/models/")
        || path.contains("/model/")
        || in_body()
}

/// Returns the body of a request or a response, of which `size` and the headers in `message` tell more.
fn body(of: &Json, size: Option<&Json>, message: &Json) -> Result<Body, String> {
    if let Some(file) = of.str_of("_file") {
        return Err(format!("it is in a separate file, {file}: export the archive with its contents embedded"));
    }
    let text = of.str_of("text").unwrap_or_default();
    let has_size = size.and_then(Json::as_u64).is_some_and(|size| size > 0);
    // Browsers may write a form as its fields alone.
    if text.is_empty() && (has_size || of.get("params").is_some_and(Json::is_truthy)) {
        return Err("its body was not recorded".to_owned());
    }
    let encodings = header(message, "content-encoding").unwrap_or_default();
    let is_base64 = of.str_of("encoding") == Some("base64");
    let bytes = if is_base64 || !encodings.is_empty() || of.get("_isBinary").is_some_and(Json::is_truthy) {
        // Polly writes what is compressed as a list of its pieces, in base64, and up to version 5 in hexadecimal.
        let list = Json::parse(text.as_bytes()).ok();
        let pieces = list.as_ref().and_then(Json::as_array).and_then(|list| list.iter().map(Json::as_str).collect());
        let pieces: Vec<&str> = pieces.unwrap_or_else(|| vec![text]);
        let all =
            |decode: fn(&str) -> Option<Vec<u8>>| pieces.iter().map(|piece| decode(piece)).collect::<Option<Vec<_>>>();
        let of_base64 = is_base64.then(|| all(from_base64)).flatten();
        match of_base64.or_else(|| all(from_hex)) {
            Some(pieces) => pieces.concat(),
            None if is_base64 => return Err("it is not base64".to_owned()),
            None => text.as_bytes().to_vec(),
        }
    } else {
        text.as_bytes().to_vec()
    };
    unpacked(bytes, &encodings).map(Body::Bytes)
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_hex.then(|| (0..text.len()).step_by(2).filter_map(|i| u8::from_str_radix(&text[i..i + 2], 16).ok()).collect())
}

fn pairs(of: &Json) -> impl Iterator<Item = (&str, String)> {
    let headers = of.get("headers").and_then(Json::as_array).unwrap_or_default();
    headers.iter().filter_map(|header| Some((header.str_of("name")?, header.str_of("value")?.to_owned())))
}

fn header(of: &Json, name: &str) -> Option<String> {
    pairs(of).find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
}
