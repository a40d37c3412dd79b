//! A system that somebody else starts and ends. Retake attaches to it by its URL.

use super::ports::Lock;
use super::values::Base;
use retake_base::error::{Error, Result};
use retake_scenario::UrlSpec;

/// Waits until no other process of this user runs a scenario on a system that calls the model at the same address. This blocks
/// the thread.
/// Fails if the folder of the locks cannot be used.
pub(super) fn alone(spec: &UrlSpec) -> Result<Lock> {
    Lock::take(&format!("model-{}", spec.model.addr))
}

/// Returns the key that an attached system sends with its model calls.
/// Fails if the key is not set.
pub(super) fn key(name: &str, UrlSpec { model, .. }: &UrlSpec) -> Result<String> {
    std::env::var(&model.key_env).ok().filter(|key| !key.is_empty()).ok_or_else(|| {
        Error::new(format!(
            "{} is not set: it holds the key that system `{name}` sends with its model calls",
            model.key_env
        ))
        .help("set it to the value that the system was started with")
    })
}

/// Checks that an attached system is running. Returns its address.
/// Fails if nothing listens at the system's address.
pub(super) async fn attach(name: &str, UrlSpec { url, .. }: &UrlSpec) -> Result<Base> {
    let addresses = url.socket_addrs(|| None).unwrap_or_default();
    let mut refused = "it has no loopback address".to_owned();
    for address in addresses.into_iter().filter(|address| address.ip().is_loopback()) {
        match tokio::net::TcpStream::connect(address).await {
            Ok(_) => return Ok(Base { url: url.as_str().trim_end_matches('/').to_owned(), address }),
            Err(e) => refused = e.to_string(),
        }
    }
    let error = Error::new(format!("system `{name}` cannot be reached at {url}: {refused}"));
    Err(error.help("retake does not start it: start it first"))
}
