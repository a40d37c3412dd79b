//! What a request was sent to.

use std::borrow::Cow;

use super::{Api, api_of_path};

/// The method of a request and the path, with its query, that it was sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The method, in capitals.
    pub method: &'a str,
    /// The path, with its query if it has one.
    pub path: &'a str,
}

/// Names of query parameters that hold a key.
const KEYS: [&str; 5] = ["key", "api_key", "api-key", "apikey", "access_token"];

impl<'a> From<&'a str> for Target<'a> {
    /// A path that is posted to, as those of model calls are.
    fn from(path: &'a str) -> Target<'a> {
        Target { method: "POST", path }
    }
}

impl<'a> Target<'a> {
    /// Whether it is posted to.
    #[must_use]
    pub fn is_post(self) -> bool {
        self.method == "POST"
    }

    /// The API whose model calls are sent to it.
    #[must_use]
    pub fn api(self) -> Option<Api> {
        api_of_path(self.path).filter(|_| self.is_post())
    }

    /// The path as it is stored and counts: of what is posted without its query, since the body says what is wanted; of
    /// anything else with the query's parameters sorted, and without those that hold a key.
    #[must_use]
    pub fn stored(self) -> Cow<'a, str> {
        let path = self.path.split('#').next().unwrap_or_default();
        let Some((path, query)) = path.split_once('?') else { return Cow::Borrowed(path) };
        let is_key = |pair: &&str| {
            let name = pair.split('=').next().unwrap_or_default();
            KEYS.iter().any(|key| name.eq_ignore_ascii_case(key))
        };
        let mut pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !is_key(pair)).collect();
        if self.is_post() || pairs.is_empty() {
            return Cow::Borrowed(path);
        }
        pairs.sort_unstable();
        Cow::Owned(format!("{path}?{}", pairs.join("&")))
    }

    /// The last segments of the path, the last first.
    pub(super) fn segments(self) -> impl Iterator<Item = &'a str> {
        self.path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/').rsplit('/')
    }
}

#[cfg(test)]
mod tests;
