//! Reads `worlds`: which faults of the model a scenario is run with.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use super::json::{RawJson, of_toml};
use super::spanned::Spanned;
use crate::options::{Back, Crash, Leaves, Worlds};
use crate::pointer::Pointer;
use crate::source::Source;
use crate::step::{Method, StepBody};
use crate::template::Template;
use retake_base::text::{listed, nearest};
use retake_model::FaultKind;

/// The value of `worlds`: a boolean, a word, a list of words, or a table.
#[derive(Clone, Debug)]
pub(super) struct RawWorlds(RawWorldsTable);

#[derive(Clone, Debug, Default, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawWorldsTable {
    /// The faults: `true` for the usual ones, `"all"`, or names of faults and families.
    /// Default: `true`. Example: `["transport", "nothing"]`.
    pub(super) of: Option<RawFaults>,
    /// The most worlds of a scenario. Of more, this many are chosen evenly, the same in each run.
    /// Default: `200`. Example: `1000`.
    pub(super) max: Option<u16>,
    /// How many calls of a turn meet the fault before the recorded answer is served.
    /// Default: `1`. Example: `2`.
    pub(super) times: Option<u8>,
    /// How many calls of a turn a service may make in a world: more are a storm.
    /// Default: `10`. Example: `4`.
    pub(super) calls: Option<u8>,
    /// What becomes of a run whose client has left for good: the model is asked no more (`"stops"`), or the run is finished and can
    /// be read (`"finishes"`). Without it, either is right.
    /// Example: `"stops"`.
    pub(super) leaves: Option<Leaves>,
    /// The path at which a client comes back to a run, with `Last-Event-ID`, or a method and a path. It may use what the step captures, and
    /// `last`, the JSON of the last event that came, or `{}`. Default: the path of a later step with `reconnect`, the answer's `Location`,
    /// or the same request.
    /// Example: `"POST /runs/{{ run_id }}/resume"`.
    pub(super) back: Option<Spanned<String>>,
    /// The JSON body of that request, which may use the same.
    /// Example: `{ after = "{{ last.index | default(0) }}" }`.
    pub(super) back_json: Option<Spanned<RawJson>>,
    /// The fields of its form, instead.
    /// Example: `{ last_event_index = "{{ last.event_index | default(-1) }}" }`.
    pub(super) back_form: Option<Spanned<RawJson>>,
    /// The JSON pointer of what makes two requests the same, if that is no header `Idempotency-Key`.
    /// Example: `"/message/id"`.
    pub(super) same: Option<Pointer>,
    /// What becomes of a run whose system was killed and started again: it goes on (`"resumes"`), or its client is told that it failed
    /// (`"reports"`). Without it, either is right.
    /// Example: `"resumes"`.
    pub(super) crash: Option<Crash>,
    /// The tools that only read, so that they may be called again. Those whose lists say `readOnlyHint` or `idempotentHint` need not be
    /// named.
    /// Default: `[]`. Example: `["search"]`.
    #[serde(default)]
    pub(super) reads: Vec<String>,
}

/// Faults, as booleans and words name them.
#[derive(Clone, Debug)]
pub(super) struct RawFaults(Vec<FaultKind>);

impl RawWorlds {
    /// The worlds that are meant, or `None` if there are none.
    pub(super) fn read(&self, source: &Source) -> retake_base::error::Result<Option<Worlds>> {
        let RawWorlds(table) = self;
        let otherwise = Worlds::default();
        let worlds = Worlds {
            kinds: table.of.clone().map_or(otherwise.kinds, |faults| faults.0),
            max: table.max.map_or(otherwise.max, usize::from),
            times: table.times.map_or(otherwise.times, u32::from),
            calls: table.calls.map_or(otherwise.calls, u32::from),
            leaves: table.leaves,
            back: table.back.as_ref().map(|back| table.back(back, source)).transpose()?,
            same: table.same.clone(),
            crash: table.crash,
            reads: table.reads.clone(),
        };
        Ok(Some(worlds).filter(|worlds| !worlds.kinds.is_empty()))
    }
}

impl RawWorldsTable {
    fn back(&self, back: &Spanned<String>, source: &Source) -> retake_base::error::Result<Back> {
        let mut methods = [Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete].into_iter();
        let named = |method: Method| Some((method, back.get_ref().strip_prefix(method.as_str())?.strip_prefix(' ')?));
        let (method, path) = methods.find_map(named).unwrap_or((Method::Get, back.get_ref()));
        if !["/", "{{", "http"].iter().any(|begins| path.starts_with(begins)) {
            let error = source.error(back.span().start, format!("`{path}` is no path"));
            return Err(error.help("write a path, or a method and a path: \"POST /runs/{{ run_id }}/resume\""));
        }
        let body = match (&self.back_json, &self.back_form) {
            (Some(json), _) => StepBody::Json(of_toml(json, source)?),
            (None, Some(form)) => StepBody::Form(of_toml(form, source)?),
            (None, None) => StepBody::None,
        };
        Ok(Back { method, path: Template::parse(path, source, back.span())?, body })
    }
}

fn faults_of<E: Error>(word: &str) -> Result<Vec<FaultKind>, E> {
    FaultKind::of_word(word).ok_or_else(|| {
        let words = FaultKind::words();
        let help = match nearest(word, words.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("there are {}", listed(&words)),
        };
        E::custom(format!("`{word}` is neither a fault nor a family of faults\n{help}"))
    })
}

struct Reader<T>(fn(RawFaults) -> T, Option<fn(RawWorldsTable) -> T>);

impl<'de, T> Visitor<'de> for Reader<T> {
    type Value = T;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, \"all\", a fault, or a list of faults and families")
    }

    fn visit_bool<E>(self, wanted: bool) -> Result<T, E> {
        Ok(self.0(RawFaults(if wanted { FaultKind::by_default() } else { Vec::new() })))
    }

    fn visit_str<E: Error>(self, word: &str) -> Result<T, E> {
        faults_of(word).map(RawFaults).map(self.0)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<T, A::Error> {
        let mut kinds = Vec::new();
        while let Some(word) = list.next_element::<String>()? {
            kinds.extend(faults_of::<A::Error>(&word)?);
        }
        kinds.sort_unstable();
        kinds.dedup();
        Ok(self.0(RawFaults(kinds)))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
        match self.1 {
            Some(of_table) => RawWorldsTable::deserialize(MapAccessDeserializer::new(map)).map(of_table),
            None => Err(A::Error::invalid_type(serde::de::Unexpected::Map, &self)),
        }
    }
}

impl<'de> Deserialize<'de> for RawFaults {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader(|faults| faults, None))
    }
}

impl<'de> Deserialize<'de> for RawWorlds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let of = |of| RawWorlds(RawWorldsTable { of: Some(of), ..RawWorldsTable::default() });
        deserializer.deserialize_any(Reader(of, Some(RawWorlds)))
    }
}
