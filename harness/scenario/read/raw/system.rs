//! What is typed of a system: `[systems.NAME]`.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::scenario::read::spanned::Spanned;
use crate::scenario::read::values::{Pattern, RawDuration};

/// Text keys and values, each with its place.
pub(crate) type Texts = BTreeMap<Spanned<String>, Spanned<String>>;

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawSystem {
    /// Another system of this file: what this one does not say is as there; `env` and `files` are merged name by name.
    /// Example: `"agent"`.
    pub(crate) extends: Option<Spanned<String>>,
    /// The program that is started for each scenario, and its arguments.
    /// Example: `["uvicorn", "app:app", "--port", "{{ port }}"]`.
    pub(crate) command: Option<Spanned<Vec<Spanned<String>>>>,
    /// The folder in which it runs, from the project's.
    /// Default: `"."`. Example: `"services/agent"`.
    pub(crate) cwd: Option<Spanned<String>>,
    /// Runs it in a copy of `cwd`, which is then its `{{ workdir }}`: for systems that write beside their code.
    /// Default: `false`. Example: `true`.
    pub(crate) cwd_copy: Option<Spanned<bool>>,
    /// Files of `{{ workdir }}` that are rendered before the start, each from a file of the project.
    /// Default: `{}`. Example: `{ "config.yaml" = "templates/config.yaml" }`.
    pub(crate) files: Option<Spanned<Texts>>,
    /// Its environment, beside PATH and a home and a temporary folder of its own. Nothing else of the runner's reaches
    /// it.
    /// Default: `{}`. Example: `{ PORT = "{{ port }}", OPENAI_BASE_URL = "{{ model.openai }}", OPENAI_API_KEY = "{{
    /// model.key }}" }`.
    pub(crate) env: Option<Spanned<Texts>>,
    /// How to see that it is ready. A system with a `command` needs it.
    /// Example: `{ http = "/health", timeout = "30s" }`.
    pub(crate) ready: Option<Spanned<RawReady>>,
    /// What is run in `cwd` before the first start, and again only where the files there changed.
    /// Example: `["pnpm", "build"]`.
    pub(crate) build: Option<Spanned<Vec<Spanned<String>>>>,
    /// The port that it always has, where others have it built in. Its scenarios play one after another.
    /// Default: a free one. Example: `8011`.
    pub(crate) port: Option<Spanned<u16>>,
    /// Whether all scenarios share one process, one after another.
    /// Default: `false`. Example: `true`.
    pub(crate) shared: Option<Spanned<bool>>,
    /// The systems that are started before it; `{{ systems.NAME }}` is then the address of one.
    /// Default: `[]`. Example: `["gateway"]`.
    pub(crate) needs: Option<Vec<Spanned<String>>>,
    /// The address, on this machine, of a system that somebody else has started.
    /// Example: `"http://127.0.0.1:8000"`.
    pub(crate) url: Option<Spanned<String>>,
    /// How a system with a `url` was told to reach the model.
    /// Example: `{ addr = "127.0.0.1:9009", key_env = "MODEL_KEY" }`.
    pub(crate) model: Option<Spanned<RawModel>>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawReady {
    /// A path that answers a GET with success.
    /// Example: `"/health"`.
    pub(crate) http: Option<Spanned<String>>,
    /// A regular expression that fits a line of its log.
    /// Example: `"listening on"`.
    pub(crate) line: Option<Pattern>,
    /// Whether it is ready when its port takes a connection: for a system without a path that says so.
    /// Example: `true`.
    pub(crate) port: Option<Spanned<bool>>,
    /// How long that may take.
    /// Default: `"30s"`. Example: `"60s"`.
    pub(crate) timeout: Option<Spanned<RawDuration>>,
}

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawModel {
    /// The address that the model server takes.
    /// Example: `"127.0.0.1:9009"`.
    pub(crate) addr: Spanned<String>,
    /// The environment variable, of the runner, with the key that the system sends.
    /// Example: `"MODEL_KEY"`.
    pub(crate) key_env: Spanned<String>,
}
