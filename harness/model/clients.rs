//! The HTTP clients for systems and for providers. None follows redirects; only those for providers use the machine's proxy.

use std::sync::OnceLock;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

use retake_base::error::{Error, Result};

/// The clients for requests to systems. They keep no connections, since each scenario has its own runtime.
pub static OF_SYSTEMS: Clients = Clients::keeping(0);

/// A client for `http:` and one for `https:`, each created at its first use. Only the one for `https:` reads the machine's
/// certificates: these are a few hundred files, and would take most of the time of a process that runs one scenario.
#[derive(Debug)]
pub struct Clients {
    idle: usize,
    /// Whether `https:` URLs honour `HTTPS_PROXY` and `NO_PROXY`.
    proxied: bool,
    plain: OnceLock<Result<Client>>,
    tls: OnceLock<Result<Client>>,
}

impl Clients {
    /// Creates clients that keep up to `idle` idle connections for each host. It must be 0 for clients that several runtimes
    /// share, since a connection belongs to the runtime that opened it.
    pub const fn keeping(idle: usize) -> Clients {
        Clients { idle, proxied: false, plain: OnceLock::new(), tls: OnceLock::new() }
    }

    /// Creates clients for requests to providers, which use the machine's proxy.
    pub fn of_providers() -> Clients {
        Clients { proxied: true, ..Clients::keeping(usize::MAX) }
    }

    /// Returns the client for a URL.
    pub fn of(&self, url: &str) -> Result<&Client> {
        let client = if url.starts_with("https:") {
            self.tls
                .get_or_init(|| self.made(if self.proxied { Client::builder() } else { Client::builder().no_proxy() }))
        } else {
            self.plain.get_or_init(|| self.made(without_certificates(Client::builder().no_proxy())))
        };
        client.as_ref().map_err(Clone::clone)
    }

    fn made(&self, client: ClientBuilder) -> Result<Client> {
        let client = client.pool_max_idle_per_host(self.idle).redirect(Policy::none()).build();
        client.map_err(|e| Error::new(format!("failed to make an HTTP client: {e}")))
    }
}

#[cfg(feature = "tls")]
fn without_certificates(client: ClientBuilder) -> ClientBuilder {
    client.tls_certs_only([])
}

/// A build without TLS reads no certificates.
#[cfg(not(feature = "tls"))]
fn without_certificates(client: ClientBuilder) -> ClientBuilder {
    client
}

/// Returns why a request failed: reqwest's own message, which only says that it failed, and the messages of its sources down
/// to the operating system's. The URL is left out, since it may contain a key.
pub fn reqwest_reason(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut parts = vec![error.to_string()];
    let mut source = std::error::Error::source(&error);
    while let Some(deeper) = source {
        let text = deeper.to_string();
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
        source = deeper.source();
    }
    parts.join(": ")
}
