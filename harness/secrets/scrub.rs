//! Taking secrets out of texts, of JSON and of messages.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use super::encoded::{self, Value};
use super::forms::{FORMS, SecretForm};
use crate::conversation::Message;
#[cfg(feature = "cli")]
use crate::conversation::{Answer, Block};
use crate::json::{Json, Object};
use crate::text::nearest;

/// The names of what was found: of forms, `openai-key`, and of variables, `env:STRIPE`.
pub type Fired = BTreeSet<String>;

/// What a variable's name begins with in the list of a fixture.
const VARIABLE: &str = "env:";

/// The secrets that are looked for: some of the known forms, and the values of some variables.
///
/// # Example
/// ```
/// use retake::internal::secrets::{Fired, Scrub};
/// let mut fired = Fired::new();
/// let text = Scrub::known().text("it is sk-proj-abcdefghijklmnop1234", &mut fired).into_owned();
/// assert_eq!(text, "it is <OPENAI_KEY>");
/// assert!(fired.contains("openai-key"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scrub {
    values: Vec<Value>,
    forms: Vec<&'static SecretForm>,
    /// As a fixture lists them.
    names: Fired,
}

impl Scrub {
    /// Every known form, and no variable.
    #[must_use]
    pub fn known() -> Scrub {
        let names = FORMS.iter().map(|form| form.name.to_owned()).collect();
        Scrub { values: Vec::new(), forms: FORMS.iter().collect(), names }
    }

    /// What a fixture lists. `variable` gives the value of an environment variable, where it is set: the system may have
    /// been given the value itself.
    ///
    /// # Errors
    /// A name that is not a form's, with the nearest one.
    pub fn of_names<'a>(
        names: impl IntoIterator<Item = &'a str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Scrub, String> {
        let mut scrub = Scrub::default();
        for name in names {
            if let Some(variable_name) = name.strip_prefix(VARIABLE) {
                scrub = scrub.with_value(variable_name, &variable(variable_name).unwrap_or_default());
            } else {
                let form = SecretForm::named(name).ok_or_else(|| {
                    let known = FORMS.iter().map(|form| form.name);
                    let hint = nearest(name, known).map_or_else(
                        || "it may be of a later version".to_owned(),
                        |near| format!("did you mean {near:?}?"),
                    );
                    format!("{name:?} is not a form of a secret that is known; {hint}")
                })?;
                scrub.forms.push(form);
            }
            scrub.names.insert(name.to_owned());
        }
        // In the order of recording, whatever the order of the list.
        scrub.forms.sort_by_key(|form| FORMS.iter().position(|known| known.name == form.name));
        Ok(scrub)
    }

    /// These, and the value of a variable, whose place `<NAME>` takes. A value that is too short to be told from other
    /// text is not looked for; see [`Secrets`](super::Secrets).
    #[must_use]
    pub fn with_value(mut self, name: &str, value: &str) -> Scrub {
        self.names.insert(format!("{VARIABLE}{name}"));
        self.values.push(Value::new(name, value));
        // Of two values of which one holds the other, the longer one counts.
        self.values.sort_by(|a, b| b.length().cmp(&a.length()).then_with(|| a.name().cmp(b.name())));
        self
    }

    /// Whether nothing is looked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty() && self.values.is_empty()
    }

    /// The names of all that is looked for, as a fixture lists them.
    #[must_use]
    pub fn names(&self) -> &Fired {
        &self.names
    }

    /// The names of two lists.
    #[must_use]
    pub fn and(mut self, other: Scrub) -> Scrub {
        self.names.extend(other.names);
        self.values.extend(other.values);
        self.forms.extend(other.forms);
        self.forms.sort_by_key(|form| FORMS.iter().position(|known| known.name == form.name));
        self.forms.dedup_by_key(|form| form.name);
        self
    }

    /// A text without its secrets; borrowed where it has none.
    #[must_use]
    pub fn text<'a>(&self, text: &'a str, fired: &mut Fired) -> Cow<'a, str> {
        let mut pieces = [Cow::Borrowed(text)];
        self.pieces(&mut pieces, fired);
        let [text] = pieces;
        text
    }

    /// Takes secrets out of JSON: texts and keys, and what is parted over neighbouring blocks of text.
    pub fn json(&self, json: &mut Json, fired: &mut Fired) {
        match json {
            Json::Str(text) => self.string(text, fired),
            Json::Array(items) => {
                for item in items.iter_mut() {
                    self.json(item, fired);
                }
                self.blocks(items, fired);
            }
            Json::Object(entries) => {
                self.named_values(entries, fired);
                for value in entries.values_mut() {
                    self.json(value, fired);
                }
                self.keys(entries, fired);
            }
            Json::Null | Json::Bool(_) | Json::Int(_) | Json::BigInt(_) | Json::Float(_) => {}
        }
    }

    /// A message without secrets.
    #[must_use]
    pub(crate) fn message(&self, message: &Message) -> Message {
        let (mut message, mut fired) = (message.clone(), Fired::new());
        self.json(&mut message.content, &mut fired);
        for call in &mut message.tool_calls {
            self.json(&mut call.args, &mut fired);
        }
        message
    }

    /// Takes secrets out of an answer.
    #[cfg(feature = "cli")]
    pub(crate) fn answer(&self, answer: &mut Answer, fired: &mut Fired) {
        for block in &mut answer.blocks {
            match block {
                Block::Text(text) | Block::Reasoning(text) | Block::Refusal(text) => self.string(text, fired),
                Block::ToolCall(call) => self.json(&mut call.args, fired),
                Block::Native(native) => self.json(&mut native.block, fired),
            }
        }
    }

    /// Takes secrets out of a text in its place.
    pub(crate) fn string(&self, text: &mut String, fired: &mut Fired) {
        if let Cow::Owned(scrubbed) = self.text(text, fired) {
            *text = scrubbed;
        }
    }

    /// Takes secrets out of texts that are one text to whoever reads them in a row. The piece in which a secret begins
    /// gets what stands in its place, and the later ones lose their parts of it.
    pub(super) fn pieces(&self, pieces: &mut [Cow<'_, str>], fired: &mut Fired) {
        for value in &self.values {
            let found = value.find(&joined(pieces));
            replace(
                pieces,
                &found,
                |_| value.word().to_owned(),
                || _ = fired.insert(format!("{VARIABLE}{}", value.name())),
            );
        }
        for form in &self.forms {
            let found = form.find(&joined(pieces));
            replace(pieces, &found, |_| form.word.to_owned(), || _ = fired.insert(form.name.to_owned()));
        }
        self.encoded(pieces, fired);
    }

    /// What is encoded in base64 is looked into, and encoded again where something was found.
    fn encoded(&self, pieces: &mut [Cow<'_, str>], fired: &mut Fired) {
        let text = joined(pieces);
        let mut found = Vec::new();
        let mut scrubbed = Vec::new();
        for (range, decoded) in encoded::base64_runs(&text) {
            let inner = self.bytes(&decoded.bytes, fired);
            if let Some(inner) = inner {
                found.push(range);
                scrubbed.push(decoded.encode(&inner));
            }
        }
        replace(pieces, &found, |i| scrubbed[i].clone(), || ());
    }

    /// Bytes without their secrets; `None` where they have none. What is not text is read as Latin-1, byte by byte.
    pub(crate) fn bytes(&self, bytes: &[u8], fired: &mut Fired) -> Option<Vec<u8>> {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return match self.text(text, fired) {
                Cow::Borrowed(_) => None,
                Cow::Owned(text) => Some(text.into_bytes()),
            };
        }
        let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
        match self.text(&text, fired) {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect()),
        }
    }

    /// Neighbouring blocks of a message's content, of which each may hold a part.
    fn blocks(&self, items: &mut [Json], fired: &mut Fired) {
        let is_block = |item: &Json| item.str_of("text").is_some() && item.get("role").is_none();
        for run in items.chunk_by_mut(|a, b| is_block(a) && is_block(b)).filter(|run| run.len() > 1) {
            let mut texts: Vec<&mut String> = run.iter_mut().filter_map(|item| string_mut(item, "text")).collect();
            self.parted(&mut texts, fired);
        }
    }

    /// As [`Scrub::pieces`], on strings in their places.
    pub(super) fn parted(&self, texts: &mut [&mut String], fired: &mut Fired) {
        let mut pieces: Vec<Cow<'_, str>> = texts.iter().map(|text| Cow::Borrowed(text.as_str())).collect();
        self.pieces(&mut pieces, fired);
        let changed: Vec<Option<String>> =
            pieces.into_iter().map(|piece| if let Cow::Owned(text) = piece { Some(text) } else { None }).collect();
        for (text, changed) in texts.iter_mut().zip(changed) {
            if let Some(changed) = changed {
                **text = changed;
            }
        }
    }

    /// Values whose key says what they are: `{"aws_secret_access_key": …}`, `{"name": "AWS_SECRET_ACCESS_KEY", "value": …}`.
    fn named_values(&self, entries: &mut Object, fired: &mut Fired) {
        let says = |name: &str| {
            let name = name.to_ascii_lowercase();
            ["secret", "token", "authorization"].iter().any(|word| name.contains(word))
        };
        let name = ["name", "key", "Name", "Key"].iter().find_map(|key| entries.get(key)?.as_str().map(str::to_owned));
        for (key, value) in entries.iter_mut() {
            let Json::Str(value) = value else { continue };
            let named = name.as_deref().filter(|name| says(name) && matches!(key, "value" | "Value"));
            let Some(name) = named.or(Some(key).filter(|key| says(key))) else { continue };
            for form in &self.forms {
                let text = format!("{name}={value}");
                let found: Vec<_> = form
                    .find(&text)
                    .into_iter()
                    .filter(|found| found.start > name.len() && form.needs_context())
                    .collect();
                let mut pieces = [Cow::Owned(text)];
                replace(&mut pieces, &found, |_| form.word.to_owned(), || _ = fired.insert(form.name.to_owned()));
                if !found.is_empty() {
                    pieces[0][name.len() + 1..].clone_into(value);
                }
            }
        }
    }

    /// What becomes of a key.
    pub(crate) fn key(&self, key: &str) -> String {
        self.text(key, &mut Fired::new()).into_owned()
    }

    /// Keys are texts as well. Two that become one keep the later value.
    fn keys(&self, entries: &mut Object, fired: &mut Fired) {
        let changed: Vec<(String, String)> = entries
            .keys()
            .filter_map(|key| match self.text(key, fired) {
                Cow::Owned(scrubbed) => Some((key.to_owned(), scrubbed)),
                Cow::Borrowed(_) => None,
            })
            .collect();
        for (key, scrubbed) in changed {
            if let Some(value) = entries.remove(&key) {
                entries.insert(scrubbed, value);
            }
        }
    }
}

pub(super) fn string_mut<'a>(json: &'a mut Json, key: &str) -> Option<&'a mut String> {
    let Json::Object(entries) = json else { return None };
    match entries.get_mut(key)? {
        Json::Str(text) => Some(text),
        _ => None,
    }
}

fn joined<'a>(pieces: &'a [Cow<'_, str>]) -> Cow<'a, str> {
    match pieces {
        [one] => Cow::Borrowed(one.as_ref()),
        many => Cow::Owned(many.iter().map(AsRef::as_ref).collect()),
    }
}

/// Replaces ranges of the joined text, which are in order and apart, in the pieces.
fn replace(
    pieces: &mut [Cow<'_, str>],
    found: &[Range<usize>],
    word: impl Fn(usize) -> String,
    mut at_each: impl FnMut(),
) {
    if found.is_empty() {
        return;
    }
    let mut end = 0;
    let places: Vec<Range<usize>> = pieces
        .iter()
        .map(|piece| {
            let start = end;
            end += piece.len();
            start..end
        })
        .collect();
    // From the back, so that what stands before keeps its place.
    for (i, range) in found.iter().enumerate().rev() {
        at_each();
        for (piece, place) in pieces.iter_mut().zip(&places) {
            let (from, to) = (range.start.max(place.start), range.end.min(place.end));
            if from < to {
                let with = if from == range.start { word(i) } else { String::new() };
                piece.to_mut().replace_range(from - place.start..to - place.start, &with);
            }
        }
    }
}
