//! HTTP on loopback: a client for direct calls to a model server, and the provider that scenarios are recorded from.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU16, Ordering};

use axum::Router;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::oneshot;

/// A response, read to its end.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

/// Returns a port that is free, for who has to know it before something listens there: below those that the kernel gives to whoever asks
/// for any port or connects, and below those that Retake leases.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let from = 10_000 + u16::try_from(std::process::id() % 1_000).unwrap_or_default();
    let mut ports = std::iter::repeat_with(|| from + NEXT.fetch_add(1, Ordering::Relaxed) % 1_000);
    ports.find(|port| std::net::TcpListener::bind(("127.0.0.1", *port)).is_ok()).unwrap()
}

/// Returns a client for loopback.
pub(crate) fn client() -> reqwest::Client {
    reqwest::Client::builder().no_proxy().build().unwrap()
}

/// Sends a POST request if there is a body, else a GET request.
pub(crate) fn send(url: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Reply {
    runtime().block_on(async {
        let client = client();
        let request = match body {
            Some(body) => client.post(url).header("content-type", "application/json").body(body.to_string()),
            None => client.get(url),
        };
        let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
        let response = request.send().await.unwrap();
        let text = |(name, value): (&reqwest::header::HeaderName, &reqwest::header::HeaderValue)| {
            (name.to_string(), value.to_str().unwrap().to_owned())
        };
        let (status, headers) = (response.status().as_u16(), response.headers().iter().map(text).collect());
        Reply { status, headers, body: response.text().await.unwrap() }
    })
}

/// Returns the body of a chat request.
pub(crate) fn chat(messages: &Value, stream: bool) -> Value {
    json!({ "model": "gpt-4o-mini", "messages": messages, "stream": stream })
}

/// A service on a loopback port. It stops when this value is dropped.
pub(crate) struct Service {
    address: SocketAddr,
    _stop: oneshot::Sender<()>,
}

impl Service {
    /// Starts the scripted provider.
    pub(crate) fn provider() -> Service {
        Service::start(gateway::provider::provider())
    }

    pub(crate) fn start(router: Router) -> Service {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = listener.local_addr().unwrap();
        let (stop, stopped) = oneshot::channel::<()>();
        std::thread::spawn(move || {
            runtime().block_on(async {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                tokio::select! {
                    served = axum::serve(listener, router) => served.unwrap(),
                    _ = stopped => {}
                }
            });
        });
        Service { address, _stop: stop }
    }

    /// Returns the base URL in the form that OpenAI's SDKs expect.
    pub(crate) fn openai(&self) -> String {
        format!("http://{}/v1", self.address)
    }
}

pub(crate) fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}
