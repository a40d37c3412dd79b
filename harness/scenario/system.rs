//! The systems under test that a suite describes: those to start, and those that are already running.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;
use url::Url;

use super::template::Template;

/// A system that is not a router in the runner's own process.
#[derive(Clone, Debug)]
pub enum SystemSpec {
    /// A program that is started for each scenario, or once for all.
    Command(CommandSpec),
    /// A system that somebody else started.
    Url(UrlSpec),
}

/// A system that Retake starts.
#[derive(Clone, Debug)]
pub struct CommandSpec {
    /// Program and arguments.
    pub command: Vec<Template>,
    /// The folder in which it runs, relative to the root.
    pub cwd: Option<Template>,
    /// Whether it runs in a copy of that folder, which is then its work folder.
    pub copied: bool,
    /// Files to write into the work folder: their paths in it, and their contents.
    pub files: BTreeMap<PathBuf, Template>,
    /// Its environment variables, in addition to those that every system gets.
    pub env: BTreeMap<String, Template>,
    /// The command to run before its first start, and again when its inputs have changed. It gets the variables of `env`
    /// that contain no template. Empty if there is nothing to build.
    pub build: Vec<String>,
    /// The fixed port of a system whose port is built into other programs.
    pub port: Option<u16>,
    /// How to tell that it is ready.
    pub ready: Ready,
    /// Whether all scenarios share one process.
    pub shared: bool,
    /// The tool servers that its templates name.
    pub tools: BTreeSet<String>,
    /// The environment variables that its templates use as `{{ secret.NAME }}`.
    pub secrets: BTreeSet<String>,
    /// The systems that have to be ready before it starts; `{{ systems.NAME }}` is the base URL of each.
    pub needs: Vec<String>,
}

/// A system that somebody else started, and that Retake attaches to.
#[derive(Clone, Debug)]
pub struct UrlSpec {
    /// Its base URL, on this machine.
    pub url: Url,
    /// Where it was told to find the model.
    pub model: AttachedModel,
}

/// When a started system is ready.
#[derive(Clone, Debug)]
pub enum Ready {
    /// When a GET request to a path answers with success.
    Http {
        /// The path, which starts with `/`.
        path: String,
        /// How long that may take.
        timeout: Duration,
    },
    /// When a line of its log matches.
    Line {
        /// The regular expression to match.
        regex: Regex,
        /// How long that may take.
        timeout: Duration,
    },
    /// When its port accepts a connection.
    Port {
        /// How long that may take.
        timeout: Duration,
    },
}

/// Where an attached system expects the model. It cannot be given a new address for each scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttachedModel {
    /// The address that the model server listens on.
    pub addr: SocketAddr,
    /// The environment variable that holds the key which the system sends.
    pub key_env: String,
}

/// Whether a system needs another one, directly or indirectly. Reading the suite has ruled out circles.
pub fn needs(systems: &BTreeMap<String, SystemSpec>, name: &str, other: &str) -> bool {
    let Some(SystemSpec::Command(spec)) = systems.get(name) else { return false };
    spec.needs.iter().any(|needed| needed == other || needs(systems, needed, other))
}
