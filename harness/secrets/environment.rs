//! What a recording keeps from files: every known form, declared variables, and what else of the runner's environment
//! looks like a secret.

use std::collections::BTreeMap;

use super::encoded::{SHORTEST, Value};
use super::scrub::Scrub;
use crate::json::{Json, Layout};

/// Below this many characters the value of a variable that nobody declared is not taken for a secret.
const SHORTEST_UNDECLARED: usize = 8;

/// Words that say, as a part of a variable's name, that its value is a secret.
const NAMES: [&str; 14] = [
    "KEY",
    "APIKEY",
    "TOKEN",
    "SECRET",
    "SECRETS",
    "PASSWORD",
    "PASSWD",
    "PASS",
    "PASSPHRASE",
    "CREDENTIAL",
    "CREDENTIALS",
    "PAT",
    "JWT",
    "PRIVATEKEY",
];

/// Values that are not secret, whatever their variable is called.
const COMMON: [&str; 12] = [
    "password",
    "changeme",
    "disabled",
    "required",
    "optional",
    "undefined",
    "localhost",
    "anonymous",
    "development",
    "production",
    "test1234",
    "12345678",
];

/// The secrets of a recording.
#[derive(Clone, Debug, Default)]
pub struct Secrets {
    scrub: Scrub,
    undeclared: Vec<Value>,
}

impl Secrets {
    /// The variables that were declared, and those of an environment that look like secrets.
    ///
    /// # Errors
    /// A declared value that is too short to be found again, with its variable.
    pub fn new(
        declared: impl IntoIterator<Item = impl AsRef<str>>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Secrets, String> {
        let environment: BTreeMap<String, String> = environment.into_iter().collect();
        let mut secrets = Secrets { scrub: Scrub::known(), undeclared: Vec::new() };
        let mut values = Vec::new();
        for name in declared {
            let name = name.as_ref();
            let Some(value) = environment.get(name).filter(|value| !value.is_empty()) else { continue };
            if value.len() < SHORTEST {
                return Err(format!(
                    "the value of {name} has {} characters: below {SHORTEST} a secret is not told from other text",
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

    /// All that is kept from files.
    #[must_use]
    pub fn scrub(&self) -> &Scrub {
        &self.scrub
    }

    /// The first variable, by name, that nobody declared and whose value is in a request.
    #[must_use]
    pub fn undeclared_in(&self, request: &Json, path: &str) -> Option<&str> {
        if self.undeclared.is_empty() {
            return None;
        }
        let text = format!("{path}\n{}", request.print(Layout::Compact));
        self.undeclared.iter().find(|value| value.is_in(&text)).map(Value::name)
    }
}

fn looks_secret(name: &str, value: &str) -> bool {
    let says = name.to_ascii_uppercase();
    let says = says.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| {
        NAMES.contains(&part) || ["APIKEY", "TOKEN", "SECRET", "PASSWORD"].iter().any(|word| part.ends_with(word))
    });
    let is_path =
        value.starts_with(['/', '~', '.']) || (value.as_bytes().get(1) == Some(&b':') && value.contains('\\'));
    let first = value.chars().next();
    says && value.len() >= SHORTEST_UNDECLARED
        && !value.contains(char::is_whitespace)
        && !is_path
        && !value.starts_with('<')
        && !value.chars().all(|c| Some(c) == first)
        && !COMMON.contains(&value.to_ascii_lowercase().as_str())
}
