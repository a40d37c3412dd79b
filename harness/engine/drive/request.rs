//! The request of a step, with all templates rendered.

use super::driver::Driver;
use retake_base::error::Result;
use retake_scenario::{self as scenario, Context, RenderedBody, Template};

/// A rendered request.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) method: &'static str,
    pub(super) url: String,
    pub(super) headers: Vec<(String, String)>,
    pub(super) body: RenderedBody,
    /// The expected statuses; any 2xx if absent.
    pub(super) status: Option<Vec<u16>>,
    /// The line that stands for the request in the golden.
    pub(super) title: String,
}

impl Request {
    /// Whether it has a header of this name, in whatever case.
    pub(super) fn has_header(&self, name: &str) -> bool {
        self.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name))
    }
}

impl Driver<'_> {
    /// Renders the request of a step to the system, and adds the texts that it sends to those of the scenario. If it reconnects to a
    /// stream, it sends the id of the last event.
    /// Fails if a template cannot be rendered, or renders to something that cannot be a path or a header; if there is no system; and if
    /// there is no such id.
    pub(super) fn rendered(&self, step: &scenario::Request) -> Result<Request> {
        let path = path(&step.path, &self.context)?;
        let base = self.base()?;
        let mut headers = Vec::with_capacity(step.headers.len() + 1);
        for (name, value) in &step.headers {
            let text = value.render_text(&self.context)?;
            if let Some(c) = text.chars().find(|c| c.is_control() && *c != '\t') {
                let what = format!("the header `{name}` would contain {c:?}, and a header's value is one line of text");
                return Err(value.error(what));
            }
            headers.push((name.clone(), text));
        }
        let mut title = format!("{} {path}", step.method);
        if let Some(event) = step.stream().filter(|stream| stream.cancel).and_then(|stream| stream.last.as_ref()) {
            title = format!("{title}, left after {event}");
        }
        if step.reconnect {
            headers.push(("Last-Event-ID".to_owned(), self.id_to_come_back_with()?));
            title.push_str(", reconnected");
        }
        let body = step.body.render(&self.context)?;
        let mut sent = self.sent.lock();
        let fields = match &body {
            RenderedBody::None => &[][..],
            RenderedBody::Json(json) => {
                sent.add(json);
                &[]
            }
            RenderedBody::Form(fields) | RenderedBody::Files(fields, _) => fields,
        };
        fields.iter().chain(&headers).for_each(|(_, value)| sent.add_text(value));
        let url = format!("{base}{path}");
        let query = url.split_once('?').map(|(_, query)| query).unwrap_or_default();
        url::form_urlencoded::parse(query.as_bytes()).for_each(|(_, value)| sent.add_text(&value));
        Ok(Request { method: step.method.as_str(), url, headers, body, status: step.status.clone(), title })
    }
}

/// Renders a path.
/// Fails if it cannot be rendered, or does not render to a path.
pub(super) fn path(template: &Template, context: &Context) -> Result<String> {
    let path = template.render_text(context)?;
    if path.starts_with('/') {
        return Ok(path);
    }
    // Text that does not start with `/`, appended to the system's address, could turn it into the address of another machine.
    let error = template.error(format!("the path is `{path}`, which does not start with `/`"));
    Err(error.help("retake puts the system's address before it: a template gives only the path"))
}
