//! The providers to which calls are passed on while recording: their addresses, and how each of them takes its key.

use std::borrow::Cow;
use std::{env, fmt};

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, Uri, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::sigv4::Signer;
use retake_base::error::{Error, Result};
use retake_model::relay::provider_of;
use retake_wire::Api;

/// A provider: the environment variables that configure it, its own address, and the header that takes its key.
struct Provider {
    api: Api,
    name: &'static str,
    address: &'static str,
    /// The variables in which its clients find the address of a gateway. They count after `address`.
    of_clients: &'static [&'static str],
    keys: &'static [&'static str],
    base: &'static str,
    key_header: &'static str,
}

const PROVIDERS: [Provider; 5] = [
    Provider {
        api: Api::OpenAiChat,
        name: "OpenAI",
        address: "RETAKE_UPSTREAM_OPENAI",
        of_clients: &["OPENAI_BASE_URL", "OPENAI_API_BASE", AZURE_ENDPOINT, "AZURE_API_BASE"],
        keys: &["OPENAI_API_KEY"],
        base: "https://api.openai.com/v1",
        key_header: BEARER,
    },
    Provider {
        api: Api::Anthropic,
        name: "Anthropic",
        address: "RETAKE_UPSTREAM_ANTHROPIC",
        of_clients: &["ANTHROPIC_BASE_URL", "ANTHROPIC_API_BASE", "ANTHROPIC_API_URL"],
        keys: &["ANTHROPIC_API_KEY", ANTHROPIC_TOKEN],
        base: "https://api.anthropic.com",
        key_header: "x-api-key",
    },
    Provider {
        api: Api::Gemini,
        name: "Gemini",
        address: "RETAKE_UPSTREAM_GEMINI",
        of_clients: &["GOOGLE_GEMINI_BASE_URL", "GEMINI_BASE_URL", "GEMINI_API_BASE"],
        keys: &["GEMINI_API_KEY", "GOOGLE_API_KEY", GOOGLE_TOKEN],
        base: "https://generativelanguage.googleapis.com",
        key_header: "x-goog-api-key",
    },
    Provider {
        api: Api::Ollama,
        name: "Ollama",
        address: "RETAKE_UPSTREAM_OLLAMA",
        of_clients: &[OLLAMA_HOST, "OLLAMA_BASE_URL", "OLLAMA_API_BASE"],
        keys: &["OLLAMA_API_KEY"],
        base: "https://ollama.com",
        key_header: BEARER,
    },
    Provider {
        api: Api::Bedrock,
        name: "Bedrock",
        address: "RETAKE_UPSTREAM_BEDROCK",
        of_clients: &["AWS_ENDPOINT_URL_BEDROCK_RUNTIME"],
        keys: &["AWS_BEARER_TOKEN_BEDROCK", AWS_SECRET],
        base: "https://bedrock-runtime.{region}.amazonaws.com",
        key_header: BEARER,
    },
];

/// The header of keys that are sent as bearer tokens.
const BEARER: &str = "authorization";
/// The environment variable for Azure's key. Azure's services speak OpenAI's API and take their key in the header `api-key`.
const AZURE_KEY: &str = "AZURE_OPENAI_API_KEY";
const AZURE_ENDPOINT: &str = "AZURE_OPENAI_ENDPOINT";
/// The environment variable for a key of Anthropic's API that its clients send as a bearer token, mostly to gateways.
const ANTHROPIC_TOKEN: &str = "ANTHROPIC_AUTH_TOKEN";
/// The environment variable for a token of Google's, which Vertex AI takes in place of a key.
const GOOGLE_TOKEN: &str = "GOOGLE_OAUTH_ACCESS_TOKEN";
/// The environment variables of who signs requests to AWS, which takes a key of Bedrock's own as well.
const AWS_SECRET: &str = "AWS_SECRET_ACCESS_KEY";
const AWS_SESSION: &str = "AWS_SESSION_TOKEN";
/// The environment variables for the region of AWS's clients, and what stands for it in an address.
const REGIONS: [&str; 2] = ["AWS_REGION", "AWS_DEFAULT_REGION"];
const REGION: &str = "{region}";
/// The environment variable for Ollama's address, which may lack the scheme, the host and the port.
const OLLAMA_HOST: &str = "OLLAMA_HOST";

impl Provider {
    /// The provider's own address, with the region in it if that is set.
    fn base(&self, set: &impl Fn(&str) -> Option<String>) -> Cow<'static, str> {
        region(set).map_or(self.base.into(), |region| self.base.replace(REGION, &region).into())
    }

    /// The address that is set for the provider, and the variable that holds it.
    fn address(&self, set: &impl Fn(&str) -> Option<String>) -> Option<(&'static str, String)> {
        let named = [self.address].into_iter().chain(self.of_clients.iter().copied());
        // The calls of who has a key of OpenAI go there, also if there is an Azure, too.
        let counts = |name: &&str| !name.starts_with("AZURE") || set(self.keys[0]).is_none();
        named.filter(counts).find_map(|name| {
            let address = set(name)?;
            Some((name, if name == OLLAMA_HOST { of_ollama(&address) } else { address }))
        })
    }
}

/// Returns the URL for an address as Ollama's own clients read it: `example.com`, `0.0.0.0:11434` or `https://example.com`.
fn of_ollama(address: &str) -> String {
    if address.contains("://") {
        return address.to_owned();
    }
    let (host, path) = address.split_at(address.find('/').unwrap_or(address.len()));
    let (name, port) = host.rsplit_once(':').filter(|(_, port)| !port.ends_with(']')).unwrap_or((host, "11434"));
    format!("http://{}:{port}{path}", if name.is_empty() { "127.0.0.1" } else { name })
}

/// What signs requests; an error says what it lacks.
type Signing = Result<Signer, String>;

/// Returns what signs requests, if the key is AWS's secret.
fn signing(key: Option<&(&str, String)>, set: &impl Fn(&str) -> Option<String>) -> Option<Signing> {
    let (_, secret) = key.filter(|(variable, _)| *variable == AWS_SECRET)?;
    let lacks = |name: &str| format!("{AWS_SECRET} is set, and {name} is not");
    let signer = |id, region| Signer { id, secret: secret.clone(), session: set(AWS_SESSION), region };
    let id = set("AWS_ACCESS_KEY_ID").ok_or_else(|| lacks("AWS_ACCESS_KEY_ID"));
    Some(id.and_then(|id| Ok(signer(id, region(set).ok_or_else(|| lacks(REGIONS[0]))?))))
}

/// The region that AWS's clients use, by the variables in which they look for it.
fn region(set: &impl Fn(&str) -> Option<String>) -> Option<String> {
    REGIONS.into_iter().find_map(set)
}

/// Whether an address belongs to one of Azure's services.
fn is_azure(base: &str) -> bool {
    host_of(base).is_some_and(|host| host.ends_with(".azure.com") || host.ends_with(".azure.us"))
}

fn host_of(base: &str) -> Option<String> {
    url::Url::parse(base).ok()?.host_str().map(str::to_owned)
}

/// Returns the key of a provider for this address, and the variable that holds it.
fn key_of(provider: &Provider, base: &str, set: &impl Fn(&str) -> Option<String>) -> Option<(&'static str, String)> {
    let of_azure = || provider.address(set).is_some_and(|(name, named)| name.starts_with("AZURE") && named == base);
    let azure = (provider.name == "OpenAI" && (is_azure(base) || of_azure())).then_some(AZURE_KEY);
    azure.into_iter().chain(provider.keys.iter().copied()).find_map(|name| Some((name, set(name)?)))
}

/// Whether the key in a variable may be sent to an address whose provider is not stated: if it is the provider's own address, or
/// that of a variable.
fn is_for(provider: &Provider, variable: &str, base: &str, set: &impl Fn(&str) -> Option<String>) -> bool {
    let is_this = |address: &str| host_of(address) == host_of(base);
    variable == AZURE_KEY
        || is_this(&provider.base(set))
        || provider.address(set).is_some_and(|(_, named)| is_this(&named))
}

/// The variables that may hold a provider's key.
pub(super) fn key_variables() -> impl Iterator<Item = &'static str> {
    PROVIDERS.iter().flat_map(|provider| provider.keys).copied().chain([AZURE_KEY, AWS_SESSION])
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
    /// What names the address; `None` if it is the provider's own.
    named_by: Option<&'static str>,
    /// The key, and the variable that holds it.
    key: Option<(&'static str, String)>,
    /// What signs its requests, if the key is a secret that is not sent.
    signing: Option<Signing>,
    /// Whether the whole path is appended to the address, because its provider is not known.
    whole_path: bool,
}

/// The configured providers. Only those that are called have to be configured.
#[derive(Clone, Debug, Default)]
pub(crate) struct Upstreams([Option<Upstream>; 5]);

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&without_password(&self.base))
    }
}

impl fmt::Debug for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Upstream({self})")
    }
}

impl Upstreams {
    /// Reads the environment. A provider is configured if `RETAKE_UPSTREAM_…` or a variable of its clients names its address, or its
    /// usual variable holds a key.
    /// Fails if an address is not a URL.
    pub(crate) fn from_env() -> Result<Upstreams> {
        Upstreams::read(|name| env::var(name).ok())
    }

    /// Uses one address for the calls of every API. A provider's key, from its usual variable, is sent there only if the address
    /// is that provider's own, or if a variable names the same host. So no key is sent to a stranger.
    /// Fails if the address is not a URL.
    pub(crate) fn of_url(base: &str) -> Result<Upstreams> {
        let base = checked(base)?;
        Ok(Upstreams::of_base(&base, |name| env::var(name).ok()))
    }

    /// Does the same as [`Upstreams::of_url`] with a valid address. `value` reads a variable.
    fn of_base(base: &str, value: impl Fn(&str) -> Option<String>) -> Upstreams {
        let set = |name: &str| value(name).filter(|value| !value.is_empty());
        Upstreams(std::array::from_fn(|index| {
            let provider = &PROVIDERS[index];
            let key = key_of(provider, base, &set).filter(|(name, _)| is_for(provider, name, base, &set));
            let (base, named_by) = (base.to_owned(), Some("--upstream"));
            let signing = signing(key.as_ref(), &set);
            Some(Upstream { provider: index, base, named_by, key, signing, whole_path: true })
        }))
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
        let mut upstreams = [const { None }; 5];
        for (index, provider) in PROVIDERS.iter().enumerate() {
            let named = provider.address(&set);
            let base = named.as_ref().map_or_else(|| provider.base(&set), |(_, base)| base.into());
            let key = key_of(provider, &base, &set);
            if named.is_none() && key.is_none() {
                continue;
            }
            let named_by = named.as_ref().map(|(variable, _)| *variable);
            let base = checked(&base).map_err(|e| e.while_doing(&format!("read {}", named_by.unwrap_or_default())))?;
            let signing = signing(key.as_ref(), &set);
            upstreams[index] = Some(Upstream { provider: index, base, named_by, key, signing, whole_path: false });
        }
        Ok(Upstreams(upstreams))
    }

    /// Says which addresses are used because a variable of the provider's clients names them; `None` if none is.
    pub(crate) fn of_clients(&self) -> Option<String> {
        let of_clients = |upstream: &Upstream| {
            let Provider { name, of_clients, .. } = &PROVIDERS[upstream.provider];
            let variable = upstream.named_by.filter(|variable| of_clients.contains(variable))?;
            Some(format!("{name} at {upstream} ({variable})"))
        };
        let all: Vec<String> = self.0.iter().flatten().filter_map(of_clients).collect();
        (!all.is_empty()).then(|| format!("calls go to {}", all.join(", ")))
    }

    /// The names of the configured providers, as the recorder asks for them.
    pub(crate) fn names(&self) -> Vec<String> {
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

/// Returns a URL of HTTP, without slashes at its end.
/// Fails if it is none.
fn checked(base: &str) -> Result<String> {
    let base = base.trim_end_matches('/');
    match url::Url::parse(base) {
        Ok(url) if ["http", "https"].contains(&url.scheme()) => Ok(base.to_owned()),
        Ok(url) => Err(Error::new(format!("{base:?} begins with `{}:`, expected `https:` or `http:`", url.scheme()))),
        Err(e) => Err(Error::new(format!("{base:?} is not a URL: {e}"))),
    }
}

fn without_password(base: &str) -> Cow<'_, str> {
    match base.split_once("://").and_then(|(scheme, rest)| Some((scheme, rest.split_once('@')?))) {
        Some((scheme, (before, rest))) if !before.contains('/') => format!("{scheme}://{rest}").into(),
        _ => base.into(),
    }
}

impl Upstream {
    /// Says that the provider cannot be reached, and what names its address.
    pub(super) fn unreachable(&self, why: &str) -> String {
        let named = self.named_by.map_or_else(String::new, |variable| format!("; its address is that of {variable}"));
        format!("the provider at {self} cannot be reached: {why}{named}")
    }

    /// The header that brings the provider its key.
    /// Fails if the key cannot be in a header.
    pub(super) fn key_header(&self) -> Result<Option<(HeaderName, HeaderValue)>, String> {
        let Some((variable, key)) = &self.key else { return Ok(self.of_address()) };
        if *variable == AWS_SECRET {
            return self.signing.clone().transpose().map(|_| None);
        }
        let (name, value) = match PROVIDERS[self.provider].key_header {
            _ if is_azure(&self.base) || *variable == AZURE_KEY => ("api-key", key.clone()),
            name if name != BEARER && ![ANTHROPIC_TOKEN, GOOGLE_TOKEN].contains(variable) => (name, key.clone()),
            _ => (BEARER, format!("Bearer {key}")),
        };
        let mut value = HeaderValue::from_str(&value)
            .map_err(|_| format!("the key for {self} has characters that a header cannot have"))?;
        value.set_sensitive(true);
        Ok(Some((HeaderName::from_static(name), value)))
    }

    /// Signs a request, if it is the signature that brings the key.
    /// Fails if a part of it cannot be in a header.
    pub(super) fn sign(&self, method: &Method, uri: &Uri, body: &[u8], headers: &mut HeaderMap) -> Result<(), String> {
        let Some(Ok(signer)) = &self.signing else { return Ok(()) };
        signer.sign(method, uri, body, time::OffsetDateTime::now_utc(), headers)
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
        if self.base.contains(REGION) {
            return Err(format!("Bedrock is called in a region, and none is set: set {}", REGIONS[0]));
        }
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
        let own =
            own.map(|(_, key)| url::form_urlencoded::Serializer::new(String::new()).append_pair("key", key).finish());
        let kept = query.split('&').filter(|pair| !pair.is_empty());
        let kept = kept.filter_map(|pair| if pair.starts_with("key=") { own.as_deref() } else { Some(pair) });
        let kept: Vec<&str> = kept.collect();
        let query = if kept.is_empty() { String::new() } else { format!("?{}", kept.join("&")) };
        format!("{}{path}{query}", self.base)
    }
}

#[cfg(test)]
mod tests;
