//! Reads cassettes of VCR.py, of Ruby's VCR and of go-vcr, versions 1 to 4. pydantic-ai stores bodies as `parsed_body`.

use super::body::{Body, unpacked};
use super::interaction::{Interaction, PlacedInteraction, headers, unsupported};
use super::yaml::Node;
use retake_wire::from_base64;

/// Returns the interactions of a cassette; `None` if the file is not a cassette.
pub(super) fn interactions(file: &Node) -> Option<Vec<PlacedInteraction>> {
    let placed = |i: usize, line: usize, request, response| PlacedInteraction {
        place: format!("interaction {} (line {line})", i + 1),
        interaction: interaction(request, response),
    };
    let list_of = |name: &str| file.get(name).and_then(Node::list);
    // LangChain's tests write all requests, and then all responses.
    if let (Some(requests), Some(responses)) = (list_of("requests"), list_of("responses")) {
        let of_both = |i: usize| {
            let [request, response] = [requests, responses].map(|list| list.get(i).map(|node| &**node));
            placed(i, request.or(response).map_or(0, |node| node.line), request, response)
        };
        return Some((0..requests.len().max(responses.len())).map(of_both).collect());
    }
    // The oldest cassettes, which have no version, are the list itself. A cassette without interactions may have null.
    let list = file.get("interactions").or_else(|| file.get("http_interactions")).unwrap_or(file);
    let Some(list) = list.list() else {
        let mut entries = file.entries().iter();
        return entries.any(|(name, node)| name.ends_with("interactions") && node.is_null()).then(Vec::new);
    };
    let found = list.iter().enumerate();
    Some(found.map(|(i, node)| placed(i, node.line, node.get("request"), node.get("response"))).collect())
}

fn interaction(request: Option<&Node>, response: Option<&Node>) -> Result<Interaction, String> {
    let (request, response) = (request.ok_or("no `request`")?, response.ok_or("no `response`")?);
    let url = text(request, "uri").or_else(|| text(request, "url")).ok_or("no `request.uri`, and no `request.url`")?;
    if let Some(reason) = unsupported(&url, |name| header(request, name)) {
        return Err(reason.to_owned());
    }
    // In Go, an empty method means GET.
    let method = text(request, "method").filter(|method| !method.is_empty());
    Ok(Interaction {
        method: method.map_or("GET".to_owned(), |method| method.to_uppercase()),
        url,
        headers: headers(sent(request)),
        request: body(request),
        status: status(response)?,
        content_type: header(response, "content-type"),
        left: false,
        response: body(response),
    })
}

/// Reads the status from `code: 200`, `status_code: 200`, `status: {code: 200}` or `status: 200 OK`; `None` if the recording has
/// none of them.
fn status(response: &Node) -> Result<Option<u16>, String> {
    let of_status = response.get("status").and_then(|status| text(status, "code"));
    let values = ["code", "status_code", "status"].iter().filter_map(|key| text(response, key)).chain(of_status);
    let mut values = values.filter(|value| !value.trim().is_empty() && value.trim() != "0").peekable();
    if values.peek().is_none() {
        return Ok(None);
    }
    let status = values.find_map(|value| value.split_whitespace().next()?.parse().ok());
    status.map(Some).ok_or_else(|| "`response.status`: expected an HTTP status".to_owned())
}

/// Returns the body of a request or a response, in any of the forms in which cassettes store it.
fn body(of: &Node) -> Result<Body, String> {
    if let Some(parsed) = of.value("parsed_body") {
        return Ok(Body::Json(parsed.json()));
    }
    let encodings = header(of, "content-encoding");
    // VCR.py wrote the answers that httpx got as `content`.
    let bytes = match of.get("body").or_else(|| of.get("content")) {
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
    let wraps = body.entries().iter().all(|(name, _)| ["encoding", "string", "base64_string"].contains(&name.as_str()));
    if body.entries().is_empty() || !wraps {
        return Ok(None);
    }
    match (body.get("base64_string"), body.get("string")) {
        (Some(encoded), _) => {
            let encoded: String = encoded.text().unwrap_or_default().split_whitespace().collect();
            from_base64(&encoded).map(Some).ok_or_else(|| "`base64_string` is not base64".to_owned())
        }
        (None, Some(string)) => bytes(string),
        (None, None) => Ok(Some(Vec::new())),
    }
}

fn text(of: &Node, key: &str) -> Option<String> {
    of.get(key)?.text().map(std::borrow::Cow::into_owned)
}

/// Returns the values of a header, ignoring the case of its name.
fn header(of: &Node, name: &str) -> String {
    of.get("headers").and_then(|headers| headers.get_any_case(name)).map(values).unwrap_or_default()
}

/// Iterates over the headers of a request.
fn sent(request: &Node) -> impl Iterator<Item = (&str, String)> {
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
