//! What a form of secrets is: how it is found in a text, the name under which a fixture lists it, and its placeholder.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

use memchr::memmem::Finder;
use regex::{Captures, Regex};

use super::table::{COUNT, FORMS};
use super::{base64_run, likeness};
use crate::key::normalize::regex;

/// What a recording searches for changes from version to version, and replay has to remove from a call what the recording did.
/// So a fixture lists the edition with the forms that fired; one that lists none is of the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Edition {
    First,
    #[default]
    Second,
}

/// How a fixture lists the second edition.
pub(super) const SECOND: &str = "edition-2";

pub(super) type Needles = &'static [&'static str];

#[derive(Debug)]
pub(super) struct SecretForm {
    pub(super) name: &'static str,
    /// Every match contains one of these, so a text without any of them needs no search by the pattern. One that begins with a dash
    /// begins an argument.
    needles: Needles,
    how: How,
    /// The only edition that searches for it; `None` if each does.
    only: Option<Edition>,
    finders: OnceLock<Vec<Finder<'static>>>,
    regex: OnceLock<Regex>,
    placeholder: OnceLock<String>,
}

#[derive(Debug)]
pub(super) enum How {
    /// The secret is the first group of a match, or the whole match if the pattern has no group. A group that is named `vague`
    /// is the part of a secret whose beginning may also be that of a name: of words it is none.
    Pattern(&'static str),
    /// A needle, and at least so many characters of an alphabet after it. It costs no pattern.
    Token(fn(u8) -> bool, usize),
    Found(fn(&str) -> Vec<Range<usize>>),
}

impl SecretForm {
    pub(super) const fn new(name: &'static str, needles: Needles, how: How, only: Option<Edition>) -> SecretForm {
        let finders = OnceLock::new();
        let regex = OnceLock::new();
        let placeholder = OnceLock::new();
        SecretForm { name, needles, how, only, finders, regex, placeholder }
    }

    pub(super) fn is_of(&self, edition: Edition) -> bool {
        self.only.is_none_or(|only| only == edition)
    }

    /// The text that replaces a secret of this form.
    pub(super) fn placeholder(&self) -> &str {
        self.placeholder.get_or_init(|| match self.name {
            "signed-url" => "<SIGNATURE>".to_owned(),
            name => format!("<{}>", name.to_uppercase().replace('-', "_")),
        })
    }

    /// Returns the ranges of this form's secrets in a text, sorted and without overlaps.
    pub(super) fn find(&self, text: &str, edition: Edition) -> Vec<Range<usize>> {
        // What begins with a dash is an argument, and no part of a word: `follow-up` is none.
        let apart = |at: usize| at == 0 || !text.as_bytes()[at - 1].is_ascii_alphanumeric();
        let is_in = |of: &Finder<'_>| of.find_iter(text.as_bytes()).any(|at| of.needle()[0] != b'-' || apart(at));
        if !self.finders().iter().any(is_in) {
            return Vec::new();
        }
        let pattern = match self.how {
            How::Pattern(pattern) => pattern,
            How::Token(alphabet, least) => return self.tokens(text, edition, alphabet, least),
            How::Found(find) => return find(text),
        };
        let (regex, mut found, mut at) = (self.regex.get_or_init(|| regex(pattern)), Vec::new(), 0);
        while let Some(groups) = regex.captures_at(text, at) {
            let Some(whole) = groups.get(0) else { break };
            let vague = groups.name("vague");
            let group = groups.iter().skip(1).flatten().next().filter(|_| vague.is_none());
            let secret = group.unwrap_or(whole);
            // A secret that is known by the text before it need not begin a word.
            let apart = group.is_some() || begins_secret(text, whole.start(), edition);
            let words = || edition > Edition::First && vague.is_some_and(|vague| likeness::is_words(vague.as_str()));
            if apart && !words() && self.is_secret(secret.as_str(), &groups, edition) {
                found.push(secret.range());
                at = whole.end();
            } else {
                at = whole.start() + text[whole.start()..].chars().next().map_or(1, char::len_utf8);
            }
        }
        found
    }

    /// The needles, ready to search for.
    fn finders(&self) -> &[Finder<'static>] {
        self.finders.get_or_init(|| self.needles.iter().map(|needle| Finder::new(needle.as_bytes())).collect())
    }

    fn tokens(&self, text: &str, edition: Edition, alphabet: fn(u8) -> bool, least: usize) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for needle in self.finders() {
            for start in needle.find_iter(text.as_bytes()) {
                let from = start + needle.needle().len();
                let length = text.as_bytes()[from..].iter().take_while(|byte| alphabet(**byte)).count();
                let rest = &text[from..from + length];
                if length >= least && begins_secret(text, start, edition) && !likeness::is_words(rest) {
                    found.push(start..from + length);
                }
            }
        }
        found.sort_by_key(|range| range.start);
        found.dedup_by(|later, earlier| later.start < earlier.end);
        found
    }

    /// Whether a match is a secret: in the place of a token or a password there may also be an ordinary word or a placeholder.
    fn is_secret(&self, found: &str, groups: &Captures<'_>, edition: Edition) -> bool {
        let has = |of: fn(&u8) -> bool| found.as_bytes().iter().any(of);
        let of_old = edition == Edition::First;
        match self.name {
            "bearer-token" => {
                has(u8::is_ascii_digit)
                    || (has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase))
                    || (found.len() >= 24 && found.bytes().all(|byte| byte.is_ascii_alphanumeric()))
            }
            "suspected-key" | "suspected-authorization" | "discord-token" | "url-parameter" | "jwk" => {
                likeness::is_key(found)
            }
            "suspected-password" => likeness::is_password(found),
            "suspected-cookie" if of_old => likeness::is_cookie(found, |_| false),
            "suspected-cookie" => likeness::is_cookie(found, likeness::names_a_visitor),
            "signed-url" => of_old || likeness::is_random(found),
            "url-password" => {
                let is_variable = found.starts_with(['$', '{', '%', '[']) || found.bytes().all(|byte| byte == b'*');
                !is_variable && (of_old || !likeness::is_port(found))
            }
            "command-user" => {
                let before = groups.get(0).map_or("", |whole| whole.as_str().trim_end_matches(found));
                likeness::is_argument(found) && !before.ends_with(&format!("{found}:"))
            }
            "command-password" | "netrc-password" | "npmrc-token" | "header-token" => likeness::is_argument(found),
            "docker-auth" => likeness::is_basic(found),
            _ => true,
        }
    }
}

/// How many words of bits hold a bit for each form.
const WORDS: usize = 3;

const _: () = assert!(COUNT <= WORDS * 64, "a form is a bit");

/// Some of the forms, one bit for each of [`FORMS`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Forms([u64; WORDS]);

impl Forms {
    /// Returns the forms that an edition searches for.
    pub(super) fn all(edition: Edition) -> Forms {
        let of = FORMS.iter().enumerate().filter(|(_, form)| form.is_of(edition));
        of.fold(Forms::default(), |all, (at, _)| all.and(Forms::at(at)))
    }

    /// Returns the form of this name alone, as an edition searches for it.
    pub(super) fn named(name: &str, edition: Edition) -> Option<Forms> {
        let is = |form: &&SecretForm| form.name == name;
        let of_edition = FORMS.iter().position(|form| is(&form) && form.is_of(edition));
        of_edition.or_else(|| FORMS.iter().position(|form| is(&form))).map(Forms::at)
    }

    fn at(at: usize) -> Forms {
        let mut words = [0; WORDS];
        words[at / 64] = 1 << (at % 64);
        Forms(words)
    }

    pub(super) fn and(self, other: Forms) -> Forms {
        Forms(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    pub(super) fn without(self, other: Forms) -> Forms {
        Forms(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    pub(super) fn is_empty(self) -> bool {
        self == Forms::default()
    }

    /// Returns the forms in the order in which they are applied.
    pub(super) fn iter(self) -> impl Iterator<Item = &'static SecretForm> {
        FORMS.iter().enumerate().filter(move |(at, _)| self.has(*at)).map(|(_, form)| form)
    }

    /// Whether the form at a place is one of these.
    pub(super) fn has(self, at: usize) -> bool {
        self.0[at / 64] & 1 << (at % 64) != 0
    }

    /// Returns those of these forms that a text may contain, judged by two bytes of each of their needles. Most texts are short
    /// and contain none, and one look at each byte costs less than a search for each needle.
    pub(super) fn in_text(self, text: &str) -> Forms {
        let Pairs { class, forms } = &*PAIRS;
        let (mut found, mut before, mut last) = (Forms::default(), 0, 0);
        for byte in text.as_bytes() {
            let byte = usize::from(byte & 0x7f);
            let of = class[before << 7 | byte];
            if of != 0 && of != last {
                found = found.and(forms[usize::from(of)]);
                last = of;
            }
            before = byte;
        }
        self.both(found)
    }

    /// Returns those of these forms whose placeholders are in some bytes.
    pub(super) fn placed(self, bytes: &[u8]) -> Forms {
        let placed = memchr::memchr_iter(b'<', bytes).filter_map(|at| {
            PLACEHOLDERS.get(&bytes[at..=at + bytes[at..].iter().take(48).position(|byte| *byte == b'>')?])
        });
        self.both(placed.fold(Forms::default(), |all, forms| all.and(*forms)))
    }

    fn both(self, other: Forms) -> Forms {
        Forms(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }
}

/// The forms that a placeholder stands for.
static PLACEHOLDERS: LazyLock<HashMap<&'static [u8], Forms>> = LazyLock::new(|| {
    let mut all: HashMap<&'static [u8], Forms> = HashMap::new();
    for (at, form) in FORMS.iter().enumerate() {
        let forms = all.entry(form.placeholder().as_bytes()).or_default();
        *forms = forms.and(Forms::at(at));
    }
    all
});

/// Which forms have a needle with a pair of bytes: each pair has a class, and each class its forms. Pairs of no needle have the
/// class 0. So the table that is read for each byte is small.
struct Pairs {
    class: Box<[u8; 1 << 14]>,
    forms: Vec<Forms>,
}

static PAIRS: LazyLock<Pairs> = LazyLock::new(|| {
    let mut pairs = Pairs { class: Box::new([0; 1 << 14]), forms: vec![Forms::default()] };
    for (at, form) in FORMS.iter().enumerate() {
        for needle in form.needles {
            let class = &mut pairs.class[rarest(needle.as_bytes())];
            if *class == 0 {
                // More pairs than classes share the last one.
                *class = u8::try_from(pairs.forms.len()).unwrap_or(u8::MAX);
                pairs.forms.resize(usize::from(*class).max(pairs.forms.len() - 1) + 1, Forms::default());
            }
            let forms = &mut pairs.forms[usize::from(*class)];
            *forms = forms.and(Forms::at(at));
        }
    }
    pairs
});

/// The pair of a needle's bytes that ordinary texts have least often.
fn rarest(needle: &[u8]) -> usize {
    let common = |byte: u8| match byte {
        b'j' | b'k' | b'q' | b'v'..=b'z' | b'"' | b',' | b'.' | b':' => 2,
        b'a'..=b'z' => 3,
        b' ' => 4,
        _ => 1,
    };
    let pair = needle.windows(2).min_by_key(|pair| common(pair[0]) + common(pair[1]));
    pair.map_or(0, |pair| usize::from(pair[0] & 0x7f) << 7 | usize::from(pair[1] & 0x7f))
}

/// Whether a secret may begin at an offset: a word does, and it is not in the middle of a picture.
fn begins_secret(text: &str, at: usize, edition: Edition) -> bool {
    begins_word(text, at) && (edition == Edition::First || !base64_run::is_within(text, at))
}

/// Whether a word may begin at an offset: the `sk-…` in `risk-…` is not a key. An escape before the offset, such as `\n` in a
/// JSON string or `%20` in a URL, does not belong to the word.
fn begins_word(text: &str, at: usize) -> bool {
    let (before, from) = text.as_bytes().split_at(at);
    let goes_on = before.last().is_some_and(|last| last.is_ascii_alphanumeric() || *last == b'_');
    if !goes_on || !from.first().is_some_and(u8::is_ascii_alphanumeric) {
        return true;
    }
    let escaped = |length: usize, mark: &[u8]| {
        before.len().checked_sub(length).is_some_and(|start| {
            before[start..].starts_with(mark) && before[start + mark.len()..].iter().all(u8::is_ascii_hexdigit)
        })
    };
    matches!(before, [.., b'\\', b'n' | b'r' | b't' | b'b' | b'f']) || escaped(3, b"%") || escaped(6, b"\\u")
}
