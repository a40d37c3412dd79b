//! The HTTP clients that ask systems.

use std::sync::LazyLock;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};

use crate::error::{Error, Result};

/// Clients of the process. Each scenario has a runtime of its own, and a connection belongs to the runtime that made it,
/// so none is kept for later.
static PLAIN: LazyLock<Result<Client>> = LazyLock::new(|| made(without_certificates(Client::builder())));
static TLS: LazyLock<Result<Client>> = LazyLock::new(|| made(Client::builder()));

/// The client for a URL. Only the one for `https:` reads the machine's certificates: some hundred files, and most of what
/// a process for one scenario would otherwise take.
pub(super) fn client(url: &str) -> Result<&'static Client> {
    let client = if url.starts_with("https:") { &TLS } else { &PLAIN };
    client.as_ref().map_err(Clone::clone)
}

fn made(client: ClientBuilder) -> Result<Client> {
    let client = client.no_proxy().pool_max_idle_per_host(0).redirect(Policy::none()).build();
    client.map_err(|e| Error::new(format!("failed to make an HTTP client: {e}")))
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
