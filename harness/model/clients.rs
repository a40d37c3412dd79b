//! The HTTP clients for systems, tools and the relay. None follows redirects, and none uses the machine's proxy.
//!
//! `https:` needs TLS, which this library has only with the feature `https`. The command has none here either: it reaches such
//! addresses through its relay, which is then the proxy of these requests.

use std::borrow::Cow;
use std::sync::OnceLock;

use axum::http::{HeaderValue, Method};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder, Proxy, RequestBuilder, Response};

use crate::record::relay::{MARK, Relay};
use retake_base::error::{Error, Result};

/// The clients for requests to systems. They keep no connections, since each scenario has its own runtime.
pub static OF_SYSTEMS: Clients = Clients::keeping(0);

/// Starts the relay of this process, if it is the command. It is called at the first request to an `https:` address.
static OWN_RELAY: OnceLock<fn() -> Result<Relay>> = OnceLock::new();

/// Reaches `https:` addresses through the relay that `start` starts.
pub fn reach_https_by(start: fn() -> Result<Relay>) {
    let _ = OWN_RELAY.set(start);
}

/// A client for `http:` and one for `https:`, each created at its first use.
#[derive(Debug)]
pub struct Clients {
    idle: usize,
    plain: OnceLock<Result<Client>>,
    secure: OnceLock<Result<(Client, Way)>>,
}

/// The way to an `https:` address.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// Through the relay, which gets the request without TLS.
    Relay,
    /// With TLS of its own.
    #[cfg(feature = "https")]
    Direct,
}

impl Clients {
    /// Creates clients that keep up to `idle` idle connections for each host. It must be 0 for clients that several runtimes
    /// share, since a connection belongs to the runtime that opened it.
    pub const fn keeping(idle: usize) -> Clients {
        Clients { idle, plain: OnceLock::new(), secure: OnceLock::new() }
    }

    /// Returns a request to a URL.
    ///
    /// # Errors
    /// If the URL is of `https:`, and there is no TLS.
    pub fn request(&self, method: Method, url: &str) -> Result<RequestBuilder> {
        let (client, url) = self.of(url)?;
        Ok(client.request(method, &*url))
    }

    /// Returns the client for a URL, and the URL to ask it for.
    ///
    /// # Errors
    /// If the URL is of `https:`, and there is no TLS.
    pub fn of<'a>(&self, url: &'a str) -> Result<(&Client, Cow<'a, str>)> {
        let Some(rest) = url.strip_prefix("https:") else { return Ok((self.plain()?, url.into())) };
        let secure = self.secure.get_or_init(|| self.made_secure());
        match secure.as_ref().map_err(Clone::clone)? {
            (client, Way::Relay) => Ok((client, format!("http:{rest}").into())),
            #[cfg(feature = "https")]
            (client, Way::Direct) => Ok((client, url.into())),
        }
    }

    /// Returns the client for `http:` URLs.
    /// Fails if it cannot be made.
    pub(crate) fn plain(&self) -> Result<&Client> {
        let plain = self.plain.get_or_init(|| self.made(without_certificates(Client::builder().no_proxy())));
        plain.as_ref().map_err(Clone::clone)
    }

    fn made_secure(&self) -> Result<(Client, Way)> {
        let relay = Relay::from_env().map(Ok).or_else(|| OWN_RELAY.get().map(|start| start()));
        if let Some(relay) = relay.transpose()? {
            let failed = |e: &dyn std::fmt::Display| Error::new(format!("failed to use the relay: {e}"));
            let mut key = HeaderValue::from_str(&relay.key).map_err(|e| failed(&e))?;
            key.set_sensitive(true);
            let proxy = Proxy::http(relay.url()).map_err(|e| failed(&e))?.custom_http_auth(key);
            return Ok((self.made(without_certificates(Client::builder().proxy(proxy)))?, Way::Relay));
        }
        self.with_tls()
    }

    #[cfg(feature = "https")]
    fn with_tls(&self) -> Result<(Client, Way)> {
        // Only this client reads the machine's certificates: these are a few hundred files, and would take most of the time of a
        // process that runs one scenario.
        Ok((self.made(Client::builder().no_proxy())?, Way::Direct))
    }

    #[cfg(not(feature = "https"))]
    #[expect(clippy::unused_self, reason = "the interface of a build with TLS")]
    fn with_tls(&self) -> Result<(Client, Way)> {
        Err(Error::new("`https:` needs TLS, and the tests of this crate are built without it")
            .help("to have it in `cargo test`, in Cargo.toml: retake = { …, features = [\"https\"] }")
            .help(format!("or run the scenarios by the command, which has it: {} test", retake_base::env::RETAKE)))
    }

    fn made(&self, client: ClientBuilder) -> Result<Client> {
        #[cfg(feature = "https")]
        let _ = rustls::crypto::ring::default_provider().install_default(); // unless the process has chosen another
        let client = client.pool_max_idle_per_host(self.idle).redirect(Policy::none()).build();
        client.map_err(|e| Error::new(format!("failed to make an HTTP client: {e}")))
    }
}

#[cfg(feature = "https")]
fn without_certificates(client: ClientBuilder) -> ClientBuilder {
    client.tls_certs_only([])
}

/// A build without TLS reads no certificates.
#[cfg(not(feature = "https"))]
fn without_certificates(client: ClientBuilder) -> ClientBuilder {
    client
}

/// Sends a request, and waits for the beginning of its answer.
///
/// # Errors
/// Says why there is no answer.
pub async fn sent(request: RequestBuilder) -> Result<Response, String> {
    let answer = request.send().await.map_err(reqwest_reason)?;
    // The relay could not reach the address.
    if answer.headers().contains_key(MARK) { Err(answer.text().await.map_err(reqwest_reason)?) } else { Ok(answer) }
}

/// Returns why a request failed: reqwest's own message, which only says that it failed, and the messages of its sources. The URL
/// is left out, since it may contain a key.
pub fn reqwest_reason(error: reqwest::Error) -> String {
    reason(&error.without_url())
}

/// Returns the messages of an error and of its sources down to the operating system's, each once.
pub fn reason(error: &(dyn std::error::Error + 'static)) -> String {
    let mut parts = vec![error.to_string()];
    let mut source = error.source();
    while let Some(deeper) = source {
        let text = deeper.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        source = deeper.source();
    }
    parts.join(": ")
}
