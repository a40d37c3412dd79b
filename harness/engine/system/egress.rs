//! What the programs of one stage try to reach besides the stage's own servers, and what becomes of it.

mod proxy;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

#[cfg(target_os = "linux")]
use super::guardian::is_fence_possible;
use super::guardian::{Fence, Reached, now};
use proxy::Proxy;
use retake_base::lock::Mutex;
use retake_scenario::{Egress as Level, Scenario};

/// Watches the programs of a stage. Cloning it is cheap.
#[derive(Clone, Debug)]
pub struct Egress(Arc<Watch>);

#[derive(Debug)]
struct Watch {
    level: Level,
    /// Whether the scenario is replayed. While it is recorded, nothing is refused.
    replays: bool,
    allow: Vec<String>,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    /// The ports of the stage's own servers.
    own: Vec<u16>,
    /// The steps, each with the microsecond since 1970 in which it began.
    steps: Vec<(u64, String)>,
    reached: BTreeMap<Attempt, usize>,
    fenced: bool,
    unproven: Option<String>,
    proxy: Option<Proxy>,
}

/// What the programs of a stage tried to reach.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EgressData {
    /// What would have told an attempt.
    pub proof: Proof,
    /// Why there is no better proof.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The attempts to reach something else than the stage's own servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attempts: Vec<Attempts>,
}

impl EgressData {
    /// How much of what the programs tried is known.
    pub fn seen(&self) -> String {
        let seen = match self.proof {
            Proof::Filter => "a filter of system calls saw each address",
            Proof::Proxies => "only clients that respect proxy variables were seen",
            Proof::None => "it was not seen, or not all of it",
        };
        self.why.as_ref().map_or_else(|| seen.to_owned(), |why| format!("{seen}: {why}"))
    }
}

/// What would have told an attempt to reach something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Proof {
    /// A filter of system calls, which sees all.
    Filter,
    /// Proxy variables, which polite clients respect.
    Proxies,
    /// Nothing.
    None,
}

/// Equal attempts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attempts {
    /// Each of them.
    #[serde(flatten)]
    pub attempt: Attempt,
    /// How many there were.
    pub times: usize,
}

impl fmt::Display for Attempts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Attempt { to, process, step, .. } = &self.attempt;
        write!(f, "{to} (")?;
        if !process.is_empty() {
            write!(f, "by `{process}`, ")?;
        }
        match step {
            Some(step) => write!(f, "in {step}")?,
            None => f.write_str("while it started")?,
        }
        if self.times > 1 { write!(f, ", {} times)", self.times) } else { f.write_str(")") }
    }
}

/// What `allow` has to list so that these pass in silence.
pub fn allowing<'a>(attempts: impl IntoIterator<Item = &'a Attempts>) -> Vec<&'a str> {
    let all: BTreeSet<&str> = attempts.into_iter().map(|it| it.attempt.to.as_str()).collect();
    // What has no port, such as a socket of another family, cannot be listed.
    all.into_iter().filter(|to| !to.contains(' ')).collect()
}

/// An attempt of a program to reach something.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Attempt {
    /// An address, or a name where only that is known, with its port.
    pub to: String,
    /// The program and its script, without folders. Empty if that is unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub process: String,
    /// The step that was under way; absent before the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// Whether it was refused.
    pub refused: bool,
    /// Whether it is a port of this machine, which is never refused.
    pub local: bool,
}

impl Egress {
    /// Watches the programs of a scenario's stage, which is replayed or recorded.
    pub fn new(scenario: &Scenario, replays: bool) -> Egress {
        Egress::of_level(scenario.options.egress, &scenario.options.allow, replays)
    }

    pub(super) fn of_level(level: Level, allow: &[String], replays: bool) -> Egress {
        Egress(Arc::new(Watch { level, replays, allow: allow.to_vec(), seen: Mutex::default() }))
    }

    /// Watches nothing.
    pub(crate) fn off() -> Egress {
        Egress::of_level(Level::Off, &[], true)
    }

    /// Starts what tells attempts where no filter can be installed: a proxy that refuses.
    pub(super) async fn prepare(&self) {
        if let (true, Err(reason)) = (self.0.level == Level::Fail && self.0.replays, is_possible()) {
            let proxy = Proxy::start(self.clone()).await.ok();
            let mut seen = self.0.seen.lock();
            (seen.proxy, seen.unproven) = (proxy, Some(reason));
        }
    }

    /// Adds a port of one of the stage's own servers.
    pub(super) fn own(&self, port: u16) {
        self.0.seen.lock().own.push(port);
    }

    /// Adds the port of a server of the stage: the number at the end of its address, before a path.
    pub(super) fn own_url(&self, url: &str) {
        if let Some(port) = url.rsplit_once(':').and_then(|(_, port)| port.split('/').next()?.parse().ok()) {
            self.own(port);
        }
    }

    /// A step begins.
    pub(crate) fn step(&self, title: &str) {
        self.0.seen.lock().steps.push((now(), title.to_owned()));
    }

    /// Says why what a system of the stage reaches cannot be told.
    pub(super) fn cannot_be_told(&self, why: &str) {
        self.0.seen.lock().unproven = Some(why.to_owned());
    }

    pub(super) fn fence(&self) -> Option<Fence> {
        let Watch { level, replays, allow, seen } = &*self.0;
        let refuses = *replays && matches!(level, Level::Fail | Level::Proven);
        (*level != Level::Off).then(|| Fence { refuses, allow: allow.clone(), own: seen.lock().own.clone() })
    }

    /// The variables that lead polite clients to the proxy, if there is one.
    pub(super) fn proxies(&self) -> Vec<(String, String)> {
        self.0.seen.lock().proxy.as_ref().map(Proxy::variables).unwrap_or_default()
    }

    /// A program was started, with a filter or without.
    pub(super) fn fenced(&self, unproven: Option<String>) {
        let mut seen = self.0.seen.lock();
        seen.fenced = true;
        seen.unproven = seen.unproven.take().or(unproven);
    }

    pub(super) fn reached(&self, Reached { process, to, port, refused, at }: Reached) {
        let mut seen = self.0.seen.lock();
        // A server of the stage that was started after the one that calls it.
        if port.is_some_and(|port| seen.own.contains(&port)) || self.0.allow.contains(&to) {
            return;
        }
        let step = seen.steps.iter().rev().find(|(began, _)| *began <= at).map(|(_, step)| step.clone());
        *seen.reached.entry(Attempt { to, process, step, refused, local: port.is_some() }).or_default() += 1;
    }

    /// What was told since this was called before; `None` if nobody looked.
    pub(super) fn take(&self) -> Option<EgressData> {
        let mut seen = self.0.seen.lock();
        if self.0.level == Level::Off || !(seen.fenced || seen.unproven.is_some()) {
            return None;
        }
        let proof = match (&seen.unproven, &seen.proxy) {
            (None, _) => Proof::Filter,
            (Some(_), Some(_)) => Proof::Proxies,
            (Some(_), None) => Proof::None,
        };
        let attempts = std::mem::take(&mut seen.reached).into_iter();
        let attempts = attempts.map(|(attempt, times)| Attempts { attempt, times }).collect();
        Some(EgressData { proof, why: seen.unproven.clone(), attempts })
    }
}

/// Whether a filter can be installed here.
/// Fails with the reason if not.
#[cfg(target_os = "linux")]
fn is_possible() -> Result<(), String> {
    static POSSIBLE: std::sync::LazyLock<Result<(), String>> =
        std::sync::LazyLock::new(|| is_fence_possible().map_err(|e| e.to_string()));
    POSSIBLE.clone()
}

#[cfg(not(target_os = "linux"))]
fn is_possible() -> Result<(), String> {
    Err("only Linux can tell".to_owned())
}
