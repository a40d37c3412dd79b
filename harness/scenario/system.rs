//! The systems under test that a suite describes: what is started, and what runs already.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;
use url::Url;

use super::template::Template;

/// A system that is not a router of the runner's own process.
#[derive(Clone, Debug)]
pub enum SystemSpec {
    /// A program that is started for each scenario, or once for all.
    Command(CommandSpec),
    /// A system that somebody else started.
    Url(UrlSpec),
}

/// A system that is started.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// Program and arguments.
    pub command: Vec<Template>,
    /// Where it runs; relative to the root.
    pub cwd: Option<Template>,
    /// Whether it runs in a copy of that folder, which is its work folder.
    pub copied: bool,
    /// Files of the work folder, relative to it, and what they hold.
    pub files: BTreeMap<PathBuf, Template>,
    /// All of its environment beyond what every system gets.
    pub env: BTreeMap<String, Template>,
    /// What is run before its first start, and again where its inputs changed: with the variables of `env` that hold no
    /// template. Empty where nothing is.
    pub build: Vec<String>,
    /// The port that it always has, where others were built with it.
    pub port: Option<u16>,
    /// How to see that it is ready.
    pub ready: Ready,
    /// Whether all scenarios share one process.
    pub shared: bool,
    /// The tool servers that its templates name.
    pub tools: BTreeSet<String>,
    /// The environment variables whose values its templates take as `{{ secret.NAME }}`.
    pub secrets: BTreeSet<String>,
    /// The systems that have to be ready before it; `{{ systems.NAME }}` is such a one's base URL.
    pub needs: Vec<String>,
}

/// A system that is attached.
#[derive(Clone, Debug)]
pub struct UrlSpec {
    /// Its base URL, on this machine.
    pub url: Url,
    /// How it was told to reach the model.
    pub model: AttachedModel,
}

/// When a started system is ready.
#[derive(Clone, Debug)]
pub enum Ready {
    /// A GET of the path answers with success.
    Http {
        /// The path, from the `/` on.
        path: String,
        /// How long that may take.
        timeout: Duration,
    },
    /// A line of its log fits.
    Line {
        /// What fits.
        regex: Regex,
        /// How long that may take.
        timeout: Duration,
    },
    /// Its port takes a connection.
    Port {
        /// How long that may take.
        timeout: Duration,
    },
}

/// Where an attached system expects the model: it cannot be told a fresh address for each scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedModel {
    /// The address that the model server takes.
    pub addr: SocketAddr,
    /// The environment variable that holds the key which the system sends.
    pub key_env: String,
}

/// Whether a system needs another one, at any remove. The suite was checked to have no circle.
pub(crate) fn needs(systems: &BTreeMap<String, SystemSpec>, name: &str, other: &str) -> bool {
    let Some(SystemSpec::Command(spec)) = systems.get(name) else { return false };
    spec.needs.iter().any(|needed| needed == other || needs(systems, needed, other))
}
