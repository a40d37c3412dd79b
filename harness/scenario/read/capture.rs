//! Reads the captures of a step: the values of its answer that later steps use.

use std::collections::BTreeMap;

use super::file::ScenarioFile;
use super::names::check_new_name;
use super::raw::RawStep;
use super::spanned::Spanned;
use crate::pointer::Pointer;
use crate::step::CaptureFrom;
use retake_base::error::{Error, Result};
use retake_base::text::nearest;

/// Reads the captures of a step. `stream` says whether its answer is a stream.
pub(super) fn read(scenario: ScenarioFile<'_>, raw: &RawStep, stream: bool) -> Result<BTreeMap<String, CaptureFrom>> {
    let mut captures = BTreeMap::new();
    for (name, from) in raw.capture.iter().flat_map(Spanned::get_ref) {
        check_new_name(name, scenario.source)?;
        let at = from.span().start;
        let parsed = parse(from.get_ref()).map_err(|(what, help)| {
            let error = scenario.source.error(at, what);
            help.into_iter().fold(error, Error::help)
        })?;
        let error = match &parsed {
            CaptureFrom::Sse { .. } if raw.listens() => {
                let what = "the events of `listen` come while later steps run, so none can be captured here";
                let error = scenario.source.error(at, what);
                error.help("capture it in a later step with `after = \"EVENT\"`")
            }
            CaptureFrom::Header(_) | CaptureFrom::Cookie(_) if raw.run.is_some() || raw.after.is_some() => {
                let error = scenario.source.error(at, "a command answers without headers");
                error.help("read an event of its output with `sse:EVENT:/pointer`")
            }
            from if raw.browser.is_some() && !matches!(from, CaptureFrom::Cookie(_)) => {
                let error = scenario.source.error(at, "a page has no body and no events to capture");
                error.help("read a cookie with `cookie:NAME`, or send the system a request in a step of its own")
            }
            CaptureFrom::Sse { .. } if !stream => {
                let error = scenario.source.error(at, "`sse:` reads a stream, and this step has none");
                error.help("add `stream = true`, or read the body with `json:/pointer`")
            }
            CaptureFrom::Json(_) if stream => {
                let error = scenario.source.error(at, "`json:` reads a JSON body, and this step has a stream");
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

const FORMS: &str = "write `cookie:NAME`, `header:NAME`, `json:/pointer` or `sse:EVENT:/pointer`";

/// Parses the source of a capture. An error is a first line, and lines of help.
fn parse(text: &str) -> Result<CaptureFrom, (String, Vec<String>)> {
    let forms = |what: String| (what, vec![FORMS.to_owned()]);
    let pointer = |text: &str| Pointer::parse(text).map_err(|what| (what, Vec::new()));
    let Some((kind, rest)) = text.split_once(':') else {
        return Err(forms(format!("`{text}` does not say where the value is")));
    };
    let name = |what: &str| {
        if rest.trim().is_empty() { Err(forms(format!("`{text}` names no {what}"))) } else { Ok(rest.to_owned()) }
    };
    match kind {
        "cookie" => name("cookie").map(CaptureFrom::Cookie),
        "header" => name("header").map(CaptureFrom::Header),
        "json" => pointer(rest).map(CaptureFrom::Json),
        "sse" => {
            let (event, at) = match rest.find(":/") {
                Some(colon) => (&rest[..colon], &rest[colon + 1..]),
                None => (rest.strip_suffix(':').unwrap_or_default(), ""),
            };
            if event.is_empty() {
                return Err(forms(format!("`{text}` lacks an event or a pointer")));
            }
            Ok(CaptureFrom::Sse { event: event.to_owned(), pointer: pointer(at)? })
        }
        other => {
            let near = nearest(other, ["cookie", "header", "json", "sse"]);
            let help = near.map(|kind| format!("did you mean `{kind}:`?")).into_iter().chain([FORMS.to_owned()]);
            Err((format!("`{other}:` is not a place to capture from"), help.collect()))
        }
    }
}
