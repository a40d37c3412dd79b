//! Replaces the MCP client in a build without the feature `mcp`: each attempt to use it is an error that says so.

use std::time::Duration;

use futures_util::future::BoxFuture;

use super::command::Command;
use super::targets::Target;
use crate::tools::observed::Observed;
use retake_base::error::{Error, Result};
use retake_core::json::Json;

/// A type without values, in place of the MCP client.
pub(crate) enum Mcp {}

#[expect(clippy::unused_async, reason = "same signature as with the feature")]
impl Mcp {
    pub(crate) async fn start(_: Command, _: Duration) -> Result<Mcp> {
        Err(not_built_in())
    }

    pub(crate) async fn connect(_: String, _: Vec<(String, String)>, _: Duration) -> Result<Mcp> {
        Err(not_built_in())
    }

    pub(crate) async fn tools(&self) -> Result<Vec<String>> {
        match *self {}
    }

    pub(crate) async fn end(&self) {
        match *self {}
    }
}

impl Target for Mcp {
    fn call<'a>(&'a self, _: &'a str, _: &'a Json) -> BoxFuture<'a, Vec<Observed>> {
        match *self {}
    }
}

fn not_built_in() -> Error {
    Error::new("this program was built without MCP")
        .help("cargo install retake-cli --features mcp")
        .help("in a Rust project: retake = { version = \"…\", features = [\"mcp\"] }")
}
