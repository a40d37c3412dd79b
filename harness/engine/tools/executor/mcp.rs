//! A tool server that speaks MCP, over its standard input and output or over streamable HTTP.

use std::collections::HashMap;
use std::time::Duration;

use axum::http::{HeaderName, HeaderValue};
use futures_util::future::{BoxFuture, FutureExt as _};
use rmcp::model::CallToolRequestParams;
use rmcp::service::RunningService;
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleClient, ServiceError, ServiceExt as _};
use tokio::time::timeout;

use super::command::Command;
use super::json;
use super::targets::Target;
use crate::system::Guarded;
use crate::tools::observed::Observed;
use retake_base::error::{Error, Result};
use retake_core::json::{Json, Layout};
use retake_model::clients::Clients;

/// A client of one MCP server.
pub(crate) struct Mcp {
    service: RunningService<RoleClient, ()>,
    /// The server's process, if Retake started it.
    process: Option<Guarded>,
}

impl Mcp {
    /// Starts a server that communicates over its standard input and output, and completes the MCP handshake.
    /// Fails if the server cannot be started, or does not complete the handshake in time.
    pub(crate) async fn start(command: Command, within: Duration) -> Result<Mcp> {
        let (process, stream, errors) = command.speak(within).await?;
        let greeted = timeout(within, ().serve(stream)).await;
        let greeted = greeted.map_err(|_| silent(within)).and_then(|greeted| greeted.map_err(|e| refused(&e)));
        match greeted {
            Ok(service) => Ok(Mcp { service, process: Some(process) }),
            Err(error) => {
                process.end().await;
                Err(quoting(error, &std::fs::read(errors).unwrap_or_default()))
            }
        }
    }

    /// Connects to a server that already runs, and completes the MCP handshake.
    /// Fails if the server cannot be reached, or does not complete the handshake in time.
    pub(crate) async fn connect(url: String, headers: Vec<(String, String)>, within: Duration) -> Result<Mcp> {
        let clients = Clients::keeping(8);
        let (client, url) = clients.of(&url)?;
        let headers = headers.into_iter().map(|(name, value)| {
            let wrong =
                || Error::new(format!("`{name}` is not a valid header name, or its value is not a valid header value"));
            let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong())?;
            Ok((header, HeaderValue::from_str(&value).map_err(|_| wrong())?))
        });
        let headers: HashMap<_, _> = headers.collect::<Result<_>>()?;
        let config = StreamableHttpClientTransportConfig::with_uri(&*url).custom_headers(headers);
        let transport = StreamableHttpClientTransport::with_client(client.clone(), config);
        let greeted = timeout(within, ().serve(transport)).await;
        let service = greeted.map_err(|_| silent(within))?.map_err(|e| refused(&e))?;
        Ok(Mcp { service, process: None })
    }

    async fn call_tool(&self, tool: &str, args: &Json) -> Result<Observed, ServiceError> {
        let mut params = CallToolRequestParams::new(tool.to_owned());
        params.arguments = serde_json::from_str(&args.print(Layout::Compact)).ok();
        let result = self.service.call_tool(params).await?;
        Ok(Observed::Content {
            content: json(&result.content),
            is_error: result.is_error.unwrap_or_default(),
            structured: result.structured_content.as_ref().map(json),
        })
    }
}

impl Target for Mcp {
    fn call<'a>(&'a self, tool: &'a str, args: &'a Json) -> BoxFuture<'a, Vec<Observed>> {
        let failed = |error| match error {
            // What the server said, without the words of the client.
            ServiceError::McpError(error) => Observed::error(error.message),
            other => Observed::error(other.to_string()),
        };
        async move { vec![self.call_tool(tool, args).await.unwrap_or_else(failed)] }.boxed()
    }

    fn tools(&self) -> BoxFuture<'_, Result<Vec<String>>> {
        async {
            let tools = self.service.list_all_tools().await;
            let tools = tools.map_err(|e| Error::new(format!("the server does not list its tools: {e}")))?;
            Ok(tools.into_iter().map(|tool| tool.name.into_owned()).collect())
        }
        .boxed()
    }

    /// Closes the connection, and ends the server if Retake started it.
    fn end(&self) -> BoxFuture<'_, ()> {
        async {
            self.service.cancellation_token().cancel();
            if let Some(process) = &self.process {
                process.end().await;
            }
        }
        .boxed()
    }
}

fn silent(within: Duration) -> Error {
    Error::new(format!("the MCP server did not answer the handshake within {} s", within.as_secs_f64()))
}

fn refused(error: &impl std::fmt::Display) -> Error {
    Error::new(format!("the handshake with the MCP server failed: {error}"))
}

/// Adds the last lines of the server's standard error to an error.
fn quoting(error: Error, errors: &[u8]) -> Error {
    let text = String::from_utf8_lossy(errors);
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let tail = &lines[lines.len().saturating_sub(10)..];
    tail.iter().fold(error, |error, line| error.help(format!("| {line}")))
}
