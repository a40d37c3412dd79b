//! From the `[[step]]` that a person typed to a [`Step`] in which nothing is left to check.

use std::collections::BTreeMap;
use std::path::Path;

use toml::Spanned;

use super::body::fields_of_bodies;
use super::capture::CaptureFrom;
use super::raw::{RawStep, Texts};
use super::scope::{Scope, check_new_name};
use super::source::Source;
use super::step::{Action, Method, Request, Run, Step, StreamSpec, Take, Wait};
use super::template::Template;
use super::template_json::TemplateJson;
use super::toml_error::listed;
use super::words::{RawStream, RawStreamEnds};
use crate::error::{Error, Result};

/// Where the steps of a scenario come from.
pub(super) struct StepFiles<'a> {
    /// The `scenario.toml`.
    pub(super) source: &'a Source,
    pub(super) root: &'a Path,
    /// The scenario's folder, relative to the root.
    pub(super) dir: &'a Path,
}

/// What a step may be, by the key that says so.
const KINDS: [&str; 8] = ["get", "post", "put", "patch", "delete", "listen", "run", "together"];

impl StepFiles<'_> {
    /// Checks one step. Its captures are in scope only for the steps after it.
    pub(super) fn read(&self, raw: &Spanned<RawStep>, scope: &Scope) -> Result<Step> {
        let (start, raw) = (raw.span().start, raw.get_ref());
        if let Some(name) = raw.name.as_ref().filter(|name| name.get_ref().trim().is_empty()) {
            return Err(self.source.error(name.span().start, "the step's name is empty"));
        }
        let action = match self.kind(raw, start)? {
            "run" => Action::Run(self.run(raw, scope)?),
            "together" => Action::Together(self.together(raw, scope)?),
            kind => Action::Request(Box::new(self.request(raw, kind, scope)?)),
        };
        let streams = match &action {
            Action::Request(request) => request.stream().is_some(),
            Action::Run(_) => true,
            Action::Together(_) => false,
        };
        if let (Action::Request(_), true, Some(golden)) =
            (&action, streams, raw.golden.as_ref().filter(|golden| !golden.get_ref()))
        {
            return Err(self.source.error(golden.span().start, "a stream always goes into the golden"));
        }
        Ok(Step {
            name: raw.name.as_ref().map(|name| name.get_ref().clone()),
            capture: self.captures(raw, streams)?,
            golden: raw.golden.as_ref().map_or(streams, |golden| *golden.get_ref()),
            action,
            place: self.source.place(start),
        })
    }

    /// The one key that says what the step does.
    fn kind(&self, raw: &RawStep, start: usize) -> Result<&'static str> {
        let starts = [
            raw.get.as_ref().map(Spanned::span),
            raw.post.as_ref().map(Spanned::span),
            raw.put.as_ref().map(Spanned::span),
            raw.patch.as_ref().map(Spanned::span),
            raw.delete.as_ref().map(Spanned::span),
            raw.listen.as_ref().map(Spanned::span),
            raw.run.as_ref().map(Spanned::span),
            raw.together.as_ref().map(Spanned::span),
        ];
        let given: Vec<_> =
            KINDS.into_iter().zip(starts).filter_map(|(kind, span)| Some((kind, span?.start))).collect();
        if let [(kind, _)] = given[..] {
            return Ok(kind);
        }
        let kinds: Vec<&str> = given.iter().map(|(kind, _)| *kind).collect();
        let error = match given.last() {
            None => self.source.error(start, "this step sends nothing"),
            Some((_, second)) => {
                let both = if kinds.iter().all(|kind| KINDS[..5].contains(kind)) { "methods" } else { "kinds" };
                self.source.error(*second, format!("this step has {} {both}: {}", kinds.len(), listed(&kinds)))
            }
        };
        Err(error.help(format!("a step has exactly one of {}", listed(&KINDS))))
    }

    fn request(&self, raw: &RawStep, kind: &str, scope: &Scope) -> Result<Request> {
        let of_run = [
            ("cwd", raw.cwd.as_ref().map(|cwd| cwd.span().start)),
            ("env", raw.env.as_ref().map(|env| env.span().start)),
            ("exit", raw.exit.as_ref().map(|exit| exit.span().start)),
        ];
        self.refuse(&of_run, "belongs to a step with `run`")?;
        if kind == "listen" {
            self.refuse(&fields_of_bodies(raw), "belongs to a request that sends something, and `listen` does not")?;
            let ends = [
                ("cancel", raw.cancel.as_ref().map(|cancel| cancel.span().start)),
                ("wait", raw.wait.as_ref().map(|wait| wait.span().start)),
            ];
            self.refuse(&ends, "belongs to a step that waits for its answer, and `listen` does not")?;
        }
        let (method, path) = match kind {
            "post" => (Method::Post, &raw.post),
            "put" => (Method::Put, &raw.put),
            "patch" => (Method::Patch, &raw.patch),
            "delete" => (Method::Delete, &raw.delete),
            "listen" => (Method::Get, &raw.listen),
            _ => (Method::Get, &raw.get),
        };
        let path = path.as_ref().map(|path| self.path(path)).transpose()?.ok_or_else(|| Error::new("no path"))?;
        let request = Request {
            method,
            path,
            headers: raw.headers.as_ref().map_or_else(|| Ok(Vec::new()), |headers| self.headers(headers.get_ref()))?,
            body: self.body(raw)?,
            status: raw.status.as_ref().map(|statuses| statuses.get_ref().0.clone()),
            reconnect: raw.reconnect.as_ref().is_some_and(|reconnect| *reconnect.get_ref()),
            take: self.take(raw, kind, scope)?,
        };
        if let (true, Some(reconnect)) = (request.reconnect, &raw.reconnect) {
            self.check_reconnect(&request, reconnect, scope)?;
        }
        scope.check(&request.path)?;
        request.headers.iter().try_for_each(|(_, value)| scope.check(value))?;
        request.body.check(scope)?;
        Ok(request)
    }

    fn check_reconnect(&self, request: &Request, at: &Spanned<bool>, scope: &Scope) -> Result<()> {
        let fail = |what: &str| self.source.error(at.span().start, what);
        if !scope.has_stream() {
            let error = fail("there is no stream before this step to come back to");
            return Err(error.help("`reconnect` sends the id of the last event of the latest stream before it"));
        }
        if request.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("last-event-id")) {
            return Err(fail("the header `Last-Event-ID` is given, and `reconnect` sends its own"));
        }
        Ok(())
    }

    fn take(&self, raw: &RawStep, kind: &str, scope: &Scope) -> Result<Take> {
        let stream = match &raw.stream {
            None => None,
            Some(stream) => match stream.get_ref() {
                RawStream::Flag(false) => None,
                RawStream::Flag(true) => Some(StreamSpec::default()),
                RawStream::Table(ends) => Some(self.stream(ends)?),
            },
        };
        if let Some(wait) = &raw.wait {
            let fail = |what: &str| self.source.error(wait.span().start, what);
            if kind != "get" {
                return Err(fail("`wait` asks again and again, so it belongs to a `get`"));
            }
            if stream.is_some() || raw.cancel.is_some() {
                return Err(fail("`wait` reads a JSON body, and this step has a stream"));
            }
            let is = TemplateJson::from_toml(&wait.get_ref().is, self.source)?;
            scope.check_json(&is)?;
            return Ok(Take::Until(Wait { json: wait.get_ref().json.clone(), is }));
        }
        let reconnects = raw.reconnect.as_ref().is_some_and(|reconnect| *reconnect.get_ref());
        let stream = match &raw.cancel {
            Some(cancel) => Some(self.cancelled(stream.unwrap_or_default(), cancel)?),
            None if reconnects || kind == "listen" => Some(stream.unwrap_or_default()),
            None => stream,
        };
        Ok(match stream {
            Some(stream) if kind == "listen" => Take::Listen(stream),
            Some(stream) => Take::Stream(stream),
            None => Take::Body,
        })
    }

    fn cancelled(&self, stream: StreamSpec, cancel: &Spanned<super::raw::RawCancel>) -> Result<StreamSpec> {
        let after = &cancel.get_ref().after;
        if after.get_ref().is_empty() {
            return Err(self.source.error(after.span().start, "the event's name is empty"));
        }
        if stream.last.is_some() {
            let error =
                self.source.error(cancel.span().start, "a stream has either `last` or `cancel`, this one has both");
            return Err(error.help("with `last` the stream is over, with `cancel` the client leaves midway"));
        }
        Ok(StreamSpec { last: Some(after.get_ref().clone()), cancel: true, ..stream })
    }

    fn run(&self, raw: &RawStep, scope: &Scope) -> Result<Run> {
        let start = |span: Option<std::ops::Range<usize>>| span.map(|span| span.start);
        let of_request = [
            ("headers", start(raw.headers.as_ref().map(Spanned::span))),
            ("status", start(raw.status.as_ref().map(Spanned::span))),
            ("reconnect", start(raw.reconnect.as_ref().map(Spanned::span))),
            ("wait", start(raw.wait.as_ref().map(Spanned::span))),
        ];
        self.refuse(&of_request, "belongs to a request, and this step runs a command")?;
        self.refuse(&fields_of_bodies(raw), "belongs to a request, and this step runs a command")?;
        let command = raw.run.as_ref().ok_or_else(|| Error::new("no command"))?;
        if command.get_ref().first().is_none_or(|program| program.get_ref().is_empty()) {
            return Err(self.source.error(command.span().start, "the command names no program"));
        }
        let template = |text: &Spanned<String>| {
            let template = Template::parse(text.get_ref(), self.source, text.span())?;
            scope.check(&template)?;
            Ok::<_, Error>(template)
        };
        let cwd = raw.cwd.as_ref().map(template).transpose()?;
        if let (Some(named), Some(cwd)) = (&raw.cwd, cwd.as_ref().filter(|cwd| cwd.is_plain()))
            && !self.root.join(cwd.source()).is_dir()
        {
            return Err(self.source.error(named.span().start, format!("there is no folder `{}`", cwd.source())));
        }
        let env = raw.env.as_ref().map(Spanned::get_ref).into_iter().flatten().map(|(name, value)| {
            super::suite::check_variable(name, self.source)?;
            Ok((name.get_ref().clone(), template(value)?))
        });
        let env = env.collect::<Result<_>>()?;
        let stream = match self.take(raw, "run", scope)? {
            Take::Stream(stream) => stream,
            _ => StreamSpec::default(),
        };
        Ok(Run {
            command: command.get_ref().iter().map(template).collect::<Result<_>>()?,
            cwd,
            env,
            exit: raw.exit.as_ref().map_or(0, |exit| *exit.get_ref()),
            stream,
        })
    }

    fn together(&self, raw: &RawStep, scope: &Scope) -> Result<Vec<Step>> {
        let start = |span: Option<std::ops::Range<usize>>| span.map(|span| span.start);
        let of_parts = [
            ("headers", start(raw.headers.as_ref().map(Spanned::span))),
            ("status", start(raw.status.as_ref().map(Spanned::span))),
            ("capture", raw.capture.as_ref().map(|capture| capture.span().start)),
            ("stream", start(raw.stream.as_ref().map(Spanned::span))),
            ("golden", start(raw.golden.as_ref().map(Spanned::span))),
            ("cancel", start(raw.cancel.as_ref().map(Spanned::span))),
            ("reconnect", start(raw.reconnect.as_ref().map(Spanned::span))),
            ("wait", start(raw.wait.as_ref().map(Spanned::span))),
            ("cwd", start(raw.cwd.as_ref().map(Spanned::span))),
            ("env", start(raw.env.as_ref().map(Spanned::span))),
            ("exit", start(raw.exit.as_ref().map(Spanned::span))),
        ];
        self.refuse(&of_parts, "belongs to one of the steps in `together`")?;
        self.refuse(&fields_of_bodies(raw), "belongs to one of the steps in `together`")?;
        let parts = raw.together.as_ref().ok_or_else(|| Error::new("no steps"))?;
        if parts.get_ref().is_empty() {
            return Err(self.source.error(parts.span().start, "`together` holds no step"));
        }
        let mut steps: Vec<Step> = Vec::with_capacity(parts.get_ref().len());
        for part in parts.get_ref() {
            let inner = part.get_ref();
            let nested = [
                ("together", inner.together.as_ref().map(|together| together.span().start)),
                ("listen", inner.listen.as_ref().map(|listen| listen.span().start)),
            ];
            self.refuse(&nested, "cannot stand in `together`: put it into a step of its own")?;
            let step = self.read(part, scope)?;
            for (name, _) in inner.capture.iter().flat_map(Spanned::get_ref) {
                if steps.iter().any(|earlier| earlier.capture.contains_key(name.get_ref())) {
                    let what = format!("another step of `together` captures `{}` too", name.get_ref());
                    return Err(self.source.error(name.span().start, what));
                }
            }
            steps.push(step);
        }
        Ok(steps)
    }

    /// Refuses the first field that is there and does not fit.
    fn refuse(&self, fields: &[(&str, Option<usize>)], why: &str) -> Result<()> {
        match fields.iter().find_map(|(field, at)| Some((field, (*at)?))) {
            Some((field, at)) => Err(self.source.error(at, format!("`{field}` {why}"))),
            None => Ok(()),
        }
    }

    fn path(&self, path: &Spanned<String>) -> Result<Template> {
        let template = Template::parse(path.get_ref(), self.source, path.span())?;
        if !path.get_ref().starts_with('/') && !path.get_ref().starts_with("{{") {
            let error = template.error(format!("the path `{}` does not start with `/`", path.get_ref()));
            return Err(error.help("the system's address comes before it: write the path alone"));
        }
        if let Some(c) = path.get_ref().chars().find(|c| c.is_control()) {
            return Err(template.error(format!("the path holds {c:?}")));
        }
        Ok(template)
    }

    fn headers(&self, raw: &Texts) -> Result<Vec<(String, Template)>> {
        let mut headers: Vec<(String, Template)> = Vec::with_capacity(raw.len());
        for (name, value) in raw {
            check_header_name(name, self.source)?;
            if headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name.get_ref())) {
                let what = format!("the header `{}` is given twice: case does not tell headers apart", name.get_ref());
                return Err(self.source.error(name.span().start, what));
            }
            if value.get_ref().contains(|c: char| c.is_control() && c != '\t') {
                return Err(self.source.error(value.span().start, "a header's value is one line of text"));
            }
            headers.push((name.get_ref().clone(), Template::parse(value.get_ref(), self.source, value.span())?));
        }
        Ok(headers)
    }

    fn captures(&self, raw: &RawStep, stream: bool) -> Result<BTreeMap<String, CaptureFrom>> {
        let mut captures = BTreeMap::new();
        for (name, from) in raw.capture.iter().flat_map(Spanned::get_ref) {
            check_new_name(name, self.source)?;
            let at = from.span().start;
            let parsed = CaptureFrom::parse(from.get_ref()).map_err(|(what, help)| {
                let error = self.source.error(at, what);
                help.into_iter().fold(error, Error::help)
            })?;
            let error = match &parsed {
                CaptureFrom::Sse { .. } if raw.listen.is_some() => self
                    .source
                    .error(at, "the events of `listen` come while later steps run, so none can be captured here"),
                CaptureFrom::Header(_) | CaptureFrom::Cookie(_) if raw.run.is_some() => {
                    let error = self.source.error(at, "a command answers without headers");
                    error.help("read an event of its output with `sse:EVENT:/pointer`")
                }
                CaptureFrom::Sse { .. } if !stream => {
                    let error = self.source.error(at, "`sse:` reads a stream, and this step has none");
                    error.help("add `stream = true`, or read the body with `json:/pointer`")
                }
                CaptureFrom::Json(_) if stream => {
                    let error = self.source.error(at, "`json:` reads a JSON body, and this step has a stream");
                    error.help("read an event with `sse:EVENT:/pointer`")
                }
                _ => {
                    captures.insert(name.get_ref().clone(), parsed);
                    continue;
                }
            };
            return Err(error);
        }
        Ok(captures)
    }

    fn stream(&self, ends: &RawStreamEnds) -> Result<StreamSpec> {
        let event = |name: &Option<Spanned<String>>| match name {
            Some(name) if name.get_ref().is_empty() => {
                Err(self.source.error(name.span().start, "the event's name is empty"))
            }
            name => Ok(name.as_ref().map(|name| name.get_ref().clone())),
        };
        Ok(StreamSpec { first: event(&ends.first)?, last: event(&ends.last)?, cancel: false })
    }
}

/// Refuses what is no name of an HTTP header.
pub(super) fn check_header_name(name: &Spanned<String>, source: &Source) -> Result<()> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if !name.get_ref().is_empty() && name.get_ref().chars().all(token) {
        return Ok(());
    }
    Err(source.error(name.span().start, format!("`{}` is no name of a header", name.get_ref())))
}
