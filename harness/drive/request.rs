//! A step's request, as it is sent.

use crate::error::Result;
use crate::scenario::{self, Context, RenderedBody, Template};

/// A rendered request.
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: RenderedBody,
    /// The statuses that are right.
    pub(super) status: Option<Vec<u16>>,
    /// What the golden calls it.
    pub(super) title: String,
}

impl Request {
    /// The request of a step: to the system at `base`, with `last_id` where it comes back to a stream.
    ///
    /// # Errors
    /// Where a template cannot be rendered, or gives what a path or a header cannot hold; what `base` and `last_id` say.
    pub(super) fn of<'a>(
        step: &scenario::Request,
        context: &Context,
        base: impl FnOnce() -> Result<&'a str>,
        last_id: impl FnOnce() -> Result<String>,
    ) -> Result<Request> {
        let path = path(&step.path, context)?;
        let base = base()?;
        let mut headers = Vec::with_capacity(step.headers.len() + 1);
        for (name, value) in &step.headers {
            let text = value.render_text(context)?;
            if let Some(c) = text.chars().find(|c| c.is_control() && *c != '\t') {
                let what = format!("the header `{name}` would hold {c:?}, and a header's value is one line of text");
                return Err(value.error(what));
            }
            headers.push((name.clone(), text));
        }
        let mut title = format!("{} {path}", step.method);
        if let Some(event) = step.stream().filter(|stream| stream.cancel).and_then(|stream| stream.last.as_ref()) {
            title = format!("{title}, left after {event}");
        }
        if step.reconnect {
            headers.push(("Last-Event-ID".to_owned(), last_id()?));
            title.push_str(", reconnected");
        }
        let body = step.body.render(context)?;
        let url = format!("{base}{path}");
        Ok(Request { method: step.method.as_str(), url, headers, body, status: step.status.clone(), title })
    }
}

/// A path as it is sent.
///
/// # Errors
/// Where it cannot be rendered, or gives what is not a path.
pub(super) fn path(template: &Template, context: &Context) -> Result<String> {
    let path = template.render_text(context)?;
    if path.starts_with('/') {
        return Ok(path);
    }
    // Behind the system's address another beginning could name another machine.
    let error = template.error(format!("the path is `{path}`, which does not start with `/`"));
    Err(error.help("the system's address comes before it: a template gives the path alone"))
}
