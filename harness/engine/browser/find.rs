//! Finds the elements of a page that match a target right now.

use serde_json::{Value, json};

use super::page::Page;
use retake_base::error::Result;
use retake_scenario::{By, Target};

/// The script that finds elements and prepares them.
const SCRIPT: &str = include_str!("find.js");

/// The matching elements, in the order of the document.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The visible elements.
    pub(super) elements: Vec<Element>,
    /// The number of hidden elements.
    hidden: usize,
    /// Whether the only element is prepared, and where to click it.
    pub(super) ready: bool,
    pub(super) point: Option<[f64; 2]>,
    why: Option<String>,
    /// Why no element can ever match, or take what it is to get.
    pub(super) wrong: Option<String>,
}

/// A visible element.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Element {
    /// Its tag and the beginning of its text.
    pub(super) about: String,
    /// Its upper and lower edge on the page, in CSS pixels.
    pub(super) top: f64,
    pub(super) bottom: f64,
    /// Its whole box: `x`, `y`, `width` and `height`.
    pub(super) area: Value,
}

impl Found {
    /// Says why this is not exactly one element that can be used.
    pub(super) fn why_not_one(&self) -> String {
        if let Some(why) = &self.why {
            return why.clone();
        }
        match (self.elements.len(), self.hidden) {
            (0, 0) => "nothing on the page matches".to_owned(),
            (0, 1) => "the only match is hidden".to_owned(),
            (0, hidden) => format!("{hidden} elements match, but all are hidden"),
            (1, _) => format!("it is there: {}", self.elements[0].about),
            (count, _) => {
                let shown: Vec<&str> = self.elements.iter().take(4).map(|element| element.about.as_str()).collect();
                format!("{count} elements match: {}", shown.join(", "))
            }
        }
    }
}

/// Finds the elements that match a target. If it is the only one, prepares the element: for a `click`, it is scrolled into view, and
/// nothing is in front of it; to `fill` it, it has the focus, and its content is selected; or for an `upload`.
/// Fails if the page is just being left, or the target is not a valid selector.
pub(super) async fn find(page: &Page, target: &Target<String>, prepared: Option<&str>) -> Result<Found> {
    let (document, arguments) = asked(page, target, prepared).await?;
    let mut found = read(&page.function(SCRIPT, &document, arguments).await?);
    if let Some([x, y]) = &mut found.point {
        let origin = page.origin().await?;
        (*x, *y) = (*x + origin.left, *y + origin.top);
    }
    Ok(found)
}

/// Finds the elements that match a target, as `to` tells the script. Also returns an object of the page that holds them, for
/// `look.js`.
/// As [`find`].
pub(super) async fn find_all(page: &Page, target: &Target<String>, to: &str) -> Result<(Found, String)> {
    let (document, arguments) = asked(page, target, Some(to)).await?;
    let handle = page.object(SCRIPT, &document, arguments).await?;
    let answer = page.function("function () { return this.wrong ? this : this.answer }", &handle, Vec::new()).await?;
    Ok((read(&answer), handle))
}

/// Returns the document to look in, and the arguments for the script: the request, and the elements that have the wanted roles.
async fn asked(page: &Page, target: &Target<String>, to: Option<&str>) -> Result<(String, Vec<Value>)> {
    let document = page.document().await?;
    let mut request = request(target);
    request["to"] = json!(to);
    let mut given = Vec::new();
    if let Some(within) = &target.within {
        given = with_role(page, &document, within).await?;
        request["in"] = self::request(within);
        request["in"]["given"] = json!(given.len());
    }
    given.extend(with_role(page, &document, target).await?);
    given.insert(0, json!({ "value": request }));
    Ok((document, given))
}

fn request(target: &Target<String>) -> Value {
    let Target { by, text, exact, markdown, nth, .. } = target;
    json!({ "by": by.word(), "text": text, "exact": exact, "markdown": markdown, "nth": nth })
}

/// Returns the elements with the role of a target, as arguments; none if it is not found by its role.
async fn with_role(page: &Page, document: &str, target: &Target<String>) -> Result<Vec<Value>> {
    if target.by != By::Role {
        return Ok(Vec::new());
    }
    let (role, name) = target.text.split_once(char::is_whitespace).unwrap_or((&target.text, ""));
    // Chromium calls this role `image`.
    let role = if role == "img" { "image" } else { role };
    let query = json!({ "objectId": document, "role": role });
    let nodes = page.call("Accessibility.queryAXTree", query).await?;
    let mut arguments = Vec::new();
    for node in nodes["nodes"].as_array().into_iter().flatten() {
        let named = node["name"]["value"].as_str().unwrap_or_default();
        let fits = if target.exact && !name.trim().is_empty() {
            named.split_whitespace().eq(name.split_whitespace())
        } else {
            squeezed(named).contains(&squeezed(name))
        };
        if node["ignored"] == true || !fits {
            continue;
        }
        let resolve = json!({ "backendNodeId": node["backendDOMNodeId"] });
        let object = page.call("DOM.resolveNode", resolve).await?;
        arguments.push(json!({ "objectId": object["object"]["objectId"] }));
    }
    Ok(arguments)
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

fn read(answer: &Value) -> Found {
    let number = |value: &Value| value.as_f64().unwrap_or_default();
    let element = |element: &Value| {
        let top = number(&element["box"]["y"]);
        Element {
            about: element["about"].as_str().unwrap_or_default().to_owned(),
            top,
            bottom: top + number(&element["box"]["height"]),
            area: element["box"].clone(),
        }
    };
    Found {
        elements: answer["found"].as_array().into_iter().flatten().map(element).collect(),
        hidden: answer["hidden"].as_u64().and_then(|count| usize::try_from(count).ok()).unwrap_or_default(),
        ready: answer["ready"] == true,
        point: answer["point"].is_object().then(|| [number(&answer["point"]["x"]), number(&answer["point"]["y"])]),
        why: answer["why"].as_str().map(str::to_owned),
        wrong: answer["wrong"].as_str().map(str::to_owned),
    }
}
