//! Reads cassettes of VCR.py and of Ruby's VCR, including those in which pydantic-ai stores bodies as `parsed_body`, and of go-vcr,
//! versions 1 to 4, which has other names for some fields.

use super::body::{Body, unpacked};
use super::interaction::{Interaction, PlacedInteraction, headers, unsupported};
use super::yaml::Node;
use retake_wire::from_base64;

/// Returns the interactions of a cassette, which is go-vcr's if `go`; `None` if the file is not a cassette.
pub(super) fn interactions(file: &Node, go: bool) -> Option<Vec<PlacedInteraction>> {
    let named = file.get("interactions");
    // The oldest cassettes, which have no version, are the list itself.
    let list = if go { named } else { Some(named.or_else(|| file.get("http_interactions")).unwrap_or(file)) };
    let Some(list) = list.filter(|list| go || !(list.is_map() || list.is_null())) else {
        // A cassette whose list is empty or null.
        let is_list = |name: &str| if go { name == "interactions" } else { name.ends_with("interactions") };
        let is_empty = named.is_none() && file.entries().iter().any(|(name, _)| is_list(name));
        return is_empty.then(Vec::new);
    };
    let found = list.list()?.iter().enumerate().map(|(i, node)| PlacedInteraction {
        place: format!("interaction {} (line {})", i + 1, node.line),
        interaction: interaction(node, go),
    });
    Some(found.collect())
}

fn interaction(node: &Node, go: bool) -> Result<Interaction, String> {
    let request = node.get("request").ok_or("no `request`")?;
    let response = node.get("response").ok_or("no `response`")?;
    let method = match text(request, "method").filter(|method| !go || !method.is_empty()) {
        Some(method) => method.to_uppercase(),
        // In Go, an empty method means GET.
        None if go => "GET".to_owned(),
        None => return Err("no `request.method`".to_owned()),
    };
    let (own, other, whose) = if go { ("url", "uri", ("VCR.py", "vcr")) } else { ("uri", "url", ("go-vcr", "go-vcr")) };
    let url = text(request, own).ok_or_else(|| match (request.get(other), whose) {
        (Some(_), (whose, format)) => {
            format!(
                "no `request.{own}`, but a `request.{other}`: this is {whose}'s format, use `retake import {format}`"
            )
        }
        (None, _) => format!("no `request.{own}`"),
    })?;
    let status = if go { Ok(status_in_go(response)?) } else { status(response)? };
    if let Some(reason) = unsupported(&url, |name| header(request, name)) {
        return Err(reason.to_owned());
    }
    Ok(Interaction {
        method,
        url,
        headers: headers(sent(request)),
        request: body(request).map_err(|e| format!("the request: {e}"))?,
        status: status?,
        content_type: header(response, "content-type"),
        response: body(response).map_err(|e| format!("the answer: {e}"))?,
    })
}

/// Reads the status. The inner error is that it is none.
fn status(response: &Node) -> Result<Result<Option<u16>, String>, String> {
    let status = response.get("status").or_else(|| response.get("status_code")).ok_or("no `response.status`")?;
    let code = status.get("code").unwrap_or(status).text().unwrap_or_default().trim().parse();
    Ok(code.map(Some).map_err(|_| "`response.status`: expected an HTTP status".to_owned()))
}

/// Reads the status from `code: 200`, `status_code: 200` or `status: 200 OK`; `None` if the recording has none of them.
fn status_in_go(response: &Node) -> Result<Option<u16>, String> {
    let values = ["code", "status_code", "status"].iter().filter_map(|key| text(response, key));
    let mut values = values.filter(|value| !value.trim().is_empty() && value.trim() != "0").peekable();
    if values.peek().is_none() {
        return Ok(None);
    }
    let status = values.find_map(|value| value.split_whitespace().next()?.parse().ok());
    status.map(Some).ok_or_else(|| "`response.code`: expected an HTTP status".to_owned())
}

/// Returns the body of a request or a response, in any of the forms in which cassettes store it.
fn body(of: &Node) -> Result<Body, String> {
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
