//! One `[[step]]`: a request, what it must answer, and what later steps need of the answer.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use toml::Spanned;

use super::capture::CaptureFrom;
use super::context::Context;
use super::raw::{RawStep, Texts};
use super::scope::{Scope, check_new_name};
use super::source::Source;
use super::template::Template;
use super::template_json::TemplateJson;
use super::toml_error::{listed, suggest};
use super::words::{RawStream, RawStreamEnds};
use crate::error::{Place, Result};
use crate::json::Json;

/// One request of a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// What reports call the step.
    pub name: Option<String>,
    /// The request's method.
    pub method: Method,
    /// Path and query, from the `/` on.
    pub path: Template,
    /// Header names as they were written, sorted, with their values.
    pub headers: Vec<(String, Template)>,
    /// What is sent.
    pub body: StepBody,
    /// The statuses that are right; without them any 2xx is.
    pub status: Option<Vec<u16>>,
    /// Names for later steps, and where in the answer their values are.
    pub capture: BTreeMap<String, CaptureFrom>,
    /// Set where the answer is an event stream.
    pub stream: Option<StreamSpec>,
    /// Whether the answer goes into the golden: a stream always does.
    pub golden: bool,
    /// Where the step starts in `scenario.toml`.
    pub place: Place,
}

/// A request method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
}

impl Method {
    /// The method as HTTP writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a step sends.
#[derive(Clone, Debug, PartialEq)]
pub enum StepBody {
    /// Nothing.
    None,
    /// The `json` of the step.
    Json(TemplateJson),
    /// The content of `json_file`, read when the scenario was; the path is relative to the scenario's folder.
    JsonFile(PathBuf, TemplateJson),
}

impl StepBody {
    /// The body to send, if there is one.
    ///
    /// # Errors
    /// As [`TemplateJson::render`].
    pub fn render(&self, context: &Context) -> Result<Option<Json>> {
        match self {
            StepBody::None => Ok(None),
            StepBody::Json(json) | StepBody::JsonFile(_, json) => json.render(context).map(Some),
        }
    }
}

/// Which events a stream starts and ends with, where the step says so.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StreamSpec {
    /// The event that has to come first.
    pub first: Option<String>,
    /// The event at which the capture stops; the stream's end before it is a failure.
    pub last: Option<String>,
}

/// Where the steps of a scenario come from.
pub(super) struct StepFiles<'a> {
    /// The `scenario.toml`.
    pub(super) source: &'a Source,
    pub(super) root: &'a Path,
    /// The scenario's folder, relative to the root.
    pub(super) dir: &'a Path,
}

impl StepFiles<'_> {
    /// Checks one step. Its captures are in scope only for the steps after it.
    pub(super) fn read(&self, raw: &Spanned<RawStep>, scope: &Scope) -> Result<Step> {
        let (start, raw) = (raw.span().start, raw.get_ref());
        let (method, path) = self.request(raw, start)?;
        let stream = match &raw.stream {
            None | Some(RawStream::Flag(false)) => None,
            Some(RawStream::Flag(true)) => Some(StreamSpec::default()),
            Some(RawStream::Table(ends)) => Some(self.stream(ends)?),
        };
        if let (Some(_), Some(golden)) = (&stream, raw.golden.as_ref().filter(|golden| !golden.get_ref())) {
            return Err(self.source.error(golden.span().start, "a stream always goes into the golden"));
        }
        if let Some(name) = raw.name.as_ref().filter(|name| name.get_ref().trim().is_empty()) {
            return Err(self.source.error(name.span().start, "the step's name is empty"));
        }
        let step = Step {
            name: raw.name.as_ref().map(|name| name.get_ref().clone()),
            method,
            path,
            headers: raw.headers.as_ref().map_or_else(|| Ok(Vec::new()), |headers| self.headers(headers))?,
            body: self.body(raw)?,
            status: raw.status.as_ref().map(|statuses| statuses.0.clone()),
            capture: self.captures(raw, stream.is_some())?,
            golden: stream.is_some() || raw.golden.as_ref().is_some_and(|golden| *golden.get_ref()),
            stream,
            place: self.source.place(start),
        };
        scope.check(&step.path)?;
        step.headers.iter().try_for_each(|(_, value)| scope.check(value))?;
        match &step.body {
            StepBody::None => {}
            StepBody::Json(json) | StepBody::JsonFile(_, json) => scope.check_json(json)?,
        }
        Ok(step)
    }

    fn request(&self, raw: &RawStep, start: usize) -> Result<(Method, Template)> {
        let methods = [
            ("get", Method::Get, &raw.get),
            ("post", Method::Post, &raw.post),
            ("put", Method::Put, &raw.put),
            ("patch", Method::Patch, &raw.patch),
            ("delete", Method::Delete, &raw.delete),
        ];
        let given: Vec<_> =
            methods.iter().filter_map(|(key, method, path)| Some((*key, *method, path.as_ref()?))).collect();
        let [(_, method, path)] = given[..] else {
            let keys: Vec<&str> = given.iter().map(|(key, ..)| *key).collect();
            let (what, at) = match given.last() {
                None => ("this step sends nothing".to_owned(), start),
                Some((.., second)) => {
                    (format!("this step has {} methods: {}", keys.len(), listed(&keys)), second.span().start)
                }
            };
            return Err(self
                .source
                .error(at, what)
                .help("a step has exactly one of `get`, `post`, `put`, `patch`, `delete`"));
        };
        let template = Template::parse(path.get_ref(), self.source, path.span())?;
        if !path.get_ref().starts_with('/') && !path.get_ref().starts_with("{{") {
            let error = template.error(format!("the path `{}` does not start with `/`", path.get_ref()));
            return Err(error.help("the system's address comes before it: write the path alone"));
        }
        Ok((method, template))
    }

    fn headers(&self, raw: &Texts) -> Result<Vec<(String, Template)>> {
        let mut headers: Vec<(String, Template)> = Vec::with_capacity(raw.len());
        for (name, value) in raw {
            check_header_name(name, self.source)?;
            if headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name.get_ref())) {
                let what = format!("the header `{}` is given twice: case does not tell headers apart", name.get_ref());
                return Err(self.source.error(name.span().start, what));
            }
            if value.get_ref().contains(['\r', '\n', '\0']) {
                return Err(self.source.error(value.span().start, "a header's value is one line"));
            }
            headers.push((name.get_ref().clone(), Template::parse(value.get_ref(), self.source, value.span())?));
        }
        Ok(headers)
    }

    fn body(&self, raw: &RawStep) -> Result<StepBody> {
        match (&raw.json, &raw.json_file) {
            (None, None) => Ok(StepBody::None),
            (Some(json), None) => TemplateJson::from_toml(json, self.source).map(StepBody::Json),
            (None, Some(file)) => self.json_file(file),
            (Some(_), Some(file)) => {
                Err(self.source.error(file.span().start, "a step has either `json` or `json_file`, this one has both"))
            }
        }
    }

    fn json_file(&self, named: &Spanned<String>) -> Result<StepBody> {
        let path = Path::new(named.get_ref());
        let fail = |what: String| self.source.error(named.span().start, what);
        let inside = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if named.get_ref().is_empty() || !path.components().all(inside) {
            return Err(fail(format!("`{}` is not in the scenario's folder", named.get_ref())));
        }
        let file = self.dir.join(path);
        if !self.root.join(&file).exists() {
            let error = fail(format!("there is no file `{}` in {}", named.get_ref(), self.dir.display()));
            let beside = std::fs::read_dir(self.root.join(self.dir)).into_iter().flatten().flatten();
            let beside: Vec<String> = beside.filter_map(|entry| entry.file_name().into_string().ok()).collect();
            return Err(suggest(error, named.get_ref(), beside.iter().map(String::as_str)));
        }
        let named_by = || {
            let place = self.source.place(named.span().start);
            format!("named by {}:{}:{}", self.source.file.display(), place.line, place.column)
        };
        let source = Source::read(self.root, &file).map_err(|error| error.help(named_by()))?;
        let json = Json::parse(source.text.as_bytes()).map_err(|error| {
            let place = Place { line: error.line, column: error.column };
            let what = format!("this is no JSON: {}", error.message);
            crate::error::Error::new(what).in_file(&file).at(place).help(named_by())
        })?;
        Ok(StepBody::JsonFile(path.to_owned(), TemplateJson::from_json(&json, &source)?))
    }

    fn captures(&self, raw: &RawStep, stream: bool) -> Result<BTreeMap<String, CaptureFrom>> {
        let mut captures = BTreeMap::new();
        for (name, from) in raw.capture.iter().flatten() {
            check_new_name(name, self.source)?;
            let at = from.span().start;
            let parsed = CaptureFrom::parse(from.get_ref()).map_err(|(what, help)| {
                let error = self.source.error(at, what);
                help.into_iter().fold(error, crate::error::Error::help)
            })?;
            match (&parsed, stream) {
                (CaptureFrom::Sse { .. }, false) => {
                    let error = self.source.error(at, "`sse:` reads a stream, and this step has none");
                    return Err(error.help("add `stream = true`, or read the body with `json:/pointer`"));
                }
                (CaptureFrom::Json(_), true) => {
                    let error = self.source.error(at, "`json:` reads a JSON body, and this step has a stream");
                    return Err(error.help("read an event with `sse:EVENT:/pointer`"));
                }
                _ => captures.insert(name.get_ref().clone(), parsed),
            };
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
        Ok(StreamSpec { first: event(&ends.first)?, last: event(&ends.last)? })
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
