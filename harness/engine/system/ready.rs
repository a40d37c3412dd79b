//! Waits until a started system is ready: a route answers, a line is in its log, or its port accepts a connection.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use axum::http::Method;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::guardian::{Exit, Guarded};
use super::log::Log;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;
use retake_model::clients;
use retake_scenario::Ready;

/// The pause between two attempts to reach a system.
const PERIOD: Duration = Duration::from_millis(25);
/// How long one request may take. A system that is starting up may accept it and never answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Waits until the system is ready, at most until the scenario's own deadline, and returns its address. A system may listen on
/// `localhost`, which can be either loopback address.
/// Fails if the system ends, or the time is up. The error does not quote the log.
pub(super) async fn ready(
    ready: &Ready,
    port: u16,
    guarded: &Guarded,
    log: &Log,
    deadline: Option<Instant>,
) -> Result<SocketAddr> {
    let (limit, what) = match ready {
        Ready::Http { path, timeout } => (*timeout, format!("GET {path} on port {port} to answer with success")),
        Ready::Line { regex, timeout } => (*timeout, format!("a line of its log to match `{regex}`")),
        Ready::Port { timeout } => (*timeout, format!("port {port} to accept a connection")),
    };
    // What the attempts found instead, for the error if the time runs out.
    let found = Mutex::new(None);
    let becoming = async {
        match ready {
            Ready::Http { path, .. } => answers(port, path, &found).await,
            Ready::Line { .. } => {
                log.awaited().await;
                listens(port).await
            }
            Ready::Port { .. } => connects(port, &found).await,
        }
    };
    let own = Instant::now() + limit;
    let until = deadline.map_or(own, |deadline| deadline.min(own));
    tokio::select! {
        address = becoming => Ok(address),
        exit = guarded.exited() => {
            let how = exit.map_or_else(|| "its exit status is unknown".to_owned(), |exit| exit.to_string());
            let error = Error::new(format!("ended before it was ready: {how}"));
            Err(match exit {
                // Nothing went wrong in it: it is another program than the service.
                Some(Exit::Code(0)) => error.help(
                    "a system runs until its scenario has ended, but this command came to its end: is it the one that starts \
                     the service? See `command` in scenarios/suite.toml",
                ),
                _ => error,
            })
        }
        () = tokio::time::sleep_until(until) => {
            let when = if until < own { "when the scenario's time was up".to_owned() } else { format!("after {limit:?}") };
            let found = found.into_inner().map(|found: String| format!(", and found {found}")).unwrap_or_default();
            let error = Error::new(format!("was not ready {when}: waited for {what}{found}"));
            let error = match ready {
                Ready::Line { .. } if log.tail().is_empty() => {
                    error.help("it printed nothing: does it buffer its output? For Python: PYTHONUNBUFFERED = \"1\"")
                }
                _ => error,
            };
            Err(error.help(if until < own {
                "if it only needs longer: `timeout` of the scenario"
            } else {
                "if it only needs longer: `timeout` in `ready` of the system, in scenarios/suite.toml"
            }))
        }
    }
}

pub(super) fn addresses(port: u16) -> [SocketAddr; 2] {
    [(Ipv4Addr::LOCALHOST, port).into(), (Ipv6Addr::LOCALHOST, port).into()]
}

/// Waits until a route answers with success, and returns its address.
async fn answers(port: u16, path: &str, found: &Mutex<Option<String>>) -> SocketAddr {
    loop {
        for address in addresses(port) {
            let url = format!("http://{address}{path}");
            let now = match tokio::time::timeout(PATIENCE, get(&url)).await {
                Ok(Ok(status)) if (200..300).contains(&status) => return address,
                Ok(Ok(status)) => status.to_string(),
                Ok(Err(_)) => {
                    found.lock().get_or_insert_with(|| "nothing listening there".to_owned());
                    continue;
                }
                Err(_) => "no answer within 2 seconds".to_owned(),
            };
            *found.lock() = Some(now);
        }
        tokio::time::sleep(PERIOD).await;
    }
}

/// Sends a GET request and returns the status of the answer.
async fn get(url: &str) -> Result<u16> {
    let response = clients::sent(clients::OF_SYSTEMS.request(Method::GET, url)?).await.map_err(Error::new)?;
    Ok(response.status().as_u16())
}

/// Waits until the port accepts a connection, and returns its address.
async fn connects(port: u16, found: &Mutex<Option<String>>) -> SocketAddr {
    loop {
        for address in addresses(port) {
            if TcpStream::connect(address).await.is_ok() {
                return address;
            }
        }
        *found.lock() = Some("nothing listening there".to_owned());
        tokio::time::sleep(PERIOD).await;
    }
}

/// Returns the address on which the port listens, or the first address if it does not listen at all.
async fn listens(port: u16) -> SocketAddr {
    let [first, second] = addresses(port);
    if TcpStream::connect(first).await.is_err() && TcpStream::connect(second).await.is_ok() {
        return second;
    }
    first
}
