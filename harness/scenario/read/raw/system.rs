//! The fields of `[systems.NAME]`, as they are written in the file.

use crate::read::spanned::{Spanned, Texts};
use crate::read::values::{Pattern, RawDuration};

tables! {
pub(crate) struct RawSystem {
    /// Another system of this file. What this one does not set is taken from there; `env` and `files` are merged name
    /// by name.
    /// Example: `"agent"`.
    pub extends: Option<Spanned<String>>,
    /// The program to start for each scenario, and its arguments.
    /// Example: `["uvicorn", "app:app", "--port", "{{ port }}"]`.
    pub command: Option<Spanned<Vec<Spanned<String>>>>,
    /// The folder in which the program runs, relative to the project's folder.
    /// Default: `"."`. Example: `"services/agent"`.
    pub cwd: Option<Spanned<String>>,
    /// Runs the program in a copy of `cwd`, which is then its `{{ workdir }}`: for systems that write files next to
    /// their code.
    /// Default: `false`. Example: `true`.
    pub cwd_copy: Option<Spanned<bool>>,
    /// Files to render into `{{ workdir }}` before the start, each with the file of the project that is its template.
    /// Default: `{}`. Example: `{ "config.yaml" = "templates/config.yaml" }`.
    pub files: Option<Spanned<Texts>>,
    /// The program's environment variables, in addition to PATH, a home and a temporary folder of its own. Nothing else
    /// of the runner's environment reaches it.
    /// Default: `{}`. Example: `{ PORT = "{{ port }}", OPENAI_BASE_URL = "{{ model.openai }}", OPENAI_API_KEY = "{{
    /// model.key }}" }`.
    pub env: Option<Spanned<Texts>>,
    /// How to tell that the system is ready. A system with a `command` needs it.
    /// Example: `{ http = "/health", timeout = "30s" }`.
    pub ready: Option<Spanned<RawReady>>,
    /// A command to run in `cwd` before the first start, and again only when the files there have changed.
    /// Example: `["pnpm", "build"]`.
    pub build: Option<Spanned<Vec<Spanned<String>>>>,
    /// A fixed port, for a system whose port is built into other programs. Its scenarios run one after another.
    /// Default: a free port. Example: `8011`.
    pub port: Option<Spanned<u16>>,
    /// Whether all scenarios share one process, and run on it one after another.
    /// Default: `false`. Example: `true`.
    pub shared: Option<Spanned<bool>>,
    /// The systems to start before this one; `{{ systems.NAME }}` is the address of each.
    /// Default: `[]`. Example: `["gateway"]`.
    pub needs: Option<Vec<Spanned<String>>>,
    /// The address of a system on this machine that somebody else has started.
    /// Example: `"http://127.0.0.1:8000"`.
    pub url: Option<Spanned<String>>,
    /// Where a system with a `url` was told to find the model.
    /// Example: `{ addr = "127.0.0.1:9009", key_env = "MODEL_KEY" }`.
    pub model: Option<Spanned<RawModel>>,
}

pub(crate) struct RawReady {
    /// A path that answers a GET request with success once the system is ready.
    /// Example: `"/health"`.
    pub http: Option<Spanned<String>>,
    /// A regular expression for the line of the system's log that says that it is ready.
    /// Example: `"listening on"`.
    pub line: Option<Pattern>,
    /// Whether the system is ready as soon as its port accepts a connection: for a system that has no path or log line
    /// to tell by.
    /// Example: `true`.
    pub port: Option<Spanned<bool>>,
    /// How long the system may take to become ready.
    /// Default: `"30s"`. Example: `"60s"`.
    pub timeout: Option<Spanned<RawDuration>>,
}

pub(crate) struct RawModel {
    /// The address that the model server listens on.
    /// Example: `"127.0.0.1:9009"`.
    pub addr: Spanned<String>,
    /// The environment variable of the runner that holds the key which the system sends.
    /// Example: `"MODEL_KEY"`.
    pub key_env: Spanned<String>,
}
}
