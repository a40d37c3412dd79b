//! Where in an answer a captured value is: `cookie:NAME`, `header:NAME`, `json:/pointer`, `sse:EVENT:/pointer`.

use super::words::Pointer;
use crate::text::nearest;

/// The source of a captured value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureFrom {
    /// A cookie that the answer sets, or that an earlier one set.
    Cookie(String),
    /// A header of the answer.
    Header(String),
    /// A value in the JSON body.
    Json(Pointer),
    /// A value in the first event of that name that has it.
    Sse {
        /// The event's name.
        event: String,
        /// Where in its payload.
        pointer: Pointer,
    },
}

const FORMS: &str = "write `cookie:NAME`, `header:NAME`, `json:/pointer` or `sse:EVENT:/pointer`";

impl CaptureFrom {
    /// Reads a capture; an error is its first line and lines of help.
    pub(super) fn parse(text: &str) -> Result<CaptureFrom, (String, Vec<String>)> {
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
                Err((format!("`{other}:` is no place to capture from"), help.collect()))
            }
        }
    }
}
