//! The providers to which calls are passed on while recording: their addresses, and how each of them takes its key.

use std::{env, fmt};

use axum::http::{HeaderMap, Method, header};

use crate::clients::Clients;
use retake_base::error::{Error, Result};
use retake_wire::Api;

/// The headers of a call that are passed on.
const PASSED: [&str; 10] = [
    "content-type",
    "accept",
    "anthropic-version",
    "anthropic-beta",
    "openai-beta",
    // These identify the account, or the customer of a gateway.
    "openai-organization",
    "openai-project",
    "x-goog-user-project",
    "http-referer",
    "x-title",
];

/// A provider: the environment variables that configure it, its own address, and the header that takes its key.
struct Provider {
    name: &'static str,
    address: &'static str,
    keys: &'static [&'static str],
    base: &'static str,
    key_header: &'static str,
}

const PROVIDERS: [Provider; 4] = [
    Provider {
        name: "OpenAI",
        address: "RETAKE_UPSTREAM_OPENAI",
        keys: &["OPENAI_API_KEY"],
        base: "https://api.openai.com/v1",
        key_header: "authorization",
    },
    Provider {
        name: "Anthropic",
        address: "RETAKE_UPSTREAM_ANTHROPIC",
        keys: &["ANTHROPIC_API_KEY"],
        base: "https://api.anthropic.com",
        key_header: "x-api-key",
    },
    Provider {
        name: "Gemini",
        address: "RETAKE_UPSTREAM_GEMINI",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        base: "https://generativelanguage.googleapis.com",
        key_header: "x-goog-api-key",
    },
    Provider {
        name: "Ollama",
        address: "RETAKE_UPSTREAM_OLLAMA",
        keys: &["OLLAMA_API_KEY"],
        base: "https://ollama.com",
        key_header: "authorization",
    },
];

/// The environment variable for Azure's key. Azure's services speak OpenAI's API and take their key in the header `api-key`.
const AZURE_KEY: &str = "AZURE_OPENAI_API_KEY";

/// Whether an address belongs to one of Azure's services.
fn is_azure(base: &str) -> bool {
    host_of(base).is_some_and(|host| host.ends_with(".azure.com") || host.ends_with(".azure.us"))
}

fn host_of(base: &str) -> Option<String> {
    url::Url::parse(base).ok()?.host_str().map(str::to_owned)
}

/// Returns the key of a provider for this address, and the variable that holds it.
fn key_of(provider: &Provider, base: &str, set: &impl Fn(&str) -> Option<String>) -> Option<(&'static str, String)> {
    let azure = (is_azure(base) && provider.name == "OpenAI").then_some(AZURE_KEY);
    azure.into_iter().chain(provider.keys.iter().copied()).find_map(|name| Some((name, set(name)?)))
}

/// Whether the key in a variable may be sent to an address whose provider is not stated: if it is the provider's own address, or
/// `RETAKE_UPSTREAM_…` names it.
fn is_for(provider: &Provider, variable: &str, base: &str, set: &impl Fn(&str) -> Option<String>) -> bool {
    let is_this = |address: &str| host_of(address) == host_of(base);
    variable == AZURE_KEY || is_this(provider.base) || set(provider.address).is_some_and(|address| is_this(&address))
}

fn index_of(api: Api) -> usize {
    match api {
        Api::OpenAiChat | Api::OpenAiResponses | Api::Opaque => 0,
        Api::Anthropic => 1,
        Api::Gemini => 2,
        Api::Ollama => 3,
    }
}

/// One provider's address and key.
#[derive(Clone)]
pub struct Upstream {
    provider: usize,
    base: String,
    key: Option<String>,
    /// Whether the whole path is appended to the address, because its provider is not known.
    whole_path: bool,
}

/// The configured providers. Only those that are called have to be configured.
#[derive(Clone, Debug)]
pub struct Upstreams([Option<Upstream>; 4]);

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.base)
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upstream({})", self.base)
    }
}

impl Upstreams {
    /// Reads the environment. A provider is configured if `RETAKE_UPSTREAM_…` names its address, or its usual variable holds a
    /// key.
    ///
    /// # Errors
    /// If no provider is configured, or an address is not a URL.
    pub fn from_env() -> Result<Upstreams> {
        Upstreams::read(|name| env::var(name).ok())
    }

    /// No providers, for a recorder that makes no calls.
    #[must_use]
    pub fn none() -> Upstreams {
        Upstreams([const { None }; 4])
    }

    /// Uses one address for the calls of every API. A provider's key, from its usual variable, is sent there only if the address
    /// is that provider's own, or if `RETAKE_UPSTREAM_…` names the same host. So no key is sent to a stranger.
    ///
    /// # Errors
    /// If the address is not a URL.
    pub fn of_url(base: &str) -> Result<Upstreams> {
        let base = base.trim_end_matches('/');
        match url::Url::parse(base) {
            Ok(url) if ["http", "https"].contains(&url.scheme()) => {}
            Ok(url) => {
                return Err(Error::new(format!(
                    "{base:?} begins with `{}:`, expected `https:` or `http:`",
                    url.scheme()
                )));
            }
            Err(e) => return Err(Error::new(format!("{base:?} is not a URL: {e}"))),
        }
        Ok(Upstreams::of_base(base, |name| env::var(name).ok()))
    }

    /// Does the same as [`Upstreams::of_url`] with a valid address. `value` reads a variable.
    fn of_base(base: &str, value: impl Fn(&str) -> Option<String>) -> Upstreams {
        let set = |name: &str| value(name).filter(|value| !value.is_empty());
        let mut upstreams = [const { None }; 4];
        for (index, provider) in PROVIDERS.iter().enumerate() {
            let key = key_of(provider, base, &set).filter(|(name, _)| is_for(provider, name, base, &set));
            let (base, key) = (base.to_owned(), key.map(|(_, key)| key));
            upstreams[index] = Some(Upstream { provider: index, base, key, whole_path: true });
        }
        Upstreams(upstreams)
    }

    /// Returns the keys that are set, but are not sent to this address although calls of their API go there: for each key its
    /// own variable, and the variable that has to name the address to allow it.
    #[must_use]
    pub fn kept_from(base: &str) -> Vec<(&'static str, &'static str)> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let kept = |provider: &Provider| {
            let (variable, _) = key_of(provider, base, &set)?;
            (!is_for(provider, variable, base, &set)).then_some((variable, provider.address))
        };
        PROVIDERS.iter().filter_map(kept).collect()
    }

    /// Reads the upstreams from environment variables, whose values `value` returns.
    ///
    /// # Errors
    /// If a variable holds no address that can be used.
    pub fn read(value: impl Fn(&str) -> Option<String>) -> Result<Upstreams> {
        let set = |name: &str| value(name).filter(|value| !value.is_empty());
        let mut upstreams = [const { None }; 4];
        for (index, provider) in PROVIDERS.iter().enumerate() {
            let base = set(provider.address);
            let key = key_of(provider, base.as_deref().unwrap_or(provider.base), &set).map(|(_, key)| key);
            if base.is_none() && key.is_none() {
                continue;
            }
            let base = base.unwrap_or_else(|| provider.base.to_owned()).trim_end_matches('/').to_owned();
            url::Url::parse(&base)
                .map_err(|e| Error::new(format!("{}: {base:?} is not a URL: {e}", provider.address)))?;
            upstreams[index] = Some(Upstream { provider: index, base, key, whole_path: false });
        }
        if upstreams.iter().all(Option::is_none) {
            return Err(Error::new("recording needs a provider, but none is configured")
                .help("set OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY or OLLAMA_API_KEY for the provider itself")
                .help("or RETAKE_UPSTREAM_OPENAI for another address that speaks OpenAI's API: https://host/v1")
                .help("(RETAKE_UPSTREAM_ANTHROPIC, _GEMINI and _OLLAMA likewise)"));
        }
        Ok(Upstreams(upstreams))
    }

    /// Returns the provider of an API.
    ///
    /// # Errors
    /// If the provider is not configured: a line that says how to configure it.
    pub(super) fn of(&self, api: Api) -> Result<&Upstream, String> {
        let index = index_of(api);
        self.0[index].as_ref().ok_or_else(|| {
            let Provider { name, address, keys, .. } = &PROVIDERS[index];
            format!("the system called {name}, which is not configured: set {} or {address}", keys[0])
        })
    }
}

impl Upstream {
    /// Makes the request to the provider for a call to this path, with the provider's key in the header that takes it.
    pub(super) fn request(
        &self,
        clients: &Clients,
        method: &Method,
        path: &str,
        headers: &HeaderMap,
    ) -> Result<reqwest::RequestBuilder> {
        let url = self.url(path);
        let mut request = clients.of(&url)?.request(method.clone(), url);
        for name in PASSED {
            for value in headers.get_all(name) {
                request = request.header(name, value);
            }
        }
        // What is compressed cannot be searched for secrets as it arrives.
        let request = request.header(header::ACCEPT_ENCODING, "identity");
        Ok(match (&self.key, PROVIDERS[self.provider].key_header) {
            (None, _) => request,
            (Some(key), _) if is_azure(&self.base) => request.header("api-key", key),
            (Some(key), "authorization") => request.header(header::AUTHORIZATION, format!("Bearer {key}")),
            (Some(key), name) => request.header(name, key),
        })
    }

    /// Returns the provider's URL for a path. If the base ends with a version, the version is not repeated. A key in the query
    /// is left out, because it is the key of this server.
    fn url(&self, path: &str) -> String {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        let last = self.base.rsplit('/').next().unwrap_or_default();
        // The address of an OpenAI API ends in `/v1` or takes its place.
        let version = if self.provider == 0 || !last.starts_with("v1") { "v1" } else { last };
        let is_version =
            |segment: &str| segment.strip_prefix('v').is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()));
        let own = path.split('/').nth(1).filter(|segment| is_version(segment));
        let (version, repeats) = match own {
            _ if !self.whole_path => (version, self.provider == 0 || last == version),
            Some(own) => (own, is_version(last)),
            None => (version, false),
        };
        let shorter = path.strip_prefix('/').and_then(|path| path.strip_prefix(version)).filter(|p| p.starts_with('/'));
        let path = shorter.filter(|_| repeats).unwrap_or(path);
        let kept: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty() && !pair.starts_with("key=")).collect();
        let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        format!("{}{path}{query}", self.base)
    }
}

#[cfg(test)]
mod tests;
