//! The method and path of a request.

use std::borrow::Cow;

use super::{Api, api_of_path};

/// The method and the path of a request, with its query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The method, in capitals.
    pub method: &'a str,
    /// The path, including the query if there is one.
    pub path: &'a str,
}

/// The names of query parameters that contain an API key.
const KEYS: [&str; 5] = ["key", "api_key", "api-key", "apikey", "access_token"];

impl<'a> From<&'a str> for Target<'a> {
    /// Creates the target of a `POST` request, which is what model calls are.
    fn from(path: &'a str) -> Target<'a> {
        Target { method: "POST", path }
    }
}

impl<'a> Target<'a> {
    /// Whether the method is `POST`.
    pub fn is_post(self) -> bool {
        self.method == "POST"
    }

    /// The API whose model calls are sent to this target; `None` if none are.
    pub fn api(self) -> Option<Api> {
        api_of_path(self.path).filter(|_| self.is_post())
    }

    /// Returns the path in the form that is stored and that is part of the key. For a `POST` request this is the path without the
    /// query, since the body says what is wanted. For all other requests the query's parameters are sorted, and those that
    /// contain an API key are removed.
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

    /// The segments of the path that name a version, such as `v1` or `v1beta`. There is usually one, or none.
    pub fn version(self) -> String {
        let is_version = |segment: &&str| {
            let number = segment.strip_prefix('v').unwrap_or_default();
            number.starts_with(|c: char| c.is_ascii_digit()) && number.bytes().all(|byte| byte.is_ascii_alphanumeric())
        };
        let versions: Vec<&str> = self.segments().filter(is_version).collect();
        versions.into_iter().rev().collect::<Vec<_>>().join("/")
    }

    /// Iterates over the segments of the path, from the last to the first.
    pub(super) fn segments(self) -> impl Iterator<Item = &'a str> {
        self.path.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/').rsplit('/')
    }
}

#[cfg(test)]
mod tests;
