//! The relay over TLS: certificates that the environment names, the machine's proxy, and systems at `https:` addresses.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::Router;
use axum::http::HeaderMap;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use serde_json::json;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::PrivateKeyDer;

use crate::record::proxy::proxy;
use crate::replay::serve::Serving;
use crate::support::loopback::{Reply, Service, chat, free_port, send};
use crate::support::tree::Tree;

tests! {
    a_provider_with_a_certificate_of_its_own_is_reached_once_the_environment_names_it,
    a_provider_is_reached_through_a_proxy_that_only_sees_tls,
    a_system_at_an_https_address_is_reached_by_the_command,
}

/// A server that speaks TLS on `localhost`, and the certificate that a client has to trust.
struct Tls {
    address: SocketAddr,
    authority: String,
}

/// Puts TLS in front of a service.
fn tls(service: &Service) -> Tls {
    let plain = service.openai()["http://".len()..].trim_end_matches("/v1").to_owned();
    let mut of_authority = CertificateParams::new([]).unwrap();
    of_authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority_key = KeyPair::generate().unwrap();
    let authority = of_authority.self_signed(&authority_key).unwrap();
    let key = KeyPair::generate().unwrap();
    let issuer = Issuer::new(of_authority, authority_key);
    let certificate = CertificateParams::new(["localhost".to_owned()]).unwrap().signed_by(&key, &issuer).unwrap();
    let key = PrivateKeyDer::try_from(key.serialize_der()).unwrap();
    let config = ServerConfig::builder().with_no_client_auth();
    let config = config.with_single_cert(vec![certificate.der().clone()], key).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (listener, acceptor) =
                (tokio::net::TcpListener::from_std(listener).unwrap(), TlsAcceptor::from(Arc::new(config)));
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, plain) = (acceptor.clone(), plain.clone());
                tokio::spawn(async move {
                    // A client that does not trust the certificate leaves here.
                    let Ok(mut stream) = acceptor.accept(stream).await else { return };
                    let mut plain = tokio::net::TcpStream::connect(plain).await.unwrap();
                    let _ = tokio::io::copy_bidirectional(&mut stream, &mut plain).await;
                });
            }
        });
    });
    Tls { address, authority: authority.pem() }
}

/// Starts a provider that requires its key.
fn provider() -> Service {
    Service::start(Router::new().fallback(async |headers: HeaderMap| {
        assert_eq!(headers[AUTHORIZATION], "Bearer sk-of-the-provider");
        let message = json!({ "role": "assistant", "content": "hello" });
        let choice = json!({ "index": 0, "message": message, "finish_reason": "stop" });
        ([(CONTENT_TYPE, "application/json")], json!({ "id": "c", "model": "m", "choices": [choice] }).to_string())
    }))
}

/// Asks through `retake proxy`, with these variables. Returns the reply and what the proxy said at its end.
fn asked(tls: &Tls, tree: &Tree, variables: &[(&str, &str)]) -> (Reply, String) {
    let upstream = format!("https://localhost:{}/v1", tls.address.port());
    let program = proxy(tree, &upstream).arg("--replace").env("OPENAI_API_KEY", "sk-of-the-provider");
    let program = program.env("RETAKE_UPSTREAM_OPENAI", upstream).env("NO_PROXY", "").env("no_proxy", "");
    let mut proxy = Serving::start(variables.iter().fold(program, |program, (name, value)| program.env(name, value)));
    let url = format!("{}/chat/completions", proxy.ready("openai"));
    let body = chat(&json!([{ "role": "user", "content": "Hello" }]), false);
    let reply = send(&url, &[("authorization", "Bearer ours")], Some(&body));
    (reply, proxy.end_and_read("-INT").1)
}

fn a_provider_with_a_certificate_of_its_own_is_reached_once_the_environment_names_it() {
    let provider = provider();
    let tls = tls(&provider);
    let tree = Tree::empty();
    tree.write("ca.pem", &tls.authority);
    let ca = tree.path("ca.pem").to_str().unwrap().to_owned();
    let none = [("HTTPS_PROXY", ""), ("https_proxy", ""), ("ALL_PROXY", "")];
    let (reply, said) = asked(&tls, &tree, &none);
    assert!(reply.status == 502 && said.contains("cannot be reached: "), "{} {said}", reply.body);
    assert!(
        said.contains(&format!("https://localhost:{}", tls.address.port())) && said.contains("certificate"),
        "{said}"
    );
    for variable in ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"] {
        let (reply, said) = asked(&tls, &tree, &[&none[..], &[(variable, &ca)]].concat());
        assert!(reply.status == 200 && said.contains("1 turn recorded"), "{variable}: {} {said}", reply.body);
    }
    let (reply, _) = asked(&tls, &tree, &[&none[..], &[("NODE_EXTRA_CA_CERTS", "missing.pem")]].concat());
    assert!(reply.body.contains("NODE_EXTRA_CA_CERTS=missing.pem: failed to read"), "{}", reply.body);
}

/// Starts a proxy that counts the tunnels through it, and requires this authorization.
fn tunnels(authorization: &'static str) -> (SocketAddr, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (address, count) = (listener.local_addr().unwrap(), Arc::new(AtomicUsize::new(0)));
    let counted = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let (stream, counted) = (stream.unwrap(), counted.clone());
            std::thread::spawn(move || {
                let mut lines = BufReader::new(stream.try_clone().unwrap());
                let (mut first, mut rest) = (String::new(), String::new());
                lines.read_line(&mut first).unwrap();
                while !rest.ends_with("\r\n\r\n") && lines.read_line(&mut rest).unwrap() > 0 {}
                assert!(rest.to_lowercase().contains(&authorization.to_lowercase()), "{rest}");
                let target = first.strip_prefix("CONNECT ").unwrap().split(' ').next().unwrap().to_owned();
                let target = TcpStream::connect(target).unwrap();
                counted.fetch_add(1, Ordering::Relaxed);
                let mut back = stream.try_clone().unwrap();
                back.write_all(b"HTTP/1.1 200 OK\r\n\r\n").unwrap();
                let mut from = target.try_clone().unwrap();
                let answers = std::thread::spawn(move || drop(std::io::copy(&mut from, &mut back)));
                let _ = std::io::copy(&mut lines, &mut &target);
                let _ = target.shutdown(std::net::Shutdown::Write);
                answers.join().unwrap();
            });
        }
    });
    (address, count)
}

fn a_provider_is_reached_through_a_proxy_that_only_sees_tls() {
    let provider = provider();
    let tls = tls(&provider);
    let tree = Tree::empty();
    tree.write("ca.pem", &tls.authority);
    let ca = tree.path("ca.pem").to_str().unwrap().to_owned();
    // `team:pass` in base64.
    let (address, count) = tunnels("Proxy-Authorization: Basic dGVhbTpwYXNz");
    let through = format!("http://team:pass@{address}");
    let (reply, said) = asked(&tls, &tree, &[("HTTPS_PROXY", &through), ("SSL_CERT_FILE", &ca)]);
    assert!(reply.status == 200 && count.load(Ordering::Relaxed) > 0, "{} {said}", reply.body);
    let before = count.load(Ordering::Relaxed);
    let but = [("HTTPS_PROXY", &*through), ("SSL_CERT_FILE", &ca), ("NO_PROXY", "localhost")];
    assert_eq!((asked(&tls, &tree, &but).0.status, count.load(Ordering::Relaxed)), (200, before));
    let (reply, _) = asked(&tls, &tree, &[("HTTPS_PROXY", "http://127.0.0.1:1"), ("SSL_CERT_FILE", &ca)]);
    assert!(reply.status == 502 && reply.body.contains("through the proxy 127.0.0.1 of HTTPS_PROXY"), "{}", reply.body);
}

fn a_system_at_an_https_address_is_reached_by_the_command() {
    let system = Service::start(Router::new().fallback(async |headers: HeaderMap| {
        assert!(headers.get("proxy-authorization").is_none());
        ([(CONTENT_TYPE, "application/json")], json!({ "said": headers["x-said"].to_str().unwrap() }).to_string())
    }));
    let tls = tls(&system);
    let model = free_port();
    let tree = Tree::with_suite(&format!(
        "[systems.agent]\nurl = \"https://localhost:{}\"\nmodel = {{ addr = \"127.0.0.1:{model}\", key_env = \"AGENT_KEY\" }}\n",
        tls.address.port()
    ));
    tree.scenario(
        "ask",
        "fixture = \"none\"\n[[step]]\npost = \"/ask?a=b\"\nheaders = { x-said = \"hello\" }\njson = {}\n\
         capture = { said = \"json:/said\" }\n[[step]]\npost = \"/{{ said }}\"\nheaders = { x-said = \"{{ said }}\" }\n",
    );
    tree.write("ca.pem", &tls.authority);
    let test = |program: crate::support::program::Program| program.env("AGENT_KEY", "the-key").run();
    let by_command = || tree.retake().args(&["test"]);
    test(by_command().env("NODE_EXTRA_CA_CERTS", tree.path("ca.pem"))).exits(0);
    test(by_command()).red(&[&format!("https://localhost:{} cannot be reached: ", tls.address.port()), "certificate"]);
    // Without the command, and without the feature.
    let ran = test(tree.runner("no-system"));
    ran.says(&["`https:` needs TLS", "features = [\"https\"]", "retake test"]);
}
