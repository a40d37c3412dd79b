//! The providers' keys. Nothing that leaves the relay for a runner has one in it.

use std::collections::BTreeSet;

use axum::body::Bytes;
use memchr::memmem;

use super::providers;
use retake_base::error::{Error, Result};
use retake_core::json::Json;
use retake_core::secrets::{Scrub, Secrets, Suspects};
use retake_wire::fixture::call_log::LoggedCall;

/// The keys that are set.
#[derive(Debug)]
pub(super) struct Keys {
    /// The variables that hold them.
    pub(super) names: Vec<String>,
    /// For calls: a key that the project does not declare may not be in one.
    secrets: Secrets,
    /// For what is written.
    scrub: Scrub,
    /// Each key that can be told from other text, with its placeholder.
    values: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Keys {
    /// Reads the keys that `value` returns for their variables. `declared` are the secrets of the project.
    /// Fails if a declared key is too short to search for.
    pub(super) fn read(declared: &BTreeSet<String>, value: impl Fn(&str) -> Option<String>) -> Result<Keys> {
        let set = |name: &str| Some((name.to_owned(), value(name).filter(|value| !value.is_empty())?));
        let set: Vec<(String, String)> = providers::key_variables().filter_map(set).collect();
        let secrets = Secrets::new(declared, set.iter().cloned(), Suspects::default()).map_err(Error::new)?;
        let (mut scrub, mut values) = (Scrub::default(), Vec::new());
        for (name, value) in &set {
            // What does not look like a key is too likely to be in other text: Ollama takes any word.
            if secrets.scrub().names().contains(&format!("env:{name}")) {
                scrub = scrub.with_value(name, value);
                values.push((value.clone().into_bytes(), format!("<{name}>").into_bytes()));
            }
        }
        values.sort_by_key(|(value, _)| std::cmp::Reverse(value.len()));
        Ok(Keys { names: set.into_iter().map(|(name, _)| name).collect(), secrets, scrub, values })
    }

    pub(super) fn undeclared_in(&self, path: &str, body: &[u8]) -> Option<&str> {
        if self.values.is_empty() {
            return None;
        }
        let body = Json::parse(body).unwrap_or_else(|_| Json::Str(String::from_utf8_lossy(body).into_owned()));
        self.secrets.undeclared_in(&body, path)
    }

    /// Returns a journal's line without the keys, or `None` if it has none.
    /// Fails if it is no line of a journal.
    pub(super) fn scrubbed(&self, line: &[u8]) -> Result<Option<String>, String> {
        let mut call = LoggedCall::of_line(line)?;
        let before = call.scrub.len();
        call.scrub_with(&self.scrub);
        Ok((call.scrub.len() > before).then(|| call.line()))
    }

    /// Returns what removes the keys from an answer.
    pub(super) fn censor(&self) -> Censor {
        Censor { values: self.values.clone(), held: Vec::new() }
    }
}

/// Removes the keys from an answer while it arrives. It holds back only bytes that may be the beginning of a key.
#[derive(Debug)]
pub(super) struct Censor {
    values: Vec<(Vec<u8>, Vec<u8>)>,
    held: Vec<u8>,
}

impl Censor {
    /// Returns what can be passed on of the bytes so far.
    pub(super) fn push(&mut self, bytes: Bytes) -> Bytes {
        if self.values.is_empty() || bytes.is_empty() {
            return bytes;
        }
        let mut all = std::mem::take(&mut self.held);
        all.extend_from_slice(&bytes);
        let mut changed = false;
        for (value, placeholder) in &self.values {
            let mut from = 0;
            while let Some(at) = memmem::find(&all[from..], value) {
                all.splice(from + at..from + at + value.len(), placeholder.iter().copied());
                from += at + placeholder.len();
                changed = true;
            }
        }
        let begins = |(value, _): &(Vec<u8>, Vec<u8>)| {
            let most = (value.len() - 1).min(all.len());
            (1..=most).rev().find(|length| all.ends_with(&value[..*length])).unwrap_or_default()
        };
        let begun = self.values.iter().map(begins).max().unwrap_or_default();
        if !changed && begun == 0 && all.len() == bytes.len() {
            return bytes;
        }
        self.held = all.split_off(all.len() - begun);
        all.into()
    }

    /// Returns what was held back.
    pub(super) fn finish(&mut self) -> Bytes {
        std::mem::take(&mut self.held).into()
    }
}

#[cfg(test)]
mod tests;
