//! What executes the calls of each tool, and how long it may take.

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::error::{Error, Result};
use crate::json::Json;
use crate::tools::observed::Observed;
use crate::tools::script::Script;

/// How long a tool may take where nobody says.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(60);

/// Something that executes calls of tools. What goes wrong with a call is an observation too.
pub(crate) trait Target: Send + Sync {
    /// Executes one call.
    fn call<'a>(&'a self, tool: &'a str, args: &'a Json) -> BoxFuture<'a, Vec<Observed>>;
}

/// The targets of all tools, by the names that recordings have for them.
#[derive(Clone, Default)]
pub(crate) struct Targets(BTreeMap<String, Bound>);

/// What a tool's name stands for.
#[derive(Clone)]
pub(crate) enum Bound {
    Live {
        target: Arc<dyn Target>,
        /// What the target itself calls the tool.
        name: String,
        timeout: Duration,
    },
    /// A tool of the agent's own, which changes nothing outside: nothing is executed.
    AsRecorded,
}

impl Targets {
    /// Says what a name stands for.
    pub(crate) fn insert(&mut self, tool: &str, bound: Bound) {
        self.0.insert(tool.to_owned(), bound);
    }

    /// What a tool's name stands for.
    pub(crate) fn get(&self, tool: &str) -> Option<&Bound> {
        self.0.get(tool)
    }

    /// Refuses a script of which a tool has no target, before anything is executed.
    ///
    /// # Errors
    /// The names of those tools.
    pub(crate) fn check(&self, script: &Script, all: bool) -> Result<()> {
        let mut missing: Vec<&str> = script.actions().filter(|action| action.runs(all)).map(|a| &*a.tool).collect();
        missing.sort_unstable();
        missing.dedup();
        missing.retain(|tool| !self.0.contains_key(*tool));
        let Some(first) = missing.first() else { return Ok(()) };
        let named = missing.iter().map(|tool| format!("`{tool}`")).collect::<Vec<_>>().join(", ");
        let noun = if missing.len() == 1 { "tool has" } else { "tools have" };
        let error = Error::new(format!("recorded {noun} no declared target: {named}; nothing was executed"));
        let error = match crate::text::nearest(first, self.0.keys().map(String::as_str)) {
            Some(near) => error.help(format!("a target is declared for `{near}`")),
            None => error,
        };
        Err(error.help(format!("declare each in scenarios/suite.toml: [tools.{first}]")))
    }
}

impl Bound {
    /// Executes a call; `None` where nothing is to be executed.
    pub(crate) async fn call(&self, args: &Json) -> Option<Vec<Observed>> {
        let Bound::Live { target, name, timeout } = self else { return None };
        let call = AssertUnwindSafe(target.call(name, args)).catch_unwind();
        Some(match tokio::time::timeout(*timeout, call).await {
            Ok(Ok(observed)) => observed,
            Ok(Err(_)) => vec![Observed::error("the tool panicked")],
            Err(_) => vec![Observed::error(format!("the tool has not answered within {} s", timeout.as_secs_f64()))],
        })
    }
}
