//! Suspected secrets: texts without a form of their own, which stand where a secret usually does, after `api_key=` or in a
//! cookie. They may also be something else, so a person decides what a recording does with them.

/// What a recording does with texts that stand where secrets usually do. `suite.toml` sets this for each rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Suspects {
    /// Values of keys and tokens: `SERVICE_API_KEY=…`, `api-key: …`, `client_secret`.
    pub key: Suspected,
    /// Passwords: `password=…`.
    pub password: Suspected,
    /// Headers with credentials: `authorization: …`.
    pub authorization: Suspected,
    /// Cookies: `cookie: session=…`.
    pub cookie: Suspected,
}

/// What is done with a suspected secret.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Suspected {
    /// It is replaced, and no fixture is written.
    #[default]
    Refuse,
    /// It is replaced.
    Mask,
    /// It is text like any other.
    Keep,
}

impl Suspects {
    /// Returns the form of each rule.
    pub(super) fn all(self) -> [(&'static str, Suspected); 4] {
        [
            ("suspected-key", self.key),
            ("suspected-password", self.password),
            ("suspected-authorization", self.authorization),
            ("suspected-cookie", self.cookie),
        ]
    }
}

/// Words in examples, which are no secrets.
const EXAMPLES: [&str; 27] = [
    "your",
    "example",
    "sample",
    "placeholder",
    "changeme",
    "change-me",
    "change_me",
    "redacted",
    "removed",
    "hidden",
    "dummy",
    "fake",
    "mock",
    "test",
    "insert",
    "replace",
    "enter",
    "xxxx",
    "....",
    "****",
    "1234567890",
    "0123456789abcdef",
    "abcdef",
    "passw",
    "p@ss",
    "lorem",
    "hmac-sha",
];

/// Whether a text in the place of a key or a token is one: it is long and irregular, and neither words nor an example.
pub(super) fn looks_like_key(text: &str) -> bool {
    let has = |of: fn(&u8) -> bool| text.bytes().filter(of).count();
    has(u8::is_ascii_digit) >= 2 && has(u8::is_ascii_alphabetic) >= 2 && entropy(text) >= 3.2 && is_irregular(text)
}

pub(super) fn looks_like_password(text: &str) -> bool {
    let has = |of: fn(&u8) -> bool| text.bytes().any(|byte| of(&byte));
    let special = |byte: &u8| byte.is_ascii_punctuation() && !b".-_/".contains(byte);
    let kinds = [has(u8::is_ascii_lowercase), has(u8::is_ascii_uppercase), has(u8::is_ascii_digit), has(special)];
    let kinds = kinds.iter().filter(|has| **has).count();
    has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
        && (kinds >= 3 || (text.len() >= 12 && entropy(text) >= 3.0))
        && !text.contains("://")
        && !text.starts_with(['/', '$', '%', '.', '~', ':'])
        && is_irregular(text)
}

/// Whether one of the values of a cookie is a key.
pub(super) fn looks_like_cookie(text: &str) -> bool {
    let value = |pair: &str| pair.split_once('=').is_some_and(|(_, value)| value.len() >= 16 && looks_like_key(value));
    text.split(';').any(|pair| value(pair.trim()))
}

fn is_irregular(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    !EXAMPLES.iter().any(|example| lower.contains(example)) && !is_words(text)
}

/// Whether most of a text is words: `my-service-account-2`, `settings.api.key`.
fn is_words(text: &str) -> bool {
    let parts = text.split(|c: char| !c.is_ascii_alphanumeric());
    let is_word = |part: &&str| {
        part.len() >= 3
            && part.bytes().all(|byte| byte.is_ascii_alphabetic())
            && (part[1..].bytes().all(|byte| byte.is_ascii_lowercase())
                || part.bytes().all(|byte| byte.is_ascii_uppercase()))
    };
    let words: usize = parts.filter(is_word).map(str::len).sum();
    words * 2 > text.len()
}

/// The entropy of the characters of a text, in bits for each.
fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let length = f64::from(counts.iter().sum::<u32>());
    let bits = |count: u32| {
        let share = f64::from(count) / length;
        -share * share.log2()
    };
    counts.into_iter().filter(|count| *count > 0).map(bits).sum()
}
