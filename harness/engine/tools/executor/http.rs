//! A tool that is an HTTP endpoint. The arguments are posted to it as JSON, and the response is the observation.

use axum::http::{HeaderMap, Method};
use futures_util::future::{BoxFuture, FutureExt as _};
use reqwest::RequestBuilder;

use super::targets::Target;
use crate::tools::observed::Observed;
use retake_core::json::{Json, Layout};
use retake_model::clients::{Clients, reqwest_reason, sent};

/// The HTTP endpoint of one tool.
pub(crate) struct Http {
    url: String,
    headers: Vec<(String, String)>,
    clients: Clients,
}

impl Http {
    pub(crate) fn new(url: String, headers: Vec<(String, String)>) -> Http {
        Http { url, headers, clients: Clients::keeping(8) }
    }

    /// A request to the address, or to what is below it, with these headers and the suite's, which replace them.
    pub(in crate::tools) fn request(
        &self,
        method: Method,
        below: &str,
        headers: HeaderMap,
    ) -> Result<RequestBuilder, String> {
        let url = if below.is_empty() { &self.url } else { &format!("{}{below}", self.url.trim_end_matches('/')) };
        let request = self.clients.request(method, url).map_err(|e| e.to_string())?.headers(headers);
        let own = self.headers.iter().map(|(name, value)| Ok((name.parse()?, value.parse()?)));
        let own: Result<HeaderMap, axum::http::Error> = own.collect();
        Ok(request.headers(own.map_err(|e| e.to_string())?))
    }

    async fn post(&self, args: &Json) -> Result<Vec<Observed>, String> {
        let request = self.request(Method::POST, "", HeaderMap::new())?.header("content-type", "application/json");
        let response = sent(request.body(args.print(Layout::Compact))).await?;
        let status = response.status();
        let bytes = response.bytes().await.map_err(reqwest_reason)?;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if !status.is_success() {
            return Ok(vec![Observed::error(format!("HTTP status {}: {text}", status.as_u16()))]);
        }
        Ok(Json::parse(&bytes).map_or_else(|_| vec![Observed::text(text)], Observed::of_value))
    }
}

impl Target for Http {
    fn call<'a>(&'a self, _: &'a str, args: &'a Json) -> BoxFuture<'a, Vec<Observed>> {
        async move { self.post(args).await.unwrap_or_else(|reason| vec![Observed::error(reason)]) }.boxed()
    }
}
