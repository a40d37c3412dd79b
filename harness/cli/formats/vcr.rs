//! Reads cassettes of VCR.py and of Ruby's VCR, including those in which pydantic-ai stores bodies as `parsed_body`.

use super::body::{Body, unpacked};
use super::interaction::{Interaction, PlacedInteraction, headers, unsupported};
use super::yaml::Node;
use retake_wire::from_base64;

/// Returns the interactions of a cassette; `None` if the file is not a cassette.
pub(super) fn interactions(file: &Node) -> Option<Vec<PlacedInteraction>> {
    // The oldest cassettes, which have no version, are the list itself.
    let list = file.get("interactions").or_else(|| file.get("http_interactions")).unwrap_or(file);
    if list.is_map() || list.is_null() {
        return file.get("interactions").is_none().then(Vec::new).filter(|_| has_no_interaction(file));
    }
    let found = list.list()?.iter().enumerate().map(|(i, node)| PlacedInteraction {
        place: format!("interaction {} (line {})", i + 1, node.line),
        interaction: interaction(node),
    });
    Some(found.collect())
}

/// Whether a file is a cassette whose `interactions` are empty or null.
fn has_no_interaction(file: &Node) -> bool {
    file.entries().iter().any(|(name, _)| name.ends_with("interactions"))
}

fn interaction(node: &Node) -> Result<Interaction, String> {
    let request = node.get("request").ok_or("no `request`")?;
    let response = node.get("response").ok_or("no `response`")?;
    let method = text(request, "method").ok_or("no `request.method`")?;
    let url = text(request, "uri").ok_or_else(|| match request.get("url") {
        Some(_) => "no `request.uri`, but a `request.url`: this is go-vcr's format, use `retake import go-vcr`",
        None => "no `request.uri`",
    })?;
    let status = response.get("status").or_else(|| response.get("status_code")).ok_or("no `response.status`")?;
    let code = status.get("code").unwrap_or(status).text().unwrap_or_default().trim().parse::<u16>();
    if let Some(reason) = unsupported(&url, |name| header(request, name)) {
        return Err(reason.to_owned());
    }
    Ok(Interaction {
        method: method.to_uppercase(),
        url,
        headers: headers(sent(request)),
        request: body(request).map_err(|e| format!("the request: {e}"))?,
        status: Some(code.map_err(|_| "`response.status`: expected an HTTP status")?),
        content_type: header(response, "content-type"),
        response: body(response).map_err(|e| format!("the answer: {e}"))?,
    })
}

/// Returns the body of a request or a response, in any of the forms in which cassettes store it.
pub(super) fn body(of: &Node) -> Result<Body, String> {
    if let Some(parsed) = of.get("parsed_body") {
        return Ok(Body::Json(parsed.json()));
    }
    let encodings = header(of, "content-encoding");
    let bytes = match of.get("body") {
        None => Vec::new(),
        Some(body) => match bytes(body)? {
            Some(bytes) => bytes,
            None => return Ok(Body::Json(body.json())),
        },
    };
    unpacked(bytes, &encodings).map(Body::Bytes)
}

/// Returns the bytes of a body; `None` if it is stored as a parsed value.
fn bytes(body: &Node) -> Result<Option<Vec<u8>>, String> {
    if let Some(text) = body.bytes() {
        return Ok(Some(text));
    }
    let wraps = |names: &[&str]| body.entries().iter().all(|(name, _)| names.contains(&name.as_str()));
    if !body.is_map() || body.entries().is_empty() {
        return Ok(None);
    }
    if wraps(&["encoding", "string", "base64_string"]) {
        return match (body.get("base64_string"), body.get("string")) {
            (Some(encoded), _) => {
                let encoded: String = encoded.text().unwrap_or_default().split_whitespace().collect();
                from_base64(&encoded).map(Some).ok_or_else(|| "`base64_string` is not base64".to_owned())
            }
            (None, Some(string)) => bytes(string),
            (None, None) => Ok(Some(Vec::new())),
        };
    }
    // Python's io.BytesIO, as PyYAML writes it.
    if wraps(&["state"]) {
        return Ok(body.get("state").and_then(|state| state.list()?.first()?.bytes()));
    }
    Ok(None)
}

pub(super) fn text(of: &Node, key: &str) -> Option<String> {
    of.get(key)?.text().map(std::borrow::Cow::into_owned)
}

/// Returns the values of a header, ignoring the case of its name.
pub(super) fn header(of: &Node, name: &str) -> String {
    of.get("headers").and_then(|headers| headers.get_any_case(name)).map(values).unwrap_or_default()
}

/// Iterates over the headers of a request.
pub(super) fn sent(request: &Node) -> impl Iterator<Item = (&str, String)> {
    let entries = request.get("headers").map(Node::entries).unwrap_or_default();
    entries.iter().map(|(name, node)| (name.as_str(), values(node)))
}

fn values(node: &Node) -> String {
    let of_scalar =
        |node: &Node| if node.is_null() { String::new() } else { node.text().unwrap_or_default().into_owned() };
    match node.list() {
        Some(list) => list.iter().map(|node| of_scalar(node)).collect::<Vec<_>>().join(", "),
        None => of_scalar(node),
    }
}
