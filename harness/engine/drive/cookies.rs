//! The cookies of one stage, kept as a browser keeps them.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, header};
use cookie_store::CookieStore;
use url::Url;

#[derive(Default)]
pub(super) struct Cookies(CookieStore);

impl Cookies {
    /// Stores an answer's cookies, and returns their names and values.
    pub(super) fn store(&mut self, url: &str, headers: &HeaderMap) -> BTreeMap<String, String> {
        let Some(url) = trusted(url) else { return BTreeMap::new() };
        let mut set = BTreeMap::new();
        for line in headers.get_all(header::SET_COOKIE).iter().filter_map(|value| value.to_str().ok()) {
            if let Ok(cookie) = cookie_store::Cookie::parse(line.to_owned(), &url) {
                set.insert(cookie.name().to_owned(), cookie.value().to_owned());
            }
            let _ = self.0.parse(line, &url);
        }
        set
    }

    /// Returns the cookies that earlier answers have set, for all paths.
    pub(super) fn values(&self) -> BTreeMap<String, String> {
        self.0.iter_unexpired().map(|cookie| (cookie.name().to_owned(), cookie.value().to_owned())).collect()
    }

    #[cfg(feature = "browser")]
    pub(super) fn all(&self) -> Vec<crate::browser::Cookie> {
        let cookie = |cookie: &cookie_store::Cookie<'_>| crate::browser::Cookie {
            name: cookie.name().to_owned(),
            value: cookie.value().to_owned(),
            host: String::from(&cookie.domain),
            path: String::from(&cookie.path),
            http_only: cookie.http_only().unwrap_or_default(),
            secure: cookie.secure().unwrap_or_default(),
        };
        self.0.iter_unexpired().map(cookie).collect()
    }

    #[cfg(feature = "browser")]
    pub(super) fn replace(&mut self, cookies: &[crate::browser::Cookie]) {
        self.0 = CookieStore::default();
        for cookie in cookies {
            let flags = [(cookie.http_only, "; HttpOnly"), (cookie.secure, "; Secure")];
            let flags: String = flags.iter().filter(|(set, _)| *set).map(|(_, flag)| *flag).collect();
            let line = format!("{}={}; Path={}{flags}", cookie.name, cookie.value, cookie.path);
            if let Some(url) = trusted(&format!("http://{}{}", cookie.host, cookie.path)) {
                let _ = self.0.parse(&line, &url);
            }
        }
    }

    /// Returns the `Cookie` header for a request, or `None` if there is no cookie to send.
    pub(super) fn header(&self, url: &str) -> Option<String> {
        let url = trusted(url)?;
        let pairs: Vec<String> = self.0.get_request_values(&url).map(|(name, it)| format!("{name}={it}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

/// Parses a URL with `https` in place of `http`, because browsers send `Secure` cookies to loopback addresses over plain HTTP
/// too.
fn trusted(url: &str) -> Option<Url> {
    Url::parse(&url.replacen("http://", "https://", 1)).ok()
}
