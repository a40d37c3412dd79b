//! What a person typed, field by field, before anything is checked against anything else.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use toml::Spanned;

use super::words::{Delays, Level, Pattern, Pointer, RawDuration, RawStream, Statuses, Unused};
use crate::events::Detail;
use crate::model::OfferedTools;

/// Text keys and values, each with its place.
pub(super) type Texts = BTreeMap<Spanned<String>, Spanned<String>>;

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawSuite {
    #[serde(default)]
    pub(super) systems: BTreeMap<Spanned<String>, Spanned<RawSystem>>,
    #[serde(default)]
    pub(super) callers: Vec<Spanned<RawCaller>>,
    #[serde(default)]
    pub(super) normalize: Vec<RawNormalize>,
    #[serde(default)]
    pub(super) aliases: BTreeMap<String, Spanned<String>>,
    pub(super) unused: Option<Unused>,
    pub(super) drift: Option<RawDrift>,
    pub(super) settle: Option<RawDuration>,
    pub(super) secrets: Option<Vec<Spanned<String>>>,
    pub(super) timeout: Option<Spanned<RawDuration>>,
    pub(super) delays: Option<Delays>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawSystem {
    pub(super) command: Option<Spanned<Vec<Spanned<String>>>>,
    pub(super) cwd: Option<Spanned<String>>,
    pub(super) env: Option<Spanned<Texts>>,
    pub(super) ready: Option<Spanned<RawReady>>,
    pub(super) shared: Option<Spanned<bool>>,
    pub(super) needs: Option<Vec<Spanned<String>>>,
    pub(super) url: Option<Spanned<String>>,
    pub(super) model: Option<Spanned<RawModel>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawReady {
    pub(super) http: Option<Spanned<String>>,
    pub(super) line: Option<Pattern>,
    pub(super) timeout: Option<Spanned<RawDuration>>,
}

#[derive(Deserialize)]
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

#[derive(Deserialize)]
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
}

/// A scenario, or one of its cases, which may override any field.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawScenario {
    pub(super) description: Option<String>,
    pub(super) system: Option<Spanned<String>>,
    pub(super) fixture: Option<Spanned<String>>,
    pub(super) timeout: Option<Spanned<RawDuration>>,
    pub(super) settle: Option<RawDuration>,
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
    pub(super) golden: Option<Spanned<bool>>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawCancel {
    pub(super) after: Spanned<String>,
}

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawWait {
    pub(super) json: Pointer,
    pub(super) is: Spanned<RawJson>,
}

impl RawStep {
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
}

/// Any value of TOML that JSON has too, each with its place.
#[derive(Clone)]
pub(super) enum RawJson {
    Bool(bool),
    Int(i128),
    Float(f64),
    Text(String),
    List(Vec<Spanned<RawJson>>),
    Table(Vec<(Spanned<String>, Spanned<RawJson>)>),
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = RawJson;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a value")
            }
            fn visit_bool<E>(self, value: bool) -> Result<RawJson, E> {
                Ok(RawJson::Bool(value))
            }
            fn visit_i64<E>(self, value: i64) -> Result<RawJson, E> {
                Ok(RawJson::Int(value.into()))
            }
            fn visit_u64<E>(self, value: u64) -> Result<RawJson, E> {
                Ok(RawJson::Int(value.into()))
            }
            fn visit_i128<E>(self, value: i128) -> Result<RawJson, E> {
                Ok(RawJson::Int(value))
            }
            fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<RawJson, E> {
                if value.is_finite() {
                    Ok(RawJson::Float(value))
                } else {
                    Err(E::custom(format!("JSON has no number {value}")))
                }
            }
            fn visit_str<E>(self, value: &str) -> Result<RawJson, E> {
                Ok(RawJson::Text(value.to_owned()))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RawJson, A::Error> {
                let mut values = Vec::new();
                while let Some(value) = list.next_element()? {
                    values.push(value);
                }
                Ok(RawJson::List(values))
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RawJson, A::Error> {
                let mut entries = Vec::new();
                while let Some(key) = map.next_key::<Spanned<String>>()? {
                    entries.push((key, map.next_value()?));
                }
                Ok(RawJson::Table(entries))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}
