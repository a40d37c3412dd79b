//! What a person typed, field by field, before anything is checked against anything else.
//!
//! A new field begins here, in its struct. All lists of fields are made of these types (`fields`).

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use super::json::RawJson;
use super::values::{Kind, Pattern, RawDuration, RawStream, Statuses};
use crate::events::Detail;
use crate::model::OfferedTools;
use crate::scenario::options::{Delays, Level, Panics, Unused};
use crate::scenario::pointer::Pointer;
use crate::scenario::scenario::{ToolsFrom, Unobserved};

/// Text keys and values, each with its place.
pub(super) type Texts = BTreeMap<Spanned<String>, Spanned<String>>;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawSuite {
    pub(super) system: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) systems: BTreeMap<Spanned<String>, Spanned<RawSystem>>,
    #[serde(default)]
    pub(super) tools: BTreeMap<Spanned<String>, Spanned<RawTool>>,
    #[serde(default)]
    pub(super) callers: Vec<Spanned<RawCaller>>,
    #[serde(default)]
    pub(super) normalize: Vec<RawNormalize>,
    #[serde(default)]
    pub(super) aliases: BTreeMap<String, Spanned<String>>,
    pub(super) unused: Option<Unused>,
    pub(super) drift: Option<RawDrift>,
    pub(super) settle: Option<RawDuration>,
    pub(super) linger: Option<RawDuration>,
    pub(super) panics: Option<Panics>,
    pub(super) secrets: Option<Vec<Spanned<String>>>,
    pub(super) timeout: Option<Spanned<RawDuration>>,
    pub(super) delays: Option<Delays>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawSystem {
    pub(super) extends: Option<Spanned<String>>,
    pub(super) command: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) cwd: Option<Spanned<String>>,
    pub(super) cwd_copy: Option<Spanned<bool>>,
    pub(super) files: Option<Spanned<Texts>>,
    pub(super) env: Option<Spanned<Texts>>,
    pub(super) ready: Option<Spanned<RawReady>>,
    pub(super) build: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) port: Option<Spanned<u16>>,
    pub(super) shared: Option<Spanned<bool>>,
    pub(super) needs: Option<Vec<Spanned<String>>>,
    pub(super) url: Option<Spanned<String>>,
    pub(super) model: Option<Spanned<RawModel>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawTool {
    pub(super) mcp: Option<Spanned<RawMcp>>,
    pub(super) http: Option<Spanned<String>>,
    pub(super) command: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) as_recorded: Option<Spanned<bool>>,
    pub(super) cwd: Option<Spanned<String>>,
    pub(super) env: Option<Spanned<Texts>>,
    pub(super) headers: Option<Spanned<Texts>>,
    pub(super) tools: Option<Spanned<Vec<String>>>,
    pub(super) prefix: Option<Spanned<String>>,
    pub(super) timeout: Option<Spanned<RawDuration>>,
    pub(super) ignore: Option<Vec<Spanned<String>>>,
    pub(super) normalize: Option<Vec<RawNormalize>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawMcp {
    pub(super) command: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) url: Option<Spanned<String>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawReady {
    pub(super) http: Option<Spanned<String>>,
    pub(super) line: Option<Pattern>,
    pub(super) timeout: Option<Spanned<RawDuration>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawModel {
    pub(super) addr: Spanned<String>,
    pub(super) key_env: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawCaller {
    pub(super) name: Spanned<String>,
    pub(super) when: Spanned<RawWhen>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawWhen {
    #[serde(default)]
    pub(super) header: BTreeMap<Spanned<String>, Pattern>,
    #[serde(default)]
    pub(super) metadata: BTreeMap<String, Pattern>,
    pub(super) model: Option<Pattern>,
    pub(super) system: Option<Pattern>,
    pub(super) message: Option<Pattern>,
    pub(super) tools: Option<OfferedTools>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawNormalize {
    pub(super) pattern: Spanned<Pattern>,
    pub(super) replace: Spanned<String>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawDrift {
    pub(super) prompt: Option<Level>,
    pub(super) tools: Option<Level>,
    pub(super) model: Option<Level>,
    pub(super) settings: Option<Level>,
    pub(super) results: Option<Level>,
    pub(super) observation: Option<Level>,
}

/// A scenario, or one of its cases, which may override any field.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawScenario {
    pub(super) description: Option<String>,
    pub(super) kind: Option<Spanned<Kind>>,
    pub(super) recording: Option<Spanned<String>>,
    pub(super) conversation: Option<Spanned<String>>,
    pub(super) unobserved: Option<Spanned<Unobserved>>,
    pub(super) tools: Option<Spanned<ToolsFrom>>,
    pub(super) system: Option<Spanned<String>>,
    pub(super) fixture: Option<Spanned<String>>,
    pub(super) timeout: Option<Spanned<RawDuration>>,
    pub(super) settle: Option<RawDuration>,
    pub(super) linger: Option<RawDuration>,
    pub(super) panics: Option<Panics>,
    pub(super) unused: Option<Unused>,
    pub(super) drift: Option<RawDrift>,
    pub(super) delays: Option<Delays>,
    pub(super) secrets: Option<Vec<Spanned<String>>>,
    pub(super) record: Option<RawRecord>,
    pub(super) vars: Option<BTreeMap<Spanned<String>, Spanned<RawJson>>>,
    pub(super) step: Option<Vec<Spanned<RawStep>>>,
    pub(super) golden: Option<RawGolden>,
    pub(super) case: Option<BTreeMap<Spanned<String>, Spanned<RawScenario>>>,
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawRecord {
    pub(super) errors: Option<bool>,
    pub(super) timeout: Option<Spanned<RawDuration>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawStep {
    pub(super) name: Option<Spanned<String>>,
    pub(super) get: Option<Spanned<String>>,
    pub(super) post: Option<Spanned<String>>,
    pub(super) put: Option<Spanned<String>>,
    pub(super) patch: Option<Spanned<String>>,
    pub(super) delete: Option<Spanned<String>>,
    pub(super) listen: Option<Spanned<String>>,
    pub(super) run: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) browser: Option<Spanned<String>>,
    pub(super) together: Option<Spanned<Vec<Spanned<RawStep>>>>,
    pub(super) headers: Option<Spanned<Texts>>,
    pub(super) json: Option<Spanned<RawJson>>,
    pub(super) json_file: Option<Spanned<String>>,
    pub(super) form: Option<Spanned<RawJson>>,
    pub(super) files: Option<Spanned<Texts>>,
    pub(super) cwd: Option<Spanned<String>>,
    pub(super) env: Option<Spanned<Texts>>,
    pub(super) exit: Option<Spanned<i32>>,
    pub(super) status: Option<Spanned<Statuses>>,
    pub(super) capture: Option<Spanned<Texts>>,
    pub(super) stream: Option<Spanned<RawStream>>,
    pub(super) cancel: Option<Spanned<RawCancel>>,
    pub(super) reconnect: Option<Spanned<bool>>,
    pub(super) wait: Option<Spanned<RawWait>>,
    #[serde(rename = "await")]
    pub(super) awaits: Option<Spanned<RawAwait>>,
    pub(super) golden: Option<Spanned<bool>>,
    #[serde(rename = "do")]
    pub(super) acts: Option<Spanned<Vec<Spanned<RawAct>>>>,
    pub(super) storage: Option<Spanned<Texts>>,
    pub(super) traffic: Option<Spanned<Vec<Spanned<String>>>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawAct {
    pub(super) see: Option<Spanned<String>>,
    pub(super) unseen: Option<Spanned<String>>,
    pub(super) once: Option<Spanned<String>>,
    pub(super) above: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) click: Option<Spanned<String>>,
    pub(super) fill: Option<Spanned<String>>,
    pub(super) text: Option<Spanned<String>>,
    pub(super) press: Option<Spanned<String>>,
    pub(super) goto: Option<Spanned<String>>,
    pub(super) reload: Option<Spanned<bool>>,
    pub(super) aria: Option<Spanned<String>>,
    pub(super) screenshot: Option<Spanned<String>>,
    pub(super) baseline: Option<Spanned<bool>>,
    pub(super) within: Option<Spanned<RawDuration>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawCancel {
    pub(super) after: Spanned<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawAwait {
    pub(super) caller: Spanned<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawWait {
    pub(super) json: Pointer,
    pub(super) is: Spanned<RawJson>,
}

/// The named fields of a raw table, each with where it starts if it is there.
macro_rules! fields {
    ($raw:expr; $($field:ident),+) => {
        [$((stringify!($field), $raw.$field.as_ref().map(|field| field.span().start))),+]
    };
}
pub(super) use fields;

impl RawStep {
    /// The fields that only a step with a page has.
    pub(super) fn page_fields(&self) -> [(&'static str, Option<usize>); 3] {
        [
            ("do", self.acts.as_ref().map(|field| field.span().start)),
            ("storage", self.storage.as_ref().map(|field| field.span().start)),
            ("traffic", self.traffic.as_ref().map(|field| field.span().start)),
        ]
    }

    /// The fields that say what is sent, each with where it starts if it is there.
    pub(super) fn body_fields(&self) -> [(&'static str, Option<usize>); 4] {
        fields!(self; json, json_file, form, files)
    }

    /// The captures of the step, or of those that it takes at the same time.
    pub(super) fn captures(&self) -> Vec<&Spanned<String>> {
        let own = self.capture.iter().flat_map(|capture| capture.get_ref().keys());
        let parts = self.together.iter().flat_map(Spanned::get_ref);
        own.chain(parts.flat_map(|part| part.get_ref().captures())).collect()
    }
}

#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawGolden {
    pub(super) detail: Option<Detail>,
    pub(super) show: Option<Vec<Pointer>>,
    pub(super) collapse: Option<Vec<String>>,
    pub(super) unordered: Option<Vec<String>>,
    pub(super) ignore: Option<Vec<String>>,
    pub(super) comments: Option<bool>,
    pub(super) lengths: Option<bool>,
    pub(super) words: Option<Vec<String>>,
    pub(super) after_last: Option<bool>,
    pub(super) loose: Option<Vec<String>>,
}
