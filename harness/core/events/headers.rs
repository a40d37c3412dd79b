//! The headers of a response that a golden holds: all but those of transport, which say how the answer came and not what it is.
//!
//! A header that is known to vary is written as `(varies)`, so that it still has to be there. What varies is shown by the replays of
//! a proof ([`Golden::agree_on_what_varies`]); once the committed golden says so, it stays so ([`Golden::keep_varying`]). A header that
//! the committed golden does not name is not compared with it: clients do not mind one more.

use std::collections::BTreeMap;

use super::beside::{Kept, kept};
use super::captured::Captured;
use super::foreign::CUT;
use super::golden::{Block, Golden, Header, Repeat};
use super::ids::{Ids, ShownId, is_id};
use super::notation::{self, Normalize};
use super::options::{Detail, ShapeOptions};
use super::times;
use super::words::is_measure;
use crate::json::Json;

/// The header of which each occurrence is a value of its own, with commas in its dates.
const COOKIE: &str = "set-cookie";
/// How long a cookie is kept.
const AGE: &str = "max-age=";
/// The header that the line of the status says already, but for its parameters.
const CONTENT_TYPE: &str = "content-type";
/// The headers of the protocol.
const PROTOCOL: &str = "connection content-length date etag keep-alive server te trailer transfer-encoding upgrade via";
/// Words in the names of headers that carry the id of a trace or of a request.
const TRACES: [&str; 4] = ["trace", "request-id", "correlation-id", "x-b3-"];

/// Whether the golden holds a header that its options do not name.
pub fn is_held(name: &str) -> bool {
    PROTOCOL.split(' ').all(|of| of != name) && !TRACES.iter().any(|trace| name.contains(trace))
}

/// Returns a line for each header that a golden holds.
pub fn shown(headers: &[(String, String)], normalize: &Normalize<'_>) -> Vec<String> {
    all(headers, &by_default, &Ids::default(), normalize).iter().map(ToString::to_string).collect()
}

/// Returns the headers of an answer that go into the golden, in alphabetical order. If `committed` is the same answer in the
/// committed golden, only what that holds is compared with it.
pub(super) fn held(
    capture: &Captured,
    committed: Option<&Block>,
    options: &ShapeOptions,
    ids: &Ids,
    normalize: &Normalize<'_>,
) -> Vec<Header> {
    let mut headers = all(&capture.delivery.headers, &wanted(options), ids, normalize);
    if let Some(committed) = committed {
        headers.retain(|header| committed.headers.iter().any(|known| known.subject() == header.subject()));
        for header in &mut headers {
            header.keep_varying(committed);
        }
    }
    headers
}

/// Returns the requests whose answers have headers that a golden lacks, with what these headers are about.
pub fn new_headers(
    captures: &[Captured],
    golden: &Golden,
    options: &ShapeOptions,
    normalize: &Normalize<'_>,
) -> Vec<(String, Vec<String>)> {
    let new = |of: Kept<'_>| {
        let known = of.committed.filter(|_| of.is_whole)?;
        let headers = all(&of.capture.delivery.headers, &wanted(options), &Ids::default(), normalize);
        // Another media type is told where it is compared.
        let media = known.head.as_ref().map(|head| &*head.media).unwrap_or_default();
        let is_told = |of: &Header| of.name == CONTENT_TYPE && !of.value.iter().any(|value| value.starts_with(media));
        let is_known = |header: &Header| known.headers.iter().any(|known| known.subject() == header.subject());
        let is_new = |header: &&Header| !is_told(header) && !is_known(header);
        let new: Vec<String> = headers.iter().filter(is_new).map(Header::subject).collect();
        (!new.is_empty()).then(|| (known.request.clone(), new))
    };
    kept(captures, Some(golden), normalize).into_iter().filter_map(new).collect()
}

/// Returns what tells of a header whether it is held, by its name and its value.
fn wanted(options: &ShapeOptions) -> impl Fn(&str, &str) -> bool {
    |name, value| options.headers.iter().any(|named| named == name) || by_default(name, value)
}

fn by_default(name: &str, value: &str) -> bool {
    // The media type stands on the line of the status.
    is_held(name) && (name != CONTENT_TYPE || value.contains(';'))
}

fn all(
    headers: &[(String, String)],
    wanted: &dyn Fn(&str, &str) -> bool,
    ids: &Ids,
    normalize: &Normalize<'_>,
) -> Vec<Header> {
    let mut names: Vec<_> = headers.iter().filter(|(of, it)| wanted(of, it)).map(|(of, _)| of.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let mut held = Vec::new();
    for name in names {
        let values = headers.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str());
        if name == COOKIE {
            let mut cookies: Vec<String> = values.map(|value| cookie(value, normalize)).collect();
            cookies.sort_unstable();
            held.extend(cookies.iter().map(|cookie| Header::new(name, Some(cookie))));
            continue;
        }
        let value = values.collect::<Vec<_>>().join(", ");
        held.push(Header::new(name, (!is_measure(name, &[])).then(|| list(name, &value, ids, normalize)).as_deref()));
    }
    held
}

impl Header {
    fn new(name: &str, value: Option<&str>) -> Header {
        Header { name: name.to_owned(), value: value.map(|value| notation::unseen_escaped(value).into_owned()) }
    }

    /// What it is about: its name, and that of its cookie.
    pub(super) fn subject(&self) -> String {
        let cookie = self.value.as_deref().filter(|_| self.name == COOKIE).and_then(|value| value.split('=').next());
        cookie.map_or_else(|| self.name.clone(), |cookie| format!("{COOKIE}: {cookie}"))
    }

    fn keep_varying(&mut self, known: &Block) {
        let is_like = |held: &String| self.value.as_ref().is_some_and(|value| is_around(held, value));
        let mut same = known.headers.iter().filter(|known| known.name == self.name);
        if let Some(known) = same.find(|known| known.value.as_ref().is_none_or(is_like)) {
            self.value.clone_from(&known.value);
        }
        // Of a cookie it may be held that it has an age, and not which.
        let is_open = |value: &String| value.split("; ").any(|part| part == AGE.trim_end_matches('='));
        let has_open_age = |known: &Header| known.value.as_ref().is_some_and(is_open);
        if known.headers.iter().any(|known| known.subject() == self.subject() && has_open_age(known)) {
            self.let_age_vary();
        }
    }

    /// Leaves the age of a cookie open. One without an age is deleted.
    fn let_age_vary(&mut self) {
        let Some(value) = self.value.as_mut().filter(|_| self.name == COOKIE) else { return };
        let open = |part| match str::strip_prefix(part, AGE) {
            Some(age) if age != "0" => AGE.trim_end_matches('='),
            _ => part,
        };
        *value = value.split("; ").map(open).collect::<Vec<_>>().join("; ");
    }

    /// Leaves the ages open of cookies that some answers have otherwise.
    fn agree_on_ages(answers: &mut dyn Iterator<Item = &mut Vec<Header>>) {
        let mut cookies: BTreeMap<String, Vec<&mut Header>> = BTreeMap::new();
        for header in answers.flatten().filter(|header| header.name == COOKIE) {
            cookies.entry(header.subject()).or_default().push(header);
        }
        let varying = cookies.into_values().filter(|of| of.windows(2).any(|two| two[0] != two[1]));
        varying.flatten().for_each(Header::let_age_vary);
    }

    /// Returns it as older formats have it: with what its value looks like.
    pub(super) fn into_shape(mut self) -> Header {
        match self.name.as_str() {
            COOKIE => self.let_age_vary(),
            _ => self.value = self.value.as_deref().map(directives),
        }
        self
    }
}

impl Golden {
    /// Makes the goldens of several runs of one scenario agree on numbers, and on headers: one whose value differs varies, and one
    /// that only some answers have is not held. Whether ids repeat may vary, too: a client that comes back may get an event twice, or not.
    pub fn agree_on_what_varies(goldens: &mut [&mut Golden], detail: Detail) {
        for at in 0..goldens.iter().map(|golden| golden.blocks.len()).min().unwrap_or_default() {
            Header::agree_on_ages(&mut goldens.iter_mut().map(|golden| &mut golden.blocks[at].headers));
            let all: Vec<Vec<Header>> = goldens.iter().map(|golden| golden.blocks[at].headers.clone()).collect();
            let find = |of: &[Header], subject: &str| of.iter().find(|header| header.subject() == subject).cloned();
            let repeat: Vec<Option<Repeat>> = goldens.iter().map(|golden| golden.blocks[at].ids_repeat()).collect();
            let may_repeat = !repeat.iter().all(|of| matches!(of, Some(Repeat::No | Repeat::From(_))));
            let ids_vary = repeat.windows(2).any(|two| two[0] != two[1]);
            for golden in goldens.iter_mut() {
                if ids_vary {
                    golden.blocks[at].set_ids_repeat(Some(if may_repeat { Repeat::Varies } else { Repeat::No }));
                }
                golden.blocks[at].headers.retain_mut(|header| {
                    let others: Option<Vec<Header>> = all.iter().map(|of| find(of, &header.subject())).collect();
                    let varies = others.as_ref().is_some_and(|others| others.iter().any(|other| other != header));
                    if varies {
                        let values = others.iter().flatten().map(|of| of.value.as_deref());
                        header.value = values.collect::<Option<Vec<_>>>().and_then(|values| around(&values));
                    }
                    others.is_some() && !(varies && header.name == COOKIE)
                });
            }
        }
        // A golden of values holds them all.
        if let Some((first, others)) = goldens.split_first_mut().filter(|_| detail == Detail::Types) {
            for other in others.iter() {
                first.agree_on_values(other);
            }
            for other in others {
                other.agree_on_values(first);
            }
        }
        Golden::agree_beside(goldens);
    }

    /// Returns it with the headers of another golden of the same run.
    pub fn with_headers_of(mut self, other: &Golden) -> Golden {
        self.keep_varying_beside(other);
        for (block, other) in self.paired(other) {
            block.headers.clone_from(&other.headers);
            block.set_ids_repeat(other.ids_repeat());
        }
        self
    }

    /// Says of the headers that vary by another golden of the scenario that they do.
    pub fn keep_varying(&mut self, known: &Golden) {
        self.keep_varying_beside(known);
        for (block, known) in self.paired(known).filter(|(is, was)| is.request == was.request) {
            if known.ids_repeat() == Some(Repeat::Varies) {
                block.set_ids_repeat(known.ids_repeat());
            }
            block.headers.iter_mut().for_each(|header| header.keep_varying(known));
        }
    }
}

impl Block {
    pub(super) fn ids_repeat(&self) -> Option<Repeat> {
        self.head.as_ref().map(|head| head.ids_repeat)
    }

    fn set_ids_repeat(&mut self, of: Option<Repeat>) {
        self.head.iter_mut().for_each(|head| head.ids_repeat = of.unwrap_or_default());
    }
}

/// What values have in common around what varies, `chat-….html`; `None` if that says nothing. Digits vary, too, beside others that do.
fn around(values: &[&str]) -> Option<String> {
    let (first, is_digit) = (*values.first()?, |c: char| c.is_ascii_digit());
    let at = || first.char_indices().map(|(at, _)| at);
    let start = at().take_while(|at| values.iter().all(|of| of.starts_with(&first[..*at]))).last()?;
    let end = at().find(|at| values.iter().all(|of| of.ends_with(&first[*at..]))).unwrap_or(first.len());
    let before = first[..start].split(is_digit).next()?.trim_end_matches(char::is_alphanumeric);
    let behind = first[end..].rsplit(is_digit).next()?.trim_start_matches(char::is_alphanumeric);
    let told = [before, behind].map(|of| if of.contains(char::is_alphabetic) { of } else { "" });
    let around = told.join(&CUT.to_string());
    (told != [""; 2] && values.iter().all(|of| is_around(&around, of))).then_some(around)
}

/// Whether a value is one that varies within what a golden holds of it.
fn is_around(held: &str, value: &str) -> bool {
    let inside = |(before, behind)| value.strip_prefix(before)?.strip_suffix(behind);
    held.split_once(CUT).and_then(inside).is_some_and(|varies: &str| !varies.is_empty())
}

/// Returns a cookie with the shape of its value, and its attributes in alphabetical order. Its value is a secret, or differs from
/// run to run.
fn cookie(value: &str, normalize: &Normalize<'_>) -> String {
    let mut parts = value.split(';').map(str::trim);
    let (name, value) = parts.next().and_then(|first| first.split_once('=')).unwrap_or_default();
    let (shape, tells) = shape(&normalize(value));
    let value = if tells { "string" } else { &shape };
    let attribute = |part: &str| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        let name = name.trim().to_ascii_lowercase();
        match (name.as_str(), value.trim()) {
            // A cookie is deleted by a time in the past.
            ("expires", past) if past.contains("1970") => "expires=1970".to_owned(),
            ("max-age", age) => format!("{AGE}{age}"),
            ("expires", _) | (_, "") => name,
            (_, value) => format!("{name}={}", normalize(value)),
        }
    };
    let mut attributes: Vec<String> = parts.filter(|part| !part.is_empty()).map(attribute).collect();
    attributes.sort_unstable();
    std::iter::once(format!("{}={value}", normalize(name))).chain(attributes).collect::<Vec<_>>().join("; ")
}

/// Returns a value, of which the parts between commas have no order. What differs from run to run has its name.
fn list(name: &str, value: &str, ids: &Ids, normalize: &Normalize<'_>) -> String {
    // A date contains a comma.
    if value.ends_with(" GMT") {
        return "time".to_owned();
    }
    let parameters = |part: &str| {
        let parameters = part.split(';').map(str::trim).filter(|parameter| !parameter.is_empty());
        parameters.map(|text| named(text, ids, normalize)).collect::<Vec<_>>().join("; ")
    };
    let mut parts: Vec<String> = value.split(',').map(parameters).collect();
    parts.sort_unstable();
    let value = parts.join(", ");
    match name {
        _ if value.is_empty() => "\"\"".to_owned(),
        CONTENT_TYPE => value.to_ascii_lowercase(),
        _ => value,
    }
}

/// Returns a text with names in place of ids and times.
fn named(text: &str, ids: &Ids, normalize: &Normalize<'_>) -> String {
    let name = |text: &str| match ids.shown(text) {
        Some(ShownId::Named(name)) => Some(name.to_string()),
        Some(ShownId::Numbered(number)) => Some(format!("id {number}")),
        Some(ShownId::Plain | ShownId::Short(_)) => Some("id".to_owned()),
        None => text.parse().ok().and_then(|number| times::of_number(&Json::Int(number))).map(str::to_owned),
    };
    name(text).unwrap_or_else(|| {
        // Ids may be parts of paths, queries and parameters.
        let normal = ids.number_uuids(text, normalize(text));
        let pieces = normal.split_inclusive(['/', '?', '&', '=', ' ', '"', '<', '>']);
        let piece = |piece: &str| {
            let end = piece.trim_end_matches(['/', '?', '&', '=', ' ', '"', '<', '>']).len();
            name(&piece[..end]).map_or_else(|| piece.to_owned(), |name| name + &piece[end..])
        };
        pieces.map(piece).collect()
    })
}

/// Returns the shape of a value, as older formats have it: a list of directives, such as `max-age=number, no-store`, in
/// alphabetical order.
fn directives(value: &str) -> String {
    let named = |(name, value): (&str, &str)| format!("{}={}", name.to_ascii_lowercase(), shape(value).0);
    let directive = |part: &str| part.split_once('=').map_or_else(|| shape(part).0, named);
    let mut all: Vec<String> = value.split([',', ';']).map(str::trim).map(directive).collect();
    all.sort_unstable();
    all.join(", ")
}

/// What a normalized value looks like, and whether it is a word of the service or a number: these are the same in each run.
fn shape(value: &str) -> (String, bool) {
    let value = value.trim().trim_matches('"');
    let name = value.strip_prefix('<').and_then(|rest| rest.strip_suffix('>')).filter(|of| !of.contains(['<', '>']));
    let all = |is_it: &dyn Fn(u8) -> bool| value.bytes().all(is_it);
    let (shape, tells) = match name {
        _ if value.is_empty() => ("\"\"", false),
        Some(name) if name == "UUID" || name.starts_with("UUID:") => ("id", false),
        Some(_) => (value, false),
        // Whether a number is 0 often matters, as in `max-age=0`.
        None if all(&|c| c == b'0') => ("0", true),
        None if all(&|c| c.is_ascii_digit()) => ("number", true),
        None if is_id(value) || value == "id" || value.starts_with("id ") => ("id", false),
        None if all(&|c| c.is_ascii_alphabetic() || b"-_/*+.: ".contains(&c)) => (value, true),
        None => ("string", false),
    };
    (shape.to_owned(), tells)
}

#[cfg(test)]
mod tests;
