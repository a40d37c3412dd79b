//! What to search for, and how a text is searched.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use super::base64_run::{self, Run};
use super::broken_base64::{self, BrokenRun};
use super::forms::{Edition, Forms, SECOND};
use super::suspects::{Suspected, Suspects};
use super::table::FORMS;
use super::value::{SHORTEST, VARIABLE, Value, merged};
use super::view::View;
use retake_base::text::nearest;

/// The names of the secrets that were found: forms, such as `openai-key`, and variables, such as `env:STRIPE`.
pub type Fired = BTreeSet<String>;

/// The secrets to search for: some of the known forms, and the values of some environment variables.
///
/// # Example
/// ```
/// use retake_core::secrets::{Fired, Scrub};
/// let mut fired = Fired::new();
/// let text = Scrub::known().text("it is sk-proj-abcdefghijklmnop1234", &mut fired).into_owned();
/// assert_eq!(text, "it is <OPENAI_KEY>");
/// assert!(fired.contains("openai-key"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Scrub {
    values: Vec<Value>,
    forms: Forms,
    /// How it searches.
    pub(super) edition: Edition,
    /// The names of the forms and the variables, as a fixture lists them.
    names: Fired,
    /// The suspected forms whose placeholders may stand in a fixture.
    masked: BTreeSet<&'static str>,
}

impl Scrub {
    /// Creates a search for every known form, and no variable.
    pub fn known() -> Scrub {
        let forms = Forms::all(Edition::Second);
        let names = forms.iter().map(|form| form.name.to_owned()).chain([SECOND.to_owned()]).collect();
        Scrub { forms, names, ..Scrub::default() }
    }

    /// Creates a search for the names that a fixture lists. `variable` returns the value of an environment variable, if it is
    /// set, since the system may have been given the value itself.
    ///
    /// # Errors
    /// If a name is not the name of a form. The error suggests the nearest name.
    pub fn of_names<'a>(
        names: impl IntoIterator<Item = &'a str>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Scrub, String> {
        let names: BTreeSet<&str> = names.into_iter().collect();
        let mut scrub = Scrub::default();
        if !names.is_empty() && !names.contains(SECOND) {
            scrub.edition = Edition::First;
        }
        for name in names {
            if name == SECOND {
                // It is no form.
            } else if let Some(variable_name) = name.strip_prefix(VARIABLE) {
                scrub = scrub.with_value(variable_name, &variable(variable_name).unwrap_or_default());
            } else {
                let form = Forms::named(name, scrub.edition).ok_or_else(|| {
                    let known = FORMS.iter().map(|form| form.name);
                    let hint = nearest(name, known).map_or_else(
                        || "a later version of Retake may know it".to_owned(),
                        |near| format!("did you mean {near:?}?"),
                    );
                    format!("{name:?} is not a known form of a secret; {hint}")
                })?;
                scrub.forms = scrub.forms.and(form);
            }
            scrub.names.insert(name.to_owned());
        }
        Ok(scrub)
    }

    /// Adds the value of a variable, which `<NAME>` replaces. A value that is too short to distinguish from other text is not
    /// searched for; see [`Secrets`](super::Secrets).
    pub fn with_value(mut self, name: &str, value: &str) -> Scrub {
        self.names.insert(format!("{VARIABLE}{name}"));
        self.values.push(Value::new(name, value));
        // If one value contains another, the longer one has to be found first.
        self.values.sort_by(|a, b| b.length().cmp(&a.length()).then_with(|| a.name.cmp(&b.name)));
        self
    }

    /// Decides what is done with suspected secrets.
    pub(super) fn with_suspects(mut self, suspects: Suspects) -> Scrub {
        for (name, suspected) in suspects.all() {
            let form = self.forms.iter().find(|form| form.name == name);
            match suspected {
                Suspected::Refuse => {}
                Suspected::Mask => self.masked.extend(form.map(|form| form.name)),
                Suspected::Keep => {
                    self.forms = self.forms.without(Forms::named(name, self.edition).unwrap_or_default());
                    self.names.remove(name);
                }
            }
        }
        self
    }

    /// Returns the suspected forms among the names of what was found that nobody has decided about, with their placeholders.
    pub fn undecided(&self, found: &Fired) -> Vec<(&'static str, &'static str)> {
        let suspected = self.forms.iter().filter(|of| Suspects::default().all().iter().any(|it| it.0 == of.name));
        let undecided = suspected.filter(|form| found.contains(form.name) && !self.masked.contains(form.name));
        undecided.map(|form| (form.name, form.placeholder())).collect()
    }

    /// Whether a name in the list of a fixture is that of a secret, and not of the edition that it was searched with.
    pub fn is_form(name: &str) -> bool {
        name != SECOND
    }

    /// Returns the placeholders of these secrets that are in a text.
    pub fn placeholders_in(&self, text: &str) -> Vec<String> {
        let of_forms = self.forms.placed(text.as_bytes()).iter().map(|form| form.placeholder().to_owned());
        let of_values = self.values.iter().map(|value| value.placeholder.clone());
        of_forms.chain(of_values.filter(|placeholder| text.contains(placeholder))).collect()
    }

    /// Whether there is nothing to search for.
    pub fn is_empty(&self) -> bool {
        self.forms.is_empty() && self.values.is_empty()
    }

    /// Returns the names of everything to search for, as a fixture lists them.
    pub fn names(&self) -> &Fired {
        &self.names
    }

    /// Adds everything that `other` searches for.
    pub fn and(mut self, other: Scrub) -> Scrub {
        // What searches for nothing has no edition of its own.
        self.edition = match (self.is_empty(), other.is_empty()) {
            (true, false) => other.edition,
            (false, true) => self.edition,
            _ => self.edition.max(other.edition),
        };
        self.names.extend(other.names);
        self.values.extend(other.values);
        self.forms = self.forms.and(other.forms);
        self
    }

    /// Returns a text without its secrets, borrowed if it has none.
    pub fn text<'a>(&self, text: &'a str, fired: &mut Fired) -> Cow<'a, str> {
        let mut pieces = [Cow::Borrowed(text)];
        self.pieces(&mut pieces, fired);
        let [text] = pieces;
        text
    }

    /// Removes secrets from a text in place.
    pub fn string(&self, text: &mut String, fired: &mut Fired) {
        let Cow::Owned(scrubbed) = self.text(text, fired) else { return };
        *text = scrubbed;
    }

    /// Removes secrets from the pieces of one text. The piece in which a secret begins gets the placeholder, and the later
    /// pieces lose their parts of the secret.
    pub(super) fn pieces(&self, pieces: &mut [Cow<'_, str>], fired: &mut Fired) {
        if pieces.iter().map(|piece| piece.len()).sum::<usize>() < SHORTEST {
            return;
        }
        let text = joined(pieces);
        let escapes = memchr::memchr2(b'%', b'\\', text.as_bytes()).is_some();
        let short = self.values.is_empty() && text.len() < base64_run::SHORTEST;
        if short && !escapes && self.forms.in_text(&text).is_empty() {
            return;
        }
        drop(text);
        // What is escaped comes first: without its escapes, a pattern would match only a part of it.
        while let Some(found) = self.escaped(&joined(pieces), fired) {
            replace(pieces, &found);
        }
        for value in &self.values {
            let text = joined(pieces);
            let found = merged(value.find(text.as_bytes()), value.cut_off(&text));
            drop(text);
            replace(pieces, &self.as_finds(found, &value.placeholder, &value.fired_as(), fired));
        }
        let mut likely = self.forms.in_text(&joined(pieces));
        for (at, form) in FORMS.iter().enumerate() {
            let found = if likely.has(at) { form.find(&joined(pieces), self.edition) } else { Vec::new() };
            if !found.is_empty() {
                replace(pieces, &self.as_finds(found, form.placeholder(), form.name, fired));
                // Some forms are known by the placeholder of another.
                likely = self.forms.in_text(&joined(pieces));
            }
        }
        replace(pieces, &self.base64(&joined(pieces), fired));
    }

    /// Returns what one view of a text shows, at its places in the text; `None` if no view shows a secret, or a placeholder
    /// that was encoded.
    fn escaped(&self, text: &str, fired: &mut Fired) -> Option<Vec<Find>> {
        View::all(text, self.edition).iter().find_map(|view| {
            let in_view = |finds: Vec<Find>| {
                let finds = finds.into_iter().map(|find| Find { range: view.place(find.range), ..find });
                let finds: Vec<Find> = finds.filter(|find| text[find.range.clone()] != find.with).collect();
                (!finds.is_empty()).then_some(finds)
            };
            let named = |placeholder: &str| {
                let at = memchr::memmem::find_iter(view.text.as_bytes(), placeholder.as_bytes());
                at.map(|at| at..at + placeholder.len()).collect::<Vec<_>>()
            };
            let values = self.values.iter().map(|value| {
                let found = merged(value.find(view.text.as_bytes()), value.cut_off(&view.text));
                (found, &*value.placeholder, value.fired_as())
            });
            let likely = self.forms.in_text(&view.text).and(self.forms.placed(view.text.as_bytes()));
            let forms = likely
                .iter()
                .map(|form| (form.find(&view.text, self.edition), form.placeholder(), form.name.to_owned()));
            let plain = values.chain(forms).map(|(found, placeholder, name)| {
                let mut new = Fired::new();
                (self.as_finds(merged(found, named(placeholder)), placeholder, &name, &mut new), new)
            });
            let in_base64 = std::iter::once_with(|| {
                let mut new = Fired::new();
                (self.base64(&view.text, &mut new), new)
            });
            let (finds, mut new) = plain.chain(in_base64).find_map(|(finds, new)| Some((in_view(finds)?, new)))?;
            fired.append(&mut new);
            Some(finds)
        })
    }

    /// Returns the runs of base64 that contain a secret, or a placeholder that was encoded, and the runs to replace them.
    fn base64(&self, text: &str, fired: &mut Fired) -> Vec<Find> {
        let mut finds: Vec<Find> = Vec::new();
        let of_values = self.values.iter().flat_map(|value| value.in_base64(text));
        let broken = if self.edition > Edition::First { broken_base64::runs(text) } else { Vec::new() };
        let parts = |run: BrokenRun| if self.is_in_two(&run.parts) { vec![run.whole] } else { run.parts };
        for run in broken.into_iter().flat_map(parts).chain(base64_run::runs(text)).chain(of_values) {
            let whole = run.range();
            if finds.iter().any(|find| find.range.start < whole.end && whole.start < find.range.end) {
                continue;
            }
            let (Some((range, with)), mut new) = self.in_run(&run) else { continue };
            if text[range.clone()] != with {
                finds.push(Find { range, with });
                fired.append(&mut new);
            }
        }
        finds.sort_by_key(|find| find.range.start);
        finds
    }

    /// Whether a secret, or a placeholder, is in two of the parts of a run. What has no parts is a whole.
    fn is_in_two(&self, parts: &[Run]) -> bool {
        let (mut of_parts, mut of_all, mut all) = (Fired::new(), Fired::new(), Vec::new());
        for part in parts {
            let scrubbed = self.bytes(&part.bytes, &mut of_parts);
            let bytes = scrubbed.as_deref().unwrap_or(&part.bytes);
            self.first_placeholder(bytes, &mut of_parts);
            all.extend_from_slice(bytes);
        }
        let more = self.bytes(&all, &mut of_all).is_some();
        self.first_placeholder(&all, &mut of_all);
        // The beginning of a secret may be a secret of another form.
        self.bytes(&parts.iter().flat_map(|part| part.bytes.clone()).collect::<Vec<u8>>(), &mut of_all);
        parts.is_empty() || more || !of_all.is_subset(&of_parts)
    }

    /// Returns the place of a run from its first secret or placeholder on, the base64 that replaces it, and what was found.
    fn in_run(&self, run: &Run) -> (Option<(Range<usize>, String)>, Fired) {
        let mut new = Fired::new();
        let scrubbed = self.bytes(&run.bytes, &mut new);
        let bytes = scrubbed.as_deref().unwrap_or(&run.bytes);
        // Base64 in base64 shows no placeholder here.
        let differs = || scrubbed.is_some().then(|| bytes.iter().zip(&run.bytes).position(|(a, b)| a != b))?;
        let at = self.first_placeholder(bytes, &mut new).or_else(differs);
        (at.map(|at| run.from(at, bytes)), new)
    }

    /// Ranges that a placeholder replaces, under the name that a fixture lists.
    fn as_finds(&self, found: Vec<Range<usize>>, placeholder: &str, name: &str, fired: &mut Fired) -> Vec<Find> {
        if !found.is_empty() {
            self.note(name.to_owned(), fired);
        }
        found.into_iter().map(|range| Find { range, with: placeholder.to_owned() }).collect()
    }

    fn note(&self, name: String, fired: &mut Fired) {
        fired.insert(name);
        if self.edition == Edition::Second {
            fired.insert(SECOND.to_owned());
        }
    }

    /// Returns the place of the first placeholder in some bytes, and notes all that are in them.
    fn first_placeholder(&self, bytes: &[u8], fired: &mut Fired) -> Option<usize> {
        memchr::memchr(b'<', bytes)?;
        let place = |placeholder: &str| memchr::memmem::find(bytes, placeholder.as_bytes());
        let values = self.values.iter().filter_map(|value| Some((place(&value.placeholder)?, value.fired_as())));
        let forms = self.forms.placed(bytes).iter().filter_map(|of| Some((place(of.placeholder())?, of.name.into())));
        let found = values.chain(forms).map(|(at, name)| {
            self.note(name, fired);
            at
        });
        found.min()
    }

    /// Returns bytes without their secrets, or `None` if they have none. Bytes that are not UTF-8 are read as Latin-1, after
    /// the values of variables were removed.
    pub fn bytes(&self, bytes: &[u8], fired: &mut Fired) -> Option<Vec<u8>> {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return if let Cow::Owned(text) = self.text(text, fired) { Some(text.into_bytes()) } else { None };
        }
        let mut scrubbed = bytes.to_owned();
        for value in &self.values {
            for range in value.find(&scrubbed).into_iter().rev() {
                self.note(value.fired_as(), fired);
                scrubbed.splice(range, value.placeholder.bytes());
            }
        }
        let text: String = scrubbed.iter().map(|byte| char::from(*byte)).collect();
        if let Cow::Owned(text) = self.text(&text, fired) {
            scrubbed = text.chars().map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
        }
        (scrubbed != bytes).then_some(scrubbed)
    }
}

fn joined<'a>(pieces: &'a [Cow<'_, str>]) -> Cow<'a, str> {
    match pieces {
        [one] => Cow::Borrowed(one.as_ref()),
        many => Cow::Owned(many.iter().map(AsRef::as_ref).collect()),
    }
}

/// A range of a text, and what replaces it.
struct Find {
    range: Range<usize>,
    with: String,
}

/// Replaces ranges of the joined text in its pieces. The ranges are sorted and do not overlap.
fn replace(pieces: &mut [Cow<'_, str>], found: &[Find]) {
    if found.is_empty() {
        return;
    }
    let mut end = 0;
    let place = |piece: &Cow<'_, str>| {
        end += piece.len();
        end - piece.len()..end
    };
    let places: Vec<Range<usize>> = pieces.iter().map(place).collect();
    // From the end, so the offsets of the earlier ranges stay valid.
    for Find { range, with } in found.iter().rev() {
        for (piece, place) in pieces.iter_mut().zip(&places) {
            let (from, to) = (range.start.max(place.start), range.end.min(place.end));
            if from < to {
                let with = if from == range.start { with.as_str() } else { "" };
                piece.to_mut().replace_range(from - place.start..to - place.start, with);
            }
        }
    }
}
