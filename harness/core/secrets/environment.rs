//! The secrets that a recording keeps out of files: every known form, the values of declared environment variables, and the
//! values of other variables that look like secrets.

use std::collections::BTreeMap;

use super::forms::Edition;
use super::likeness;
use super::scrub::Scrub;
use super::suspects::Suspects;
use super::value::{SHORTEST, Value};
use super::view::View;
use crate::json::{Json, Layout};

/// The shortest value, in bytes, of an undeclared variable that is treated as a secret.
const SHORTEST_UNDECLARED: usize = 8;

/// Words that mark the value of a variable as a secret, if one of them is a part of its name.
const NAMES: &str = "\
    KEY APIKEY TOKEN SECRET SECRETS PASSWORD PASSWD PASS PASSPHRASE CREDENTIAL CREDENTIALS PAT JWT PRIVATEKEY \
    COOKIE COOKIES DSN PRIVATE SALT URI WEBHOOK";

/// Values that are never secret, whatever the name of their variable is.
const COMMON: &str = "\
    password changeme disabled required optional undefined localhost anonymous development production test1234 \
    12345678";

/// The secrets of a recording.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    scrub: Scrub,
    undeclared: Vec<Value>,
}

impl Secrets {
    /// Collects the declared variables of an environment, and its other variables that look like secrets. `suspects` says what to
    /// do with texts that only stand where secrets do.
    ///
    /// # Errors
    /// If the value of a declared variable is too short to search for.
    pub fn new(
        declared: impl IntoIterator<Item = impl AsRef<str>>,
        environment: impl IntoIterator<Item = (String, String)>,
        suspects: Suspects,
    ) -> Result<Secrets, String> {
        let environment: BTreeMap<String, String> = environment.into_iter().collect();
        let mut secrets = Secrets { scrub: Scrub::known().with_suspects(suspects), undeclared: Vec::new() };
        let mut values = Vec::new();
        for name in declared {
            let name = name.as_ref();
            let Some(value) = environment.get(name).filter(|value| !value.is_empty()) else { continue };
            if value.len() < SHORTEST {
                return Err(format!(
                    "the value of {name} has {} characters: a secret needs at least {SHORTEST} to be told from other text",
                    value.len()
                ));
            }
            values.push(value);
            secrets.scrub = secrets.scrub.with_value(name, value);
        }
        for (name, value) in &environment {
            if !values.contains(&value) && looks_secret(name, value) {
                secrets.undeclared.push(Value::new(name, value));
                secrets.scrub = secrets.scrub.with_value(name, value);
            }
        }
        Ok(secrets)
    }

    /// Returns the secrets to keep out of files.
    pub fn scrub(&self) -> &Scrub {
        &self.scrub
    }

    /// Returns the name of an undeclared variable whose value is in a request: the first such name in alphabetical order.
    pub fn undeclared_in(&self, request: &Json, path: &str) -> Option<&str> {
        if self.undeclared.is_empty() {
            return None;
        }
        let text = format!("{path}\n{}", request.print(Layout::Compact));
        let views = View::all(&text, Edition::Second);
        let is_in = |value: &Value, text: &str| {
            let in_base64 = || value.in_base64(text).iter().any(|run| !value.find(&run.bytes).is_empty());
            !value.find(text.as_bytes()).is_empty() || in_base64()
        };
        let in_any = |value: &&Value| is_in(value, &text) || views.iter().any(|view| is_in(value, &view.text));
        self.undeclared.iter().find(in_any).map(|value| &*value.name)
    }
}

/// Whether the name of a variable or a header is that of a secret.
pub fn names_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| {
        NAMES.split(' ').any(|name| name == part)
            || ["APIKEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| part.ends_with(word))
    })
}

fn looks_secret(name: &str, value: &str) -> bool {
    let is_path = value.starts_with(['/', '~', '.']) || value.get(1..2) == Some(":") && value.contains('\\');
    let first = value.chars().next();
    names_secret(name)
        && value.len() >= SHORTEST_UNDECLARED
        && !value.contains(char::is_whitespace)
        && !is_path
        && !value.starts_with('<')
        && !value.chars().all(|c| Some(c) == first)
        && !is_open_address(value)
        && !COMMON.split(' ').any(|common| common.eq_ignore_ascii_case(value))
}

/// Whether a value is the address of something without a credential in it: `http://localhost:3000/callback`.
fn is_open_address(value: &str) -> bool {
    let Some((_, rest)) = value.split_once("://") else { return false };
    let parts = rest.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_'));
    !rest.contains('@') && !parts.clone().any(|part| part.len() >= 16 && likeness::is_key(part))
}
