//! Places of a run, named in what is stored (KEY.md, section 7): the project's root, the folders and the servers of a stage. Pure.
//!
//! A recording that says a place of its own machine fits no other. So a stored text has the place's name, `<retake:root>`, and a run
//! puts its own place there before anything is compared or served.

use std::borrow::Cow;

/// The beginning of a name in a text.
const NAME: &str = "<retake:";
/// What stands for a `<` that begins a name in the text itself.
const ESCAPE: &str = "<retake:lt>";

/// Places and their names, the longest place first.
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
    /// The places of a run: a name such as `root` or `system app`, and a path or an address. A path of one component is left out, since
    /// `/app` may mean many things; so is an empty one.
    pub fn new<N: Into<String>>(places: impl IntoIterator<Item = (N, String)>) -> Places {
        let is_long = |place: &str| place.trim_matches('/').contains(['/', ':', '\\']);
        let places = places.into_iter().map(|(name, place)| Place { name: name.into(), place });
        let mut places: Vec<Place> = places.filter(|it| is_long(&it.place)).collect();
        for it in &mut places {
            it.place.truncate(it.place.trim_end_matches('/').len());
        }
        places.sort_by(|a, b| b.place.len().cmp(&a.place.len()).then_with(|| a.name.cmp(&b.name)));
        Places(places)
    }

    /// Returns a text with the names in place of the places. It is borrowed if it has neither.
    pub fn named<'a>(&self, text: &'a str) -> Cow<'a, str> {
        self.replaced(text, |rest, before| {
            if rest.starts_with(NAME) {
                return Some((1, ESCAPE.to_owned()));
            }
            let at = |place: &Place| {
                let spelled = place.spelled(before, rest)?;
                let end = rest.strip_prefix(&*spelled)?.chars().next();
                let ends = !end.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-');
                ends.then(|| (spelled.len(), format!("{NAME}{}>", place.name)))
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
            let place = self.0.iter().find(|place| place.name == name)?;
            let length = NAME.len() + name.len() + 1;
            Some((length, place.written(spelling(before, &rest[length..]))))
        })
    }

    /// Replaces parts of a text. `replace` gets the rest of the text and what is before it, and returns the length of what it replaces.
    fn replaced<'a>(&self, text: &'a str, replace: impl Fn(&str, &str) -> Option<(usize, String)>) -> Cow<'a, str> {
        let (mut out, mut done) = (String::new(), 0);
        let mut at = 0;
        while let Some(found) = text[at..].find(|c: char| c == '<' || self.may_begin(c)) {
            at += found;
            match replace(&text[at..], &text[..at]) {
                Some((length, by)) => {
                    out.push_str(&text[done..at]);
                    out.push_str(&by);
                    at += length;
                    done = at;
                }
                None => at += text[at..].chars().next().map_or(1, char::len_utf8),
            }
        }
        if done == 0 {
            return Cow::Borrowed(text);
        }
        out.push_str(&text[done..]);
        Cow::Owned(out)
    }

    fn may_begin(&self, c: char) -> bool {
        c == '\\' || self.0.iter().any(|place| place.place.starts_with(c))
    }
}

impl Place {
    /// Returns the place as it would be spelled here; `None` if it cannot begin here, within a longer path.
    fn spelled(&self, before: &str, rest: &str) -> Option<String> {
        let is_url = before.ends_with("file://");
        let path = self.place.starts_with('/');
        let within = |c: char| c.is_alphanumeric() || "_-.".contains(c) || (path && c == '/');
        if !is_url && before.chars().next_back().is_some_and(within) && !escaped(before) {
            return None;
        }
        Some(self.written(if is_url { Spelling::Url } else { spelling("", rest) }))
    }

    fn written(&self, spelling: Spelling) -> String {
        match spelling {
            Spelling::Plain => self.place.clone(),
            Spelling::Slashes => self.place.replace('/', "\\/"),
            Spelling::Url => {
                let plain = |c: u8| c.is_ascii_alphanumeric() || b"/-._~".contains(&c);
                let written = |c: u8| if plain(c) { char::from(c).to_string() } else { format!("%{c:02X}") };
                self.place.bytes().map(written).collect()
            }
        }
    }
}

/// Whether a text ends with an escape of JSON, whose letter is no part of a path: `\n`.
fn escaped(before: &str) -> bool {
    before.ends_with("\\n") || before.ends_with("\\t") || before.ends_with("\\r")
}

/// How a place between two texts is spelled.
fn spelling(before: &str, after: &str) -> Spelling {
    if before.ends_with("file://") {
        Spelling::Url
    } else if after.starts_with("\\/") {
        Spelling::Slashes
    } else {
        Spelling::Plain
    }
}

#[cfg(test)]
mod tests;
