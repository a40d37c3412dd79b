//! Connections to providers: over TLS with the machine's certificates, and through the machine's proxy.

use std::error::Error as StdError;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, MaybeHttpsStream};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::proxy::Tunnel;
use hyper_util::client::proxy::matcher::Matcher;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::ClientConfig;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls_platform_verifier::Verifier;
use tokio::net::TcpStream;
use tower_service::Service;

use retake_model::clients::reason;

/// How long a connection may take: the name, the address, the proxy and TLS.
const PATIENCE: Duration = Duration::from_secs(20);

/// The variables that name files with certificates. Systems of these tools already use the first two.
const CERTIFICATES: [&str; 2] = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];

/// The clients. The one for `https:` is made at its first use, since it reads the machine's certificates: a few hundred files.
#[derive(Debug)]
pub(super) struct Outward {
    plain: Client<HttpConnector, Body>,
    secure: OnceLock<Result<Secure, String>>,
    /// Whether `https:` addresses are reached through the machine's proxy.
    proxied: bool,
}

#[derive(Clone, Debug)]
struct Secure {
    connector: HttpsConnector<Way>,
    client: Client<HttpsConnector<Way>, Body>,
}

impl Outward {
    pub(super) fn new(proxied: bool) -> Outward {
        let plain = Client::builder(TokioExecutor::new()).build(tcp());
        Outward { plain, secure: OnceLock::new(), proxied }
    }

    /// Sends a request, and waits for the beginning of its answer. Redirects are not followed, so that a key goes only to the
    /// address that was configured.
    /// An error says why there is no answer.
    pub(super) async fn send(&self, request: Request<Body>) -> Result<Response<Body>, String> {
        let answer = if request.uri().scheme_str() == Some("https") {
            self.secure()?.client.request(request).await
        } else {
            self.plain.request(request).await
        };
        answer.map(|answer| answer.map(Body::new)).map_err(|e| reason(&e))
    }

    /// Opens a connection, and closes it again.
    /// An error says why there is none.
    pub(super) async fn try_out(&self, uri: Uri) -> Result<(), String> {
        let late = |_| format!("no connection within {} s", PATIENCE.as_secs());
        if uri.scheme_str() == Some("https") {
            let mut connector = self.secure()?.connector;
            let connected = tokio::time::timeout(PATIENCE, connector.call(uri)).await.map_err(late)?;
            return connected.map(drop).map_err(|e| reason(&*e));
        }
        let connected = tokio::time::timeout(PATIENCE, tcp().call(uri)).await.map_err(late)?;
        connected.map(drop).map_err(|e| reason(&e))
    }

    fn secure(&self) -> Result<Secure, String> {
        let make = || {
            let tls = Arc::new(tls()?);
            let http = HttpsConnector::from((tcp(), tls.clone()));
            let proxies = Arc::new(self.proxied.then(Matcher::from_env));
            let connector = HttpsConnector::from((Way { direct: tcp(), to_proxy: http, proxies }, tls));
            let client = Client::builder(TokioExecutor::new()).build(connector.clone());
            Ok(Secure { connector, client })
        };
        self.secure.get_or_init(make).clone()
    }
}

fn tcp() -> HttpConnector {
    let mut tcp = HttpConnector::new();
    tcp.enforce_http(false);
    // Without it a request of several pieces waits for a delayed acknowledgement.
    tcp.set_nodelay(true);
    tcp.set_connect_timeout(Some(PATIENCE));
    tcp
}

/// TLS with the certificates of the machine, and with those of the files that the environment names.
fn tls() -> Result<ClientConfig, String> {
    let mut extra = Vec::new();
    for variable in CERTIFICATES {
        let Some(file) = std::env::var_os(variable).filter(|file| !file.is_empty()) else { continue };
        let wrong = |e| format!("{variable}={}: failed to read its certificates: {e}", file.display());
        let read = CertificateDer::pem_file_iter(&file).map_err(wrong)?;
        extra.extend(read.collect::<Result<Vec<_>, _>>().map_err(wrong)?);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let failed = |e: rustls::Error| format!("failed to set up TLS: {e}");
    let verifier = Verifier::new_with_extra_roots(extra, provider.clone()).map_err(failed)?;
    let config = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(failed)?;
    Ok(config.dangerous().with_custom_certificate_verifier(Arc::new(verifier)).with_no_client_auth())
}

/// Connects to an address, directly or through the machine's proxy. TLS to the address comes on top.
#[derive(Clone, Debug)]
struct Way {
    direct: HttpConnector,
    to_proxy: HttpsConnector<HttpConnector>,
    proxies: Arc<Option<Matcher>>,
}

type Stream = MaybeHttpsStream<TokioIo<TcpStream>>;
type BoxError = Box<dyn StdError + Send + Sync>;

impl Service<Uri> for Way {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, target: Uri) -> Self::Future {
        let Some(proxy) = self.proxies.as_ref().as_ref().and_then(|proxies| proxies.intercept(&target)) else {
            let connecting = self.direct.call(target);
            return Box::pin(async move { Ok(MaybeHttpsStream::Http(connecting.await?)) });
        };
        let address = proxy.uri().clone();
        if !matches!(address.scheme_str(), Some("http" | "https")) {
            let scheme = address.scheme_str().unwrap_or_default().to_owned();
            let what =
                format!("HTTPS_PROXY: a proxy of the kind `{scheme}:` is not supported, only `http:` and `https:`");
            return Box::pin(async move { Err(what.into()) });
        }
        let named = address.authority().map(|it| it.host().to_owned()).unwrap_or_default();
        let mut tunnel = Tunnel::new(address, self.to_proxy.clone());
        if let Some(authorization) = proxy.basic_auth() {
            tunnel = tunnel.with_auth(authorization.clone());
        }
        let connecting = tunnel.call(target);
        Box::pin(async move {
            connecting.await.map_err(|e| format!("through the proxy {named} of HTTPS_PROXY: {}", reason(&e)).into())
        })
    }
}
