//! Which target executes the calls of each tool, and how long a call may take.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::tools::observed::Observed;
use crate::tools::script::Script;
use retake_base::error::{Error, Result};
use retake_core::json::Json;

/// How long a call may take if no timeout is configured.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Executes tool calls. If a call goes wrong, the error is its observation.
pub(crate) trait Target: Send + Sync {
    fn call<'a>(&'a self, tool: &'a str, args: &'a Json) -> BoxFuture<'a, Vec<Observed>>;

    /// The names of the tools of a server.
    /// Fails if the server does not list its tools.
    fn tools(&self) -> BoxFuture<'_, Result<Vec<String>>> {
        async { Ok(Vec::new()) }.boxed()
    }

    /// Ends a server.
    fn end(&self) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }
}

/// The targets of all tools, by the tools' names in recordings.
#[derive(Clone, Default)]
pub struct Targets(BTreeMap<String, Bound>);

/// What a tool's calls are bound to.
#[derive(Clone)]
pub(crate) enum Bound {
    Live {
        target: Arc<dyn Target>,
        /// The target's own name for the tool.
        name: String,
        timeout: Duration,
    },
    /// One of the agent's own tools, which has no effect outside the agent. Its calls are not executed.
    AsRecorded,
}

impl Targets {
    pub(crate) fn insert(&mut self, tool: &str, bound: Bound) {
        self.0.insert(tool.to_owned(), bound);
    }

    pub(crate) fn get(&self, tool: &str) -> Option<&Bound> {
        self.0.get(tool)
    }

    /// Checks that each tool of a script has a target, before anything is executed.
    /// An error names the tools that have no target.
    pub(crate) fn check(&self, script: &Script, all: bool) -> Result<()> {
        let mut missing: Vec<&str> = script.actions().filter(|action| action.runs(all)).map(|a| &*a.tool).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.retain(|tool| !self.0.contains_key(*tool));
        let Some(first) = missing.first() else { return Ok(()) };
        let named = missing.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ");
        let these = if missing.len() == 1 { "this tool" } else { "these tools" };
        let error = Error::new(format!("suite.toml does not say how to run {these}: {named}; nothing was executed"));
        let error = match retake_base::text::nearest(first, self.0.keys().map(String::as_str)) {
            Some(near) => error.help(format!("a target is declared for `{near}`")),
            None => error,
        };
        Err(error.help(format!("declare each in scenarios/suite.toml: [tools.{first}]")))
    }
}

impl Bound {
    /// Executes a call. Returns `None` if calls of this tool are not executed.
    pub(crate) async fn call(&self, args: &Json) -> Option<Vec<Observed>> {
        let Bound::Live { target, name, timeout } = self else { return None };
        let call = AssertUnwindSafe(target.call(name, args)).catch_unwind();
        Some(match tokio::time::timeout(*timeout, call).await {
            Ok(Ok(observed)) => observed,
            Ok(Err(_)) => vec![Observed::error("the tool panicked")],
            Err(_) => vec![Observed::error(format!("the tool did not answer within {} s", timeout.as_secs_f64()))],
        })
    }
}
