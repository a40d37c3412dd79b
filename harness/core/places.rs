//! Places of a run, named in what is stored (KEY.md, section 7): the project's root, the folders and the servers of a stage. Pure.
//!
//! A recording that says a place of its own machine fits no other. So a stored text has the place's name, `<retake:root>`, and a run
//! puts its own place there before anything is compared or served.

mod run_values;
mod within;

use std::borrow::Cow;

pub use run_values::{RunValues, Told};
pub use within::Within;

/// The beginning of a name in a text.
const NAME: &str = "<retake:";
/// What stands for a `<` that begins a name in the text itself.
const ESCAPE: &str = "<retake:lt>";

/// Places and their names, the longest place first. Of several places of one name, the one that was given first is put where the
/// name stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places(Vec<Place>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    name: String,
    place: String,
}

/// How a place is spelled in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Spelling {
    Plain,
    /// In JSON whose slashes are escaped: `\/home\/me`.
    Slashes,
    /// In a `file://` URL: `/home/my%20project`.
    Url,
}

impl Places {
    /// The places of a run: a name such as `root` or `system app`, and a path or an address. The root of all paths is none.
    pub fn new<N: Into<String>>(places: impl IntoIterator<Item = (N, String)>) -> Places {
        let places = places.into_iter().map(|(name, mut place)| {
            place.truncate(place.trim_end_matches('/').len());
            Place { name: name.into(), place }
        });
        let mut places: Vec<Place> = places.filter(|it| !it.place.is_empty()).collect();
        places.sort_by_key(|it| std::cmp::Reverse(it.place.len()));
        Places(places)
    }

    /// All places with their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|it| (it.name.as_str(), it.place.as_str()))
    }

    /// Returns a text with the names in place of the places, and a text's own names escaped. A path of one component (`/app`) may mean
    /// many things: it is named where a path follows that `exists` below it.
    pub fn named<'a>(&self, text: &'a str, exists: &dyn Fn(&str) -> bool) -> Cow<'a, str> {
        self.replaced(text, |rest, before| {
            if rest.starts_with(NAME) {
                return Some((1, ESCAPE.to_owned()));
            }
            let at = |place: &Place| {
                let length = place.length_at(before, rest)?;
                let is_meant = !place.is_short() || exists(&component_below(&place.place, &rest[length..])?);
                is_meant.then(|| (length, format!("{NAME}{}>", place.name)))
            };
            self.0.iter().find_map(at)
        })
    }

    /// Returns a stored text with the places in place of their names. A name that this run has no place for stays.
    pub fn resolved<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replaced(text, |rest, before| {
            if rest.starts_with(ESCAPE) {
                return Some((ESCAPE.len(), "<".to_owned()));
            }
            let name = rest.strip_prefix(NAME)?.split_once('>')?.0;
            let place = self.place_of(name)?;
            let length = NAME.len() + name.len() + 1;
            Some((length, written(place, spelling(before, &rest[length..]))))
        })
    }

    /// The place that has a name.
    pub fn place_of(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|it| it.name == name).map(|it| it.place.as_str())
    }

    /// The places of one component that stand bare in a text, with their names.
    pub fn bare_in<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let short = self.0.iter().filter(|it| it.is_short());
        let stands = |it: &&Place| text.match_indices(&it.place).any(|(at, _)| it.is_bare(&text[..at], &text[at..]));
        short.filter(stands).map(|it| (it.name.as_str(), it.place.as_str()))
    }

    /// Returns a text with the names of these places where they stand bare.
    pub fn bare_named<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replaced(text, |rest, before| {
            let bare = self.0.iter().find(|it| it.is_bare(before, rest))?;
            Some((bare.place.len(), format!("{NAME}{}>", bare.name)))
        })
    }

    /// Returns a text with another text in place of each place, whatever follows it.
    pub fn put<'a>(&self, text: &'a str, by: &str) -> Cow<'a, str> {
        self.replaced(text, |rest, at| Some((self.0.iter().find_map(|it| it.length_at(at, rest))?, by.to_owned())))
    }

    /// Returns a text with the names, as they are, in place of the places.
    pub fn put_names<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let at = |rest: &str, before: &str, it: &Place| Some((it.length_at(before, rest)?, it.name.clone()));
        self.replaced(text, |rest, before| self.0.iter().find_map(|it| at(rest, before, it)))
    }

    /// Returns a text with `<PATH>` in place of paths below these places, as the key's rules replace those below `/tmp`.
    pub fn as_paths<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replaced(text, |rest, before| {
            let length = self.0.iter().find_map(|place| place.length_at(before, rest))?;
            let ends = |c: char| c.is_whitespace() || c == '"' || c == '\'';
            Some((rest[length..].find(ends).map_or(rest.len(), |end| length + end), "<PATH>".to_owned()))
        })
    }

    /// Replaces parts of a text. `replace` gets the rest of the text and what is before it, and returns the length of what it replaces.
    fn replaced<'a>(&self, text: &'a str, replace: impl Fn(&str, &str) -> Option<(usize, String)>) -> Cow<'a, str> {
        let (mut out, mut done, mut at) = (String::new(), 0, 0);
        let may_begin = |c: char| c == '<' || c == '\\' || self.0.iter().any(|it| it.place.starts_with(c));
        while let Some(found) = text[at..].find(may_begin) {
            at += found;
            match replace(&text[at..], &text[..at]) {
                Some((length, by)) => {
                    out.extend([&text[done..at], &by]);
                    at += length;
                    done = at;
                }
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        if done == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[done..]) }
    }
}

/// Whether a stored text may hold a name.
pub fn has_name(text: &str) -> bool {
    text.contains(NAME)
}

impl Place {
    /// Whether it is a path of one component.
    fn is_short(&self) -> bool {
        !self.place.trim_start_matches('/').contains(['/', ':', '\\'])
    }

    /// Whether the place begins here, and nothing follows that belongs to a longer path.
    fn is_bare(&self, before: &str, rest: &str) -> bool {
        self.length_at(before, rest).is_some_and(|length| component_below(&self.place, &rest[length..]).is_none())
    }

    /// Returns how long the place is that begins here, as it is spelled; `None` if none does.
    fn length_at(&self, before: &str, rest: &str) -> Option<usize> {
        let is_url = before.ends_with("file://") || before.ends_with("file:\\/\\/");
        let is_path = self.place.starts_with('/');
        let within = |c: char| c.is_alphanumeric() || "_-.~".contains(c) || (is_path && c == '/');
        if !is_url && before.chars().next_back().is_some_and(within) && !escaped(before) {
            return None;
        }
        let spellings = [Spelling::Plain, Spelling::Slashes, Spelling::Url];
        let wanted = spellings.into_iter().filter(|spelling| is_url || *spelling != Spelling::Url);
        let ends = |spelled: &String| {
            let after = rest.strip_prefix(spelled.as_str()).map(|after| after.chars().next());
            after.is_some_and(|next| !next.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-'))
        };
        wanted.map(|spelling| written(&self.place, spelling)).find(ends).map(|spelled| spelled.len())
    }
}

/// How a place is written in a spelling.
fn written(place: &str, spelling: Spelling) -> String {
    match spelling {
        Spelling::Plain => place.to_owned(),
        Spelling::Slashes => place.replace('/', "\\/"),
        Spelling::Url => {
            let plain = |c: u8| c.is_ascii_alphanumeric() || b"/-._~".contains(&c);
            place.bytes().map(|c: u8| if plain(c) { char::from(c).to_string() } else { format!("%{c:02X}") }).collect()
        }
    }
}

/// Returns a place with the path component that follows it; `None` if none does.
fn component_below(place: &str, after: &str) -> Option<String> {
    let below = after.strip_prefix('/').or_else(|| after.strip_prefix("\\/"))?;
    let ends = |c: char| c.is_whitespace() || "/\\\"'`<>|,;:()[]{}*?&".contains(c);
    let component = below[..below.find(ends).unwrap_or(below.len())].trim_end_matches('.');
    (!component.is_empty()).then(|| format!("{place}/{component}"))
}

/// Whether a text ends with an escape of JSON, whose letter is no part of a path: `\n`.
fn escaped(before: &str) -> bool {
    before.ends_with("\\n") || before.ends_with("\\t") || before.ends_with("\\r")
}

/// How a place between two texts is spelled.
fn spelling(before: &str, after: &str) -> Spelling {
    if after.starts_with("\\/") || before.ends_with("\\/") {
        Spelling::Slashes
    } else if before.ends_with("file://") {
        Spelling::Url
    } else {
        Spelling::Plain
    }
}

#[cfg(test)]
mod tests;
