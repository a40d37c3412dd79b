//! A proxy that refuses everything, and keeps what it was asked for. Polite clients respect the variables that lead to it.

use std::net::{Ipv4Addr, SocketAddr};

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::{Egress, Reached, now};

/// The variables that clients read; most read them in lower case too.
const VARIABLES: [&str; 3] = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"];
/// What every client reaches without a proxy.
const DIRECT: &str = "localhost,127.0.0.1,::1";

/// A running proxy. It ends when it is dropped.
#[derive(Debug)]
pub(super) struct Proxy {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Proxy {
    /// Fails if there is no port for it.
    pub(super) async fn start(egress: Egress) -> std::io::Result<Proxy> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        egress.own(address.port());
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(refuse(client, egress.clone()));
            }
        });
        Ok(Proxy { address, task })
    }

    pub(super) fn variables(&self) -> Vec<(String, String)> {
        let to = format!("http://{}", self.address);
        let both =
            |name: &str, value: &str| [name.to_owned(), name.to_lowercase()].map(|name| (name, value.to_owned()));
        let mut variables: Vec<_> = VARIABLES.iter().flat_map(|name| both(name, &to)).collect();
        variables.extend(both("NO_PROXY", DIRECT));
        variables.push(("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned()));
        variables
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Reads the first line of a request, such as `CONNECT api.example.com:443 HTTP/1.1`, and refuses it.
async fn refuse(client: TcpStream, egress: Egress) -> Option<()> {
    let mut client = BufReader::new(client);
    let mut line = String::new();
    client.read_line(&mut line).await.ok()?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?, words.next()?);
    let to = if method == "CONNECT" {
        target.to_owned()
    } else {
        let url = url::Url::parse(target).ok()?;
        format!("{}:{}", url.host_str()?, url.port_or_known_default()?)
    };
    egress.reached(Reached { process: String::new(), to, port: None, refused: true, at: now() });
    client.write_all(b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").await.ok()
}
