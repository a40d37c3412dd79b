//! What a text looks like: a key, a password, words, an example. In the place of a secret there may also be something else, and
//! length, entropy and the letters that follow one another tell them apart.

use std::sync::LazyLock;

/// Words in examples, which are no secrets.
const EXAMPLES: &str = "\
    your example sample placeholder changeme change-me change_me redacted removed hidden dummy fake mock test \
    insert replace enter xxxx .... **** 1234567890 0123456789abcdef abcdef passw p@ss lorem hmac-sha";

/// Whether a text in the place of a key or a token is one: it is long and irregular, and neither words nor an example.
pub(super) fn is_key(text: &str) -> bool {
    let has = |of: fn(&u8) -> bool| text.bytes().filter(of).count();
    has(u8::is_ascii_digit) >= 2 && has(u8::is_ascii_alphabetic) >= 2 && entropy(text) >= 3.2 && is_irregular(text)
}

pub(super) fn is_password(text: &str) -> bool {
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

/// Whether one of the values of a cookie is a key. `is_open` says which names have values that open nothing.
pub(super) fn is_cookie(text: &str, is_open: impl Fn(&str) -> bool) -> bool {
    let mut pairs = text.split(';').filter_map(|pair| pair.trim().split_once('='));
    pairs.any(|(name, value)| value.len() >= 16 && !is_open(name) && is_key(value))
}

/// Whether a cookie of this name tells visitors apart, or counts them. It opens nothing.
pub(super) fn names_a_visitor(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let words = ["visitor", "device", "anonymous", "analytics", "_ga", "_gid", "_fbp", "utm_", "consent"];
    words.iter().any(|word| name.contains(word))
}

/// Whether a text in the place of a signature or of a parameter is long and irregular.
pub(super) fn is_random(text: &str) -> bool {
    entropy(text) >= 2.5 && !is_words(text) && !mostly_words(text)
}

/// Whether what seems a password in a URL is a port, with a query that has an address: `http://localhost:3000?email=a@b`.
pub(super) fn is_port(text: &str) -> bool {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=5).contains(&digits) && text[digits..].starts_with(['?', '#'])
}

/// Whether an argument of a command in the place of a password is one: not the name of a variable, a number or an example.
pub(super) fn is_argument(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    text.len() >= 3
        && !text.starts_with(['$', '<', '{', '%', '[', '-', '/'])
        && !text.bytes().all(|byte| byte.is_ascii_digit() || b"*.:x".contains(&byte))
        && !EXAMPLES.split(' ').any(|example| lower.contains(example))
        && !["user", "secret", "token", "group", "root", "admin", "wheel"].contains(&&*lower)
}

/// Whether a text is the base64 of a name and a password.
pub(super) fn is_basic(text: &str) -> bool {
    let decoded = super::base64_run::decode(text);
    decoded.is_some_and(|bytes| bytes.contains(&b':') && bytes.iter().all(|byte| matches!(byte, b' '..=b'~')))
}

/// The letters that often follow each letter in words, from `a` to `z`.
const LETTERS: &str = "\
    bcdgiklmnprstuvwy aeilorsu acehiklortu adeilorsu acdefgilmnpqrstvwx aefilortu aehinorsu aeiot \
    abcdefglmnoprstvxz aeou aeis adeilostuy abeimops acdefgiknostuvy bcdfgiklmnoprstuvw aeiloprstuy u \
    acdegiklmnorstuvy acehiklopstuy acehilorstuy abcdegilmnprst aei aehinors ept ps ei";

static FOLLOWS: LazyLock<Vec<&[u8]>> = LazyLock::new(|| LETTERS.split(' ').map(str::as_bytes).collect());

/// Whether a text consists of words that are written together: `AutoModelForSequenceClassification`. Nearly all of it has to be
/// words, and in a word nearly each letter is one that often follows the letter before it.
pub(super) fn is_words(text: &str) -> bool {
    word_letters(text) * 4 >= text.len() * 3
}

/// How many letters of a text are in words.
pub(super) fn word_letters(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut letters) = (0, 0);
    while at < bytes.len() {
        let start = at;
        let upper = bytes[at..].iter().take_while(|byte| byte.is_ascii_uppercase()).count();
        let lower = bytes[at + upper..].iter().take_while(|byte| byte.is_ascii_lowercase()).count();
        // In `LMHead` the last capital begins a word.
        let begin = if upper > 1 && lower > 0 { start + upper - 1 } else { start };
        at = (start + upper + lower).max(start + 1);
        let words = [&bytes[start..begin], &bytes[begin..start + upper + lower]];
        letters += words.into_iter().filter(|word| is_word(word)).map(<[u8]>::len).sum::<usize>();
    }
    letters
}

fn is_word(word: &[u8]) -> bool {
    let often = |pair: &&[u8]| {
        let [first, second] = [0, 1].map(|at| pair[at].to_ascii_lowercase());
        FOLLOWS[usize::from(first - b'a')].contains(&second)
    };
    word.len() >= 3 && word.windows(2).filter(often).count() * 10 >= (word.len() - 1) * 7
}

fn is_irregular(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    !EXAMPLES.split(' ').any(|example| lower.contains(example)) && !mostly_words(text)
}

/// Whether most of a text is words: `my-service-account-2`, `settings.api.key`.
fn mostly_words(text: &str) -> bool {
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
pub(super) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    text.bytes().for_each(|byte| counts[usize::from(byte)] += 1);
    let length = f64::from(counts.iter().sum::<u32>());
    let bits = |count: u32| {
        let share = f64::from(count) / length;
        -share * share.log2()
    };
    counts.into_iter().filter(|count| *count > 0).map(bits).sum()
}
