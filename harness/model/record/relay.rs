//! The relay of the command `retake`, through which calls reach their providers. It alone has the providers' keys and speaks TLS.
//!
//! It listens on loopback. A call goes to `URL/PROVIDER/PATH`, with the relay's own key. Whatever goes wrong between the relay and
//! a provider comes back with a mark, so that it is never taken for an answer.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::{env, fmt};

use reqwest::{Client, RequestBuilder};

use super::pending_call::PendingCall;
use retake_base::error::{Error, Result};
use retake_wire::Api;
use retake_wire::fixture::call_log::LoggedCall;

/// The header that brings the relay's key.
pub const KEY: &str = "x-retake-relay-key";
/// The header of a response that is no answer of a provider. Its value is [`FAILED`] or [`REFUSED`], and the body says why. As a
/// trailer, it says why the rest of an answer is missing.
pub const MARK: &str = "x-retake-relay";
/// The provider could not be reached, or its answer cannot be read.
pub const FAILED: &str = "error";
/// The call may not be sent, and no other one either.
pub const REFUSED: &str = "refused";
/// Where the relay answers for itself.
pub const OWN: &str = "__relay";

/// The variables in which the command hands its relay to a runner.
const URL_IN: &str = "RETAKE_RELAY";
const KEY_IN: &str = "RETAKE_RELAY_KEY";
const REACHES_IN: &str = "RETAKE_RELAY_REACHES";
const HOLDS_IN: &str = "RETAKE_RELAY_HOLDS";

/// The headers of an answer that its client gets besides the content type, but that are not stored: whether and when to try again,
/// and what Bedrock says beside the body.
pub const ANSWERED: [&str; 8] = [
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "x-amzn-errortype",
    "x-amzn-bedrock-input-token-count",
    "x-amzn-bedrock-output-token-count",
    "x-amzn-bedrock-cache-read-input-token-count",
    "x-amzn-bedrock-cache-write-input-token-count",
];

/// The headers of a call that are passed on.
const PASSED: [&str; 13] = [
    "content-type",
    "accept",
    "anthropic-version",
    "anthropic-beta",
    "openai-beta",
    "x-amzn-bedrock-accept",
    "x-amzn-bedrock-guardrailidentifier",
    "x-amzn-bedrock-guardrailversion",
    // These identify the account, or the customer of a gateway.
    "openai-organization",
    "openai-project",
    "x-goog-user-project",
    "http-referer",
    "x-title",
];

/// Where calls are passed on to.
#[derive(Clone, PartialEq, Eq)]
pub struct Relay {
    address: SocketAddr,
    /// The key that the relay requires.
    pub(crate) key: String,
    /// The providers that are configured.
    pub reaches: Vec<String>,
    /// The variables whose values only the relay has: the providers' keys.
    pub holds: Vec<String>,
}

impl fmt::Debug for Relay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Relay({})", self.address)
    }
}

/// Returns the name under which the relay knows the provider of an API.
pub fn provider_of(api: Api) -> &'static str {
    match api {
        Api::OpenAiChat | Api::OpenAiResponses | Api::Declared(_) | Api::Opaque => "openai",
        Api::Anthropic => "anthropic",
        Api::Gemini => "gemini",
        Api::Ollama => "ollama",
        Api::Bedrock | Api::BedrockInvoke => "bedrock",
    }
}

/// Returns why a call with the value of this variable is not sent, and how to declare it. A `provider`'s key is never given to a
/// system.
pub fn undeclared(name: &str, provider: bool) -> String {
    let first = format!(
        "a model call contains the value of the environment variable {name}, which looks like a secret, so recording stopped before \
         it was sent.\n  Add to scenarios/suite.toml: secrets = [\"{name}\"]\n  Then <{name}> is stored in its place."
    );
    if provider {
        return first;
    }
    format!("{first} A system that Retake starts gets the value by env = {{ {name} = \"{{{{ secret.{name} }}}}\" }}")
}

impl Relay {
    /// A relay that reaches these providers. `holds` are the variables whose values only the relay has.
    ///
    /// # Errors
    /// If the address is not on loopback.
    pub fn new(address: SocketAddr, key: String, reaches: Vec<String>, holds: Vec<String>) -> Result<Relay> {
        if !address.ip().is_loopback() {
            return Err(Error::new(format!("{address} is not a loopback address: the relay listens on loopback only")));
        }
        Ok(Relay { address, key, reaches, holds })
    }

    /// A relay that reaches nothing, for a recorder that makes no calls.
    pub fn none() -> Relay {
        let address = SocketAddr::from((std::net::Ipv4Addr::LOCALHOST, 0));
        Relay { address, key: String::new(), reaches: Vec::new(), holds: Vec::new() }
    }

    /// The relay that the command handed over, if it did.
    pub fn from_env() -> Option<Relay> {
        let value = |name| env::var(name).ok().filter(|value: &String| !value.is_empty());
        let list = |of| value(of).unwrap_or_default().split(',').filter(|it| !it.is_empty()).map(Into::into).collect();
        let address = value(URL_IN)?.parse().ok()?;
        Relay::new(address, value(KEY_IN)?, list(REACHES_IN), list(HOLDS_IN)).ok()
    }

    /// The variables that hand the relay to a runner.
    pub fn variables(&self) -> [(&'static str, String); 4] {
        [
            (URL_IN, self.address.to_string()),
            (KEY_IN, self.key.clone()),
            (REACHES_IN, self.reaches.join(",")),
            (HOLDS_IN, self.holds.join(",")),
        ]
    }

    /// The base URL.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the request that passes a call on.
    pub(super) fn request(&self, client: &Client, call: &PendingCall) -> RequestBuilder {
        let url = format!("{}/{}{}", self.url(), provider_of(call.provider), call.path);
        let mut request = client.request(call.method.clone(), url).header(KEY, &self.key).header("te", "trailers");
        for name in PASSED {
            for value in call.headers.get_all(name) {
                request = request.header(name, value);
            }
        }
        if call.body.is_empty() { request } else { request.body(call.body.clone()) }
    }

    /// Tries whether a provider can be reached, without calling it.
    ///
    /// # Errors
    /// If it cannot: why.
    pub fn tries(&self, provider: &str) -> Result<(), String> {
        match self.ask(&format!("try/{provider}"), b"")? {
            (200..300, _) => Ok(()),
            (_, why) => Err(String::from_utf8_lossy(&why).into_owned()),
        }
    }

    /// Returns a call that is about to be written without the providers' keys, which only the relay knows; `None` if it has none.
    /// Fails if the relay does not answer: then the call must not be written.
    pub(super) fn scrub(&self, call: &LoggedCall) -> Result<Option<LoggedCall>, String> {
        if self.holds.is_empty() {
            return Ok(None);
        }
        match self.ask("scrub", call.line().as_bytes())? {
            (204, _) => Ok(None),
            (200, line) => LoggedCall::of_line(&line).map(Some),
            (status, _) => Err(format!("the relay of the command answered with status {status}")),
        }
    }

    /// Opens the connection that stays open as long as the relay runs. Each line on it is the exit code of a signal that asks
    /// this process to end.
    ///
    /// # Errors
    /// If the relay is gone.
    pub fn lifeline(&self) -> std::io::Result<impl std::io::BufRead + Send + use<>> {
        let mut stream = TcpStream::connect(self.address)?;
        self.send(&mut stream, "life", b"")?;
        let mut lines = std::io::BufReader::new(stream);
        let mut line = String::new();
        while std::io::BufRead::read_line(&mut lines, &mut line)? > 2 {
            line.clear();
        }
        Ok(lines)
    }

    /// Asks the relay itself. The connection is this process's own, and no runtime is needed: the last lines of a journal are
    /// written while a runtime ends.
    fn ask(&self, what: &str, body: &[u8]) -> Result<(u16, Vec<u8>), String> {
        let gone = |e: std::io::Error| format!("the command through which calls reach the provider has ended ({e})");
        let mut stream = TcpStream::connect(self.address).map_err(gone)?;
        self.send(&mut stream, what, body).map_err(gone)?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).map_err(gone)?;
        let head = memchr::memmem::find(&answer, b"\r\n\r\n").unwrap_or(answer.len());
        let status = std::str::from_utf8(&answer[..head]).ok().and_then(|head| head.get(9..12)?.parse().ok());
        let body = answer.get(head + 4..).unwrap_or_default().to_owned();
        Ok((status.ok_or_else(|| gone(std::io::ErrorKind::UnexpectedEof.into()))?, body))
    }

    fn send(&self, stream: &mut TcpStream, what: &str, body: &[u8]) -> std::io::Result<()> {
        let Relay { address, key, .. } = self;
        let length = body.len();
        let head = format!(
            "POST /{OWN}/{what} HTTP/1.0\r\nhost: {address}\r\n{KEY}: {key}\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all(&[head.as_bytes(), body].concat())
    }
}
