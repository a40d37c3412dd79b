//! HTTP clients, of systems and of providers. None follows a redirect; the proxy of a machine is for providers alone.

use std::sync::OnceLock;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

use crate::error::{Error, Result};

/// The clients that ask systems. Each scenario has a runtime of its own, so no connection is kept.
pub(crate) static OF_SYSTEMS: Clients = Clients::keeping(0);

/// A client for `http:` and one for `https:`, each made when it is first asked for. Only the latter reads the machine's
/// certificates: some hundred files, and most of what a process for one scenario would otherwise take.
#[derive(Debug)]
pub(crate) struct Clients {
    idle: usize,
    /// Whether `HTTPS_PROXY` and `NO_PROXY` are honoured, for `https:` URLs.
    proxied: bool,
    plain: OnceLock<Result<Client>>,
    tls: OnceLock<Result<Client>>,
}

impl Clients {
    /// Clients that keep so many idle connections for each host. None may be kept by clients that several runtimes use,
    /// since a connection belongs to the runtime that made it.
    pub(crate) const fn keeping(idle: usize) -> Clients {
        Clients { idle, proxied: false, plain: OnceLock::new(), tls: OnceLock::new() }
    }

    /// Clients of providers: beyond the machine they go by its proxy.
    #[cfg(feature = "record")]
    pub(crate) fn of_providers() -> Clients {
        Clients { proxied: true, ..Clients::keeping(usize::MAX) }
    }

    /// The client for a URL.
    pub(crate) fn of(&self, url: &str) -> Result<&Client> {
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

#[cfg(feature = "record")]
fn without_certificates(client: ClientBuilder) -> ClientBuilder {
    client.tls_certs_only([])
}

/// Without TLS there are none to read.
#[cfg(not(feature = "record"))]
fn without_certificates(client: ClientBuilder) -> ClientBuilder {
    client
}

/// Why a request failed, from reqwest's own words, which only say that it did, down to the system's. Without the URL,
/// which may hold a key.
pub(crate) fn reqwest_reason(error: reqwest::Error) -> String {
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
