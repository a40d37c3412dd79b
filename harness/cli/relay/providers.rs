//! The providers to which calls are passed on while recording: their addresses, and how each of them takes its key.

use std::{env, fmt};

use axum::http::{HeaderName, HeaderValue, Uri, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use retake_base::error::{Error, Result};
use retake_model::relay::provider_of;
use retake_wire::Api;

/// A provider: the environment variables that configure it, its own address, and the header that takes its key.
struct Provider {
    api: Api,
    name: &'static str,
    address: &'static str,
    keys: &'static [&'static str],
    base: &'static str,
    key_header: &'static str,
}

const PROVIDERS: [Provider; 4] = [
    Provider {
        api: Api::OpenAiChat,
        name: "OpenAI",
        address: "RETAKE_UPSTREAM_OPENAI",
        keys: &["OPENAI_API_KEY"],
        base: "https://api.openai.com/v1",
        key_header: "authorization",
    },
    Provider {
        api: Api::Anthropic,
        name: "Anthropic",
        address: "RETAKE_UPSTREAM_ANTHROPIC",
        keys: &["ANTHROPIC_API_KEY"],
        base: "https://api.anthropic.com",
        key_header: "x-api-key",
    },
    Provider {
        api: Api::Gemini,
        name: "Gemini",
        address: "RETAKE_UPSTREAM_GEMINI",
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        base: "https://generativelanguage.googleapis.com",
        key_header: "x-goog-api-key",
    },
    Provider {
        api: Api::Ollama,
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

/// The variables that may hold a provider's key.
pub(super) fn key_variables() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().flat_map(|provider| provider.keys).copied().chain([AZURE_KEY])
}

/// The variables that only the relay gets: addresses may have a key in them, too.
pub(crate) fn variables() -> impl Iterator<Item = &'static str> {
    key_variables().chain(PROVIDERS.iter().map(|provider| provider.address))
}

/// One provider's address and key.
#[derive(Clone)]
pub(crate) struct Upstream {
    provider: usize,
    base: String,
    key: Option<String>,
    /// Whether the whole path is appended to the address, because its provider is not known.
    whole_path: bool,
}

/// The configured providers. Only those that are called have to be configured.
#[derive(Clone, Debug)]
pub(crate) struct Upstreams([Option<Upstream>; 4]);

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
    /// No providers.
    pub(super) fn none() -> Upstreams {
        Upstreams([const { None }; 4])
    }

    /// Reads the environment. A provider is configured if `RETAKE_UPSTREAM_…` names its address, or its usual variable holds a
    /// key.
    /// Fails if an address is not a URL.
    pub(crate) fn from_env() -> Result<Upstreams> {
        Upstreams::read(|name| env::var(name).ok())
    }

    /// Uses one address for the calls of every API. A provider's key, from its usual variable, is sent there only if the address
    /// is that provider's own, or if `RETAKE_UPSTREAM_…` names the same host. So no key is sent to a stranger.
    /// Fails if the address is not a URL.
    pub(crate) fn of_url(base: &str) -> Result<Upstreams> {
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
    pub(crate) fn kept_from(base: &str) -> Vec<(&'static str, &'static str)> {
        let set = |name: &str| env::var(name).ok().filter(|value| !value.is_empty());
        let kept = |provider: &Provider| {
            let (variable, _) = key_of(provider, base, &set)?;
            (!is_for(provider, variable, base, &set)).then_some((variable, provider.address))
        };
        PROVIDERS.iter().filter_map(kept).collect()
    }

    /// Reads the upstreams from environment variables, whose values `value` returns.
    /// Fails if a variable holds no address that can be used.
    pub(crate) fn read(value: impl Fn(&str) -> Option<String>) -> Result<Upstreams> {
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
        Ok(Upstreams(upstreams))
    }

    /// The names of the configured providers, as the recorder asks for them.
    pub(super) fn names(&self) -> Vec<String> {
        let set = PROVIDERS.iter().zip(&self.0).filter(|(_, upstream)| upstream.is_some());
        set.map(|(provider, _)| provider_of(provider.api).to_owned()).collect()
    }

    /// Returns a provider by the name under which the recorder asks for it.
    /// Fails if the provider is not configured: a line that says how to configure it.
    pub(super) fn of(&self, name: &str) -> Result<&Upstream, String> {
        let index = PROVIDERS.iter().position(|provider| provider_of(provider.api) == name);
        let index = index.ok_or_else(|| format!("no provider is called {name:?}"))?;
        self.0[index].as_ref().ok_or_else(|| {
            let Provider { name, address, keys, .. } = &PROVIDERS[index];
            format!("the service called {name}, but no key is set for it: set {} or {address}", keys[0])
        })
    }
}

impl Upstream {
    /// The header that brings the provider its key.
    /// Fails if the key cannot be in a header.
    pub(super) fn key_header(&self) -> Result<Option<(HeaderName, HeaderValue)>, String> {
        let Some(key) = &self.key else { return Ok(self.of_address()) };
        let (name, value) = match PROVIDERS[self.provider].key_header {
            _ if is_azure(&self.base) => ("api-key", key.clone()),
            "authorization" => (header::AUTHORIZATION.as_str(), format!("Bearer {key}")),
            name => (name, key.clone()),
        };
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| format!("the key for {self} has characters that a header cannot have"))?;
        value.set_sensitive(true);
        Ok(Some((HeaderName::from_static(name), value)))
    }

    /// The header for the name and the password that the address itself has: `https://NAME:PASSWORD@host`.
    fn of_address(&self) -> Option<(HeaderName, HeaderValue)> {
        let url = url::Url::parse(&self.base).ok()?;
        // What stands for itself there may be a `+`, which is a space in a form.
        let decoded = |text: &str| {
            let text = text.replace('+', "%2B");
            url::form_urlencoded::parse(text.as_bytes()).next().map(|(text, _)| text.into_owned()).unwrap_or_default()
        };
        let password = url.password().map(decoded).unwrap_or_default();
        let both = format!("{}:{password}", decoded(url.username()));
        let value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(&both))).ok()?;
        (both != ":").then_some((header::AUTHORIZATION, value))
    }

    /// Returns the address of a call to this path.
    /// Fails if there is none.
    pub(super) fn uri(&self, path: &str) -> Result<Uri, String> {
        let mut url = url::Url::parse(&self.url(path)).map_err(|e| format!("{path} is not a path at {self}: {e}"))?;
        let _ = (url.set_username(""), url.set_password(None));
        url.as_str().parse().map_err(|e| format!("{path} is not a path at {self}: {e}"))
    }

    /// Returns the provider's URL for a path. If the base ends with a version, the version is not repeated. A key in the query
    /// is that of the model server. Gemini's own clients may send it so, and Gemini then gets its own key there.
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
        let own = self.key.as_ref().filter(|_| PROVIDERS[self.provider].api == Api::Gemini);
        let own = own.map(|key| url::form_urlencoded::Serializer::new(String::new()).append_pair("key", key).finish());
        let kept = query.split('&').filter(|pair| !pair.is_empty());
        let kept = kept.filter_map(|pair| if pair.starts_with("key=") { own.as_deref() } else { Some(pair) });
        let kept: Vec<&str> = kept.collect();
        let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        format!("{}{path}{query}", self.base)
    }
}

#[cfg(test)]
mod tests;
