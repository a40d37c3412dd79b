//! APIs that are declared instead of spoken: where in their bodies what stands that a replay needs. Each is a file of the form that
//! `[[apis]]` has in a suite. Those of `apis/` come with Retake.
//!
//! What is declared is process-wide, like the APIs that are spoken: a path means the same to all that read, import, record and serve.

pub(super) mod answer;
pub(super) mod request;

use std::borrow::Cow;
use std::sync::{LazyLock, PoisonError, RwLock};

use retake_core::json::Json;

/// An API, by the places of what it carries. Each list of pointers names places of which any may be filled; `*` is each element of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Declaration {
    pub name: String,
    /// The ends of its paths. `*` is any segment, and `{model}` the name of the model.
    pub path: Vec<String>,
    pub prompt: Vec<String>,
    pub messages: Vec<String>,
    pub tools: Vec<String>,
    pub model: Vec<String>,
    pub settings: Vec<String>,
    pub text: Vec<String>,
    /// The tokens that the model read, wrote, and read from a cache.
    pub usage: [Vec<String>; 3],
    pub error: Vec<String>,
}

/// The files of the APIs that come with Retake.
const FILES: [&str; 5] = [
    include_str!("apis/cohere.toml"),
    include_str!("apis/interactions.toml"),
    include_str!("apis/mistral.toml"),
    include_str!("apis/openai.toml"),
    include_str!("apis/vertex.toml"),
];

static KNOWN: LazyLock<Vec<Declaration>> = LazyLock::new(|| FILES.into_iter().flat_map(read).collect());
static OF_SUITE: RwLock<Vec<&'static Declaration>> = RwLock::new(Vec::new());

impl Declaration {
    /// Declares the API for this process. A later one with the same name, as of a suite that was edited, takes its place.
    pub fn declare(self) {
        let mut all = OF_SUITE.write().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&&self) {
            all.insert(0, Box::leak(Box::new(self)));
        }
    }

    /// The API that the suite declares for a path.
    pub(super) fn of_suite(path: &str) -> Option<&'static Declaration> {
        of_suite().into_iter().find(|declared| declared.model_of(path).is_some())
    }

    /// The API with this path among those that come with Retake.
    pub(super) fn known(path: &str) -> Option<&'static Declaration> {
        KNOWN.iter().find(|declared| declared.model_of(path).is_some())
    }

    pub(super) fn named(name: &str) -> Option<&'static Declaration> {
        of_suite().into_iter().chain(KNOWN.iter()).find(|declared| declared.name == name)
    }

    /// Returns the model that a path names, which is empty if the path says none; `None` if it is no path of this API.
    pub(super) fn model_of<'p>(&self, path: &'p str) -> Option<&'p str> {
        let path = path.split(['?', '#']).next()?.trim_end_matches('/');
        self.path.iter().find_map(|pattern| {
            let mut segments = path.rsplit('/');
            let parts = pattern.trim_matches('/').rsplit('/');
            parts.map(|part| segments.next().and_then(|segment| matched(part, segment))).try_fold("", |model, found| {
                let found = found?;
                Some(if found.is_empty() { model } else { found })
            })
        })
    }

    /// Whether a body has messages where the API has them. Another API may have the same path.
    pub(super) fn is_of(&self, body: &Json) -> bool {
        self.messages.iter().any(|pointer| !all(body, pointer).is_empty())
    }
}

fn of_suite() -> Vec<&'static Declaration> {
    OF_SUITE.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Matches a segment of a path. Returns what stands in the place of `{model}`, or nothing.
fn matched<'s>(part: &str, segment: &'s str) -> Option<&'s str> {
    let Some((before, after)) = part.split_once("{model}") else {
        return (part == segment || (part == "*" && !segment.is_empty())).then_some("");
    };
    segment.strip_prefix(before)?.strip_suffix(after).filter(|model| !model.is_empty())
}

/// Returns the values at the places of a pointer.
fn all<'j>(json: &'j Json, pointer: &str) -> Vec<&'j Json> {
    tokens(pointer).fold(vec![json], |values, token| {
        let below = |value: &'j Json| match (value, &*token) {
            (Json::Array(items), "*") => items.iter().collect(),
            (Json::Array(items), token) => {
                token.parse::<usize>().ok().and_then(|at| items.get(at)).into_iter().collect()
            }
            (value, token) => value.get(token).into_iter().collect::<Vec<_>>(),
        };
        values.into_iter().flat_map(below).collect()
    })
}

fn tokens(pointer: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let plain = |token: &str| token.replace("~1", "/").replace("~0", "~");
    pointer.split('/').skip(1).map(move |token| if token.contains('~') { plain(token).into() } else { token.into() })
}

/// Reads a file of Retake's own; a test reads them all.
fn read(file: &str) -> Vec<Declaration> {
    let texts = |value: Option<&toml::Value>| match value {
        Some(toml::Value::String(text)) => vec![text.clone()],
        Some(toml::Value::Array(list)) => list.iter().filter_map(|text| Some(text.as_str()?.to_owned())).collect(),
        _ => Vec::new(),
    };
    let declaration = |api: &toml::Value| {
        let of = |field| texts(api.get(field));
        Declaration {
            name: of("name").concat(),
            path: of("path"),
            prompt: of("prompt"),
            messages: of("messages"),
            tools: of("tools"),
            model: of("model"),
            settings: of("settings"),
            text: of("text"),
            usage: ["input", "output", "cached"].map(|count| texts(api.get("usage").and_then(|all| all.get(count)))),
            error: of("error"),
        }
    };
    let file = toml::from_str::<toml::Table>(file).unwrap_or_default();
    file.get("apis").and_then(toml::Value::as_array).into_iter().flatten().map(declaration).collect()
}

#[cfg(test)]
mod tests;
