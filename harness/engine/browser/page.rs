//! One page, in a browser context of its own.

use std::collections::BTreeMap;
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use chromiumoxide::cdp::browser_protocol::browser::BrowserContextId;
use chromiumoxide::cdp::browser_protocol::target::{CreateBrowserContextParams, CreateTargetParams};
use serde::Serialize;
use serde_json::{Value, json};

use super::chromium::Chromium;
use super::connection::{Call, Connection, failed};
use super::watch::Watch;
use retake_base::error::{Error, Result};
use retake_base::lock::Mutex;

/// The size of a page, in CSS pixels.
const SIZE: [u32; 2] = [1280, 800];

/// A page that shares nothing with other pages. Dropping it closes it.
#[derive(Debug)]
pub(crate) struct Page {
    connection: &'static Connection,
    context: BrowserContextId,
    tab: chromiumoxide::Page,
    pub(crate) watch: Watch,
    /// The CSS selector of the iframe in which elements are looked for.
    frame: Mutex<Option<String>>,
}

/// Where the document that elements are looked for in stands in the window.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Origin {
    pub(super) left: f64,
    pub(super) top: f64,
    /// The width of the window, in CSS pixels.
    pub(super) width: f64,
}

/// A cookie of the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cookie {
    pub name: String,
    pub value: String,
    /// The host that set it, without a port, since cookies apply to all ports.
    pub host: String,
    pub path: String,
    pub http_only: bool,
    pub secure: bool,
}

impl Page {
    /// Opens an empty page.
    /// Fails if Chromium cannot open one.
    pub(crate) async fn open(chromium: &'static Chromium) -> Result<Page> {
        let connection = &chromium.connection;
        let context = connection.browser.create_browser_context(CreateBrowserContextParams::default());
        let context = context.await.map_err(|e| failed("a new context", &e))?;
        let mut target = CreateTargetParams::new("about:blank");
        target.browser_context_id = Some(context.clone());
        let tab = connection.browser.new_page(target).await.map_err(|e| failed("a new page", &e))?;
        let watch = Watch::start(&tab, &connection.runtime).await?;
        let page = Page { connection, context, tab, watch, frame: Mutex::default() };
        page.call("Emulation.setFocusEmulationEnabled", json!({ "enabled": true })).await?;
        Ok(page)
    }

    /// Sets the size of the window, the colour scheme that the page is asked for, and whether its dialogs are accepted.
    /// Fails if Chromium refuses it.
    pub(crate) async fn look_like(&self, size: Option<[u32; 2]>, colors: Option<&str>, accepts: bool) -> Result<()> {
        let [width, height] = size.unwrap_or(SIZE);
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        self.call("Emulation.setDeviceMetricsOverride", size).await?;
        let scheme = json!([{ "name": "prefers-color-scheme", "value": colors.unwrap_or_default() }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": scheme })).await?;
        self.watch.accept_dialogs(accepts);
        Ok(())
    }

    /// Looks for elements in this iframe from here on, or in the page itself.
    /// Fails if this is not a CSS selector.
    pub(super) async fn look_in(&self, frame: Option<&str>) -> Result<()> {
        if let Some(frame) = frame {
            let tried = format!("try {{ document.querySelector({}); true }} catch {{ false }}", json!(frame));
            // A page that is just being left does not know.
            if self.evaluate(&tried).await.is_ok_and(|is_right| is_right == false) {
                return Err(Error::new(format!("`{frame}` is not a CSS selector")));
            }
        }
        *self.frame.lock() = frame.map(str::to_owned);
        Ok(())
    }

    async fn iframe(&self) -> Result<Option<String>> {
        let frame = self.frame.lock().clone();
        let Some(frame) = frame else { return Ok(None) };
        let expression = format!("document.querySelector({})", json!(frame));
        let found = thrown(&self.call("Runtime.evaluate", json!({ "expression": expression })).await?)?;
        let found = found["objectId"].as_str().map(str::to_owned);
        found.map(Some).ok_or_else(|| Error::new(format!("nothing on the page matches the iframe `{frame}`")))
    }

    /// Returns the document in which elements are looked for.
    /// Fails if the iframe is not there, or belongs to another site.
    pub(super) async fn document(&self) -> Result<String> {
        let Some(iframe) = self.iframe().await? else {
            let document = self.call("Runtime.evaluate", json!({ "expression": "document" })).await?;
            return Ok(document["result"]["objectId"].as_str().unwrap_or_default().to_owned());
        };
        let about = self.call("DOM.describeNode", json!({ "objectId": iframe, "depth": 1, "pierce": true })).await?;
        let inner = &about["node"]["contentDocument"]["backendNodeId"];
        if inner.is_null() {
            return Err(Error::new("the iframe has no document yet, or one of another site"));
        }
        // A person looks at it in the window.
        self.function("function () { this.scrollIntoViewIfNeeded() }", &iframe, Vec::new()).await?;
        let document = self.call("DOM.resolveNode", json!({ "backendNodeId": inner })).await?;
        Ok(document["object"]["objectId"].as_str().unwrap_or_default().to_owned())
    }

    /// Returns where that document stands in the window.
    pub(super) async fn origin(&self) -> Result<Origin> {
        let width = self.evaluate("innerWidth").await?.as_f64().unwrap_or_default();
        let Some(iframe) = self.iframe().await? else { return Ok(Origin { width, ..Origin::default() }) };
        let corner = "function () { const { left, top } = this.getBoundingClientRect(); \
                      return [left + this.clientLeft, top + this.clientTop]; }";
        let corner = self.function(corner, &iframe, Vec::new()).await?;
        let [left, top] = [0, 1].map(|at| corner[at].as_f64().unwrap_or_default());
        Ok(Origin { left, top, width })
    }

    /// Takes a small picture for the trace of a scenario, as JPEG.
    pub(crate) async fn small_picture(&self) -> Option<Vec<u8>> {
        let how = json!({ "format": "jpeg", "quality": 40, "optimizeForSpeed": true });
        let picture = self.call("Page.captureScreenshot", how).await.ok()?;
        BASE64_STANDARD.decode(picture["data"].as_str()?).ok()
    }

    /// Goes to a URL and waits until it is loaded. The local storage is set before the page's first script runs.
    /// Fails if nobody answers, or if the status is not one of `right`. Without `right`, every status below 400 is accepted.
    pub(crate) async fn goto(
        &self,
        url: &str,
        storage: &BTreeMap<String, String>,
        right: Option<&[u16]>,
    ) -> Result<()> {
        let script = if storage.is_empty() { None } else { Some(self.keep_storage(url, storage).await?) };
        self.watch.seen.lock().document = None;
        let answer = self.call("Page.navigate", json!({ "url": url })).await?;
        if let Some(script) = script {
            self.call("Page.removeScriptToEvaluateOnNewDocument", json!({ "identifier": script })).await?;
        }
        // For an error answer without a body, Chromium reports that the page does not load, although there is a status.
        let Some(status) = self.watch.seen.lock().document else {
            let reason = answer["errorText"].as_str();
            return reason.map_or(Ok(()), |reason| Err(Error::new(format!("the page {url} does not load: {reason}"))));
        };
        let is_right = right.map_or(status < 400, |right| right.contains(&status));
        is_right.then_some(()).ok_or_else(|| Error::new(format!("the page {url} was answered with status {status}")))
    }

    /// Reloads the page.
    /// Fails if Chromium is gone, or as [`Page::goto`].
    pub(crate) async fn reload(&self) -> Result<()> {
        let url = self.evaluate("location.href").await?;
        let url = url.as_str().unwrap_or_default();
        // Navigating to the same URL reloads the page, and waits until it is loaded.
        self.goto(url, &BTreeMap::new(), None).await
    }

    async fn keep_storage(&self, url: &str, storage: &BTreeMap<String, String>) -> Result<Value> {
        let origin = url::Url::parse(url).map(|url| url.origin().ascii_serialization()).unwrap_or_default();
        let source = format!(
            "if (location.origin === {}) for (const [name, value] of Object.entries({})) localStorage.setItem(name, value);",
            json!(origin),
            json!(storage),
        );
        let answer = self.call("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source })).await?;
        Ok(answer["identifier"].clone())
    }

    /// Returns all cookies of the context.
    /// Fails if Chromium is gone.
    pub(crate) async fn cookies(&self) -> Result<Vec<Cookie>> {
        let of = json!({ "browserContextId": self.context.as_ref() });
        let answer = self.of_browser("Storage.getCookies", of).await?;
        let text = |cookie: &Value, key: &str| cookie[key].as_str().unwrap_or_default().to_owned();
        let cookie = |cookie: &Value| Cookie {
            name: text(cookie, "name"),
            value: text(cookie, "value"),
            host: text(cookie, "domain").trim_start_matches('.').to_owned(),
            path: text(cookie, "path"),
            http_only: cookie["httpOnly"] == true,
            secure: cookie["secure"] == true,
        };
        Ok(answer["cookies"].as_array().into_iter().flatten().map(cookie).collect())
    }

    /// Puts cookies into the context.
    /// Fails if Chromium refuses one.
    pub(crate) async fn set_cookies(&self, cookies: &[Cookie]) -> Result<()> {
        let cookie = |cookie: &Cookie| {
            let Cookie { name, value, host, path, http_only, secure } = cookie;
            let url = format!("{}://{host}{path}", if *secure { "https" } else { "http" });
            json!({
                "name": name, "value": value, "url": url, "path": path, "httpOnly": http_only, "secure": secure,
            })
        };
        let cookies: Vec<Value> = cookies.iter().map(cookie).collect();
        let params = json!({ "browserContextId": self.context.as_ref(), "cookies": cookies });
        self.of_browser("Storage.setCookies", params).await.map(drop)
    }

    /// Evaluates an expression on the page.
    /// Fails if it throws, or if the page is just being left.
    pub(super) async fn evaluate(&self, expression: &str) -> Result<Value> {
        let params = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        Ok(thrown(&self.call("Runtime.evaluate", params).await?)?["value"].clone())
    }

    /// Calls a function on the page with objects of the page.
    /// As [`Page::evaluate`].
    pub(super) async fn function(&self, function: &str, this: &str, arguments: Vec<Value>) -> Result<Value> {
        let params = json!({
            "functionDeclaration": function, "objectId": this, "arguments": arguments, "returnByValue": true,
            "awaitPromise": true,
        });
        Ok(thrown(&self.call("Runtime.callFunctionOn", params).await?)?["value"].clone())
    }

    /// Calls a function on the page, and returns the id of the object that it returns.
    /// As [`Page::evaluate`].
    pub(super) async fn object(&self, function: &str, this: &str, arguments: Vec<Value>) -> Result<String> {
        let params = json!({ "functionDeclaration": function, "objectId": this, "arguments": arguments });
        let object = thrown(&self.call("Runtime.callFunctionOn", params).await?)?;
        Ok(object["objectId"].as_str().unwrap_or_default().to_owned())
    }

    /// Sends a command to the page.
    /// Fails if Chromium refuses it or is gone.
    pub(super) async fn call(&self, method: &'static str, params: Value) -> Result<Value> {
        let answer = self.tab.execute(Call { method, params }).await;
        answer.map(|answer| answer.result).map_err(|e| failed(method, &e))
    }

    async fn of_browser(&self, method: &'static str, params: Value) -> Result<Value> {
        let answer = self.connection.browser.execute(Call { method, params }).await;
        answer.map(|answer| answer.result).map_err(|e| failed(method, &e))
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        let params = json!({ "browserContextId": self.context.as_ref() });
        let connection = self.connection;
        connection.runtime.spawn(async move {
            // If the browser is already gone, this fails, which does not matter.
            let _ = connection.browser.execute(Call { method: "Target.disposeBrowserContext", params }).await;
        });
    }
}

/// Returns the result of a script.
fn thrown(answer: &Value) -> Result<Value> {
    let thrown = &answer["exceptionDetails"];
    if thrown.is_null() {
        return Ok(answer["result"].clone());
    }
    let text = thrown["exception"]["description"].as_str().or_else(|| thrown["text"].as_str());
    Err(Error::new(format!("the page's script failed: {}", text.unwrap_or_default())))
}

/// The pause between two attempts of an act.
pub(super) const PERIOD: Duration = Duration::from_millis(20);
