//! Changes of the prompt or the tools that break a recording. Other changes are only differences; these make the recorded answer
//! wrong: the prompt or all tools are gone, the prompt belongs to another caller, or a tool that the recorded answer calls is no
//! longer offered, or no longer takes the recorded arguments.

use std::collections::{BTreeSet, HashMap};
use std::fmt;

use super::miss::flat;
use retake_core::json::{Json, Object};
use retake_core::key::{Check, Hash, is_blank};
use retake_wire::fixture::{Fixture, Turn};
use retake_wire::{Api, EMPTY};

/// What a change breaks. It fails a scenario, unless the scenario ignores the check.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Breakage {
    /// The call no longer has a system prompt.
    PromptGone,
    /// The system prompt is the one that was recorded for this other caller.
    PromptOf(String),
    /// The system prompt tells another day than today, where it told the day of the recording.
    AnotherDay,
    /// The call sends a message that says nothing.
    Empty,
    /// The provider refuses the call, and accepted the recorded ones.
    Refused(String),
    /// The call no longer offers tools.
    ToolsGone,
    /// The recorded answer calls this tool, which is no longer offered.
    ToolNotOffered(String),
    /// The recorded answer calls a tool with arguments that the tool's definition no longer allows.
    ToolArguments {
        /// The tool.
        tool: String,
        /// What does not fit.
        what: String,
    },
}

impl fmt::Display for Breakage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Breakage::PromptGone => write!(f, "the system prompt of a model call is gone"),
            Breakage::PromptOf(caller) => write!(f, "a model call has the system prompt of `{caller}`"),
            Breakage::AnotherDay => write!(f, "the system prompt of a model call tells another day than today"),
            Breakage::Empty => {
                write!(f, "a model call sends an empty message more than recorded; a provider may refuse it")
            }
            Breakage::Refused(why) => write!(f, "the provider refuses this call: {why}"),
            Breakage::ToolsGone => write!(f, "the tools of a model call are gone"),
            Breakage::ToolNotOffered(it) => write!(f, "the recorded answer calls `{it}`, which is no longer offered"),
            Breakage::ToolArguments { tool, what } => {
                write!(f, "the recorded answer calls `{tool}` with arguments that it no longer accepts: {what}")
            }
        }
    }
}

/// For each recorded system prompt, the callers that had it.
#[derive(Debug)]
pub(super) struct RecordedPrompts(HashMap<Hash, BTreeSet<String>>);

impl RecordedPrompts {
    /// Collects the prompts of all turns that have both a prompt and a caller.
    pub(super) fn of(fixture: &Fixture) -> RecordedPrompts {
        let mut prompts: HashMap<Hash, BTreeSet<String>> = HashMap::new();
        for turn in fixture.table.turns() {
            let (Some(checks), Some(caller)) = (&turn.checks, &turn.caller) else { continue };
            prompts.entry(checks.prompt).or_default().insert(caller.clone());
        }
        RecordedPrompts(prompts)
    }

    /// Returns another caller that a prompt belongs to; `None` if the caller itself had that prompt.
    pub(super) fn other_caller(&self, prompt: &str, caller: Option<&str>) -> Option<&str> {
        let callers = self.0.get(&Hash::of(prompt.as_bytes()))?;
        let caller = caller.filter(|caller| !callers.contains(*caller))?;
        callers.iter().map(String::as_str).find(|other| *other != caller)
    }
}

/// Returns what a change of a check breaks in a turn, if it breaks something. `prompts` returns the other caller whose prompt
/// the call has.
pub(super) fn breakage(
    turn: &Turn,
    check: Check,
    recorded: &str,
    called: &str,
    prompts: impl FnOnce() -> Option<String>,
) -> Option<Breakage> {
    let gone = !is_blank(recorded) && is_blank(called);
    match check {
        Check::Prompt if gone => Some(Breakage::PromptGone),
        Check::Prompt => prompts().map(Breakage::PromptOf),
        Check::Tools if gone => Some(Breakage::ToolsGone),
        Check::Tools => of_tools(turn, &Json::parse(recorded.as_bytes()).ok()?, &Json::parse(called.as_bytes()).ok()?),
        Check::Extra => {
            let empties = |text: &str| text.matches(&format!(r#""{EMPTY}": true"#)).count();
            (empties(called) > empties(recorded)).then_some(Breakage::Empty)
        }
        Check::Model | Check::Settings | Check::Form | Check::Results | Check::Dates => None,
    }
}

/// Returns why a provider refuses a call over its own API: what the API requires is missing, or a number among the settings is something else
/// now, or the reverse. What another recorded call has is not refused.
pub(super) fn refused(fixture: &Fixture, api: Api, check: Check, recorded: &str, called: &str) -> Option<Breakage> {
    let (recorded, called) = (flat(recorded)?, flat(called)?);
    let of_api = |turn: &&Turn| turn.wire.as_ref().is_some_and(|wire| wire.api == api);
    let texts = fixture.table.turns().iter().filter(of_api).filter_map(|turn| turn.checks?.of(check));
    let others: Vec<_> =
        texts.collect::<BTreeSet<_>>().iter().filter_map(|hash| flat(fixture.texts.get(hash)?)).collect();
    // Gemini reads numbers that are texts. What is deeper may be a schema, with any values.
    let is_typed = |place: &str| {
        check == Check::Settings
            && !matches!(api, Api::Gemini | Api::Declared(_) | Api::Opaque)
            && place.matches('/').count() < 3
    };
    let why = |place: &str| {
        let kind = |of: &Object| of.get(place).map(Json::kind);
        let name = place.rsplit('/').next()?;
        match (kind(&recorded)?, kind(&called)) {
            (_, is) if others.iter().any(|other| kind(other) == is) => None,
            (_, None) if api == Api::Anthropic && matches!(place, "/max_tokens" | "/headers/anthropic-version") => {
                Some(format!("`{name}` is missing"))
            }
            (was @ "number", Some(is @ ("string" | "boolean")))
            | (was @ ("string" | "boolean"), Some(is @ "number"))
                if is_typed(place) =>
            {
                Some(format!("`{name}` is a {is}, not a {was}"))
            }
            _ => None,
        }
    };
    recorded.keys().find_map(|place| why(place)).map(Breakage::Refused)
}

fn of_tools(turn: &Turn, recorded: &Json, called: &Json) -> Option<Breakage> {
    turn.output.tool_calls().into_iter().find_map(|call| {
        let was = definition(recorded, &call.name)?;
        let Some(is) = definition(called, &call.name) else { return Some(Breakage::ToolNotOffered(call.name.clone())) };
        // Arguments that did not fit even when they were recorded are not reported.
        let what = misfit(is, &call.args).filter(|_| misfit(was, &call.args).is_none())?;
        Some(Breakage::ToolArguments { tool: call.name.clone(), what })
    })
}

/// Returns the schema of a tool's arguments, in the form of any API. Null if the tool has no schema, `None` if there is no such
/// tool.
pub(super) fn definition<'a>(tools: &'a Json, name: &str) -> Option<&'a Json> {
    const SCHEMAS: [&str; 4] = ["input_schema", "parameters", "parametersJsonSchema", "parameters_json_schema"];
    let schema = |tool: &'a Json| SCHEMAS.iter().find_map(|key| tool.get(key)).unwrap_or(&Json::Null);
    tools.as_array()?.iter().find_map(|tool| {
        let declared = ["functionDeclarations", "function_declarations"].into_iter().filter_map(|key| tool.get(key));
        let declared = declared.filter_map(Json::as_array).flatten();
        let mut all = [tool].into_iter().chain(tool.get("function")).chain(declared);
        all.find(|tool| tool.str_of("name") == Some(name)).map(schema)
    })
}

/// Describes why arguments do not fit a schema: one is unknown, missing, or of a wrong primitive type. `None` if they fit.
fn misfit(schema: &Json, args: &Json) -> Option<String> {
    let (properties, args) = (schema.get("properties")?.as_object()?, args.as_object()?);
    let required = schema.get("required").and_then(Json::as_array).unwrap_or_default().iter().filter_map(Json::as_str);
    if let Some(missing) = required.into_iter().find(|name| !args.contains_key(*name)) {
        return Some(format!("`{missing}` is required, but was not recorded"));
    }
    let open = schema.get("additionalProperties").is_some_and(Json::is_truthy);
    args.iter().find_map(|(name, value)| match properties.get(name) {
        None if open => None,
        None => Some(format!("there is no argument `{name}`")),
        Some(property) => {
            let wanted = types(property);
            let fits = wanted.is_empty() || *value == Json::Null || wanted.iter().any(|wanted| is_of(wanted, value));
            (!fits).then(|| format!("`{name}` has to be {}, but was recorded as {}", wanted.join(" or "), value.kind()))
        }
    })
}

/// Returns the types in a property's `type`, in lower case. Empty if the property has no such field.
pub(super) fn types(property: &Json) -> Vec<String> {
    match property.get("type") {
        Some(Json::Str(one)) => vec![one.to_lowercase()],
        Some(Json::Array(several)) => several.iter().filter_map(Json::as_str).map(str::to_lowercase).collect(),
        _ => Vec::new(),
    }
}

/// Whether a value is of a primitive type. True for all other types and for unknown words, which are not checked.
fn is_of(wanted: &str, value: &Json) -> bool {
    match wanted {
        "string" => matches!(value, Json::Str(_)),
        "integer" if matches!(value, Json::Float(f) if f.fract() == 0.0) => true,
        "integer" => matches!(value, Json::Int(_) | Json::BigInt(_)),
        "number" => matches!(value, Json::Int(_) | Json::BigInt(_) | Json::Float(_)),
        "boolean" => matches!(value, Json::Bool(_)),
        _ => true,
    }
}

#[cfg(test)]
mod tests;
