//! The caller of a model call: as the call declares it, or by the suite's `[[callers]]` rules.

use std::collections::BTreeMap;

use axum::http::{HeaderMap, HeaderName};
use regex::Regex;

use retake_core::json::Json;
use retake_wire::Call;

/// The header in which a call declares its caller.
static CALLER_HEADER: HeaderName = HeaderName::from_static("x-retake-caller");

/// The suite's `[[callers]]` rules, in order.
#[derive(Clone, Debug, Default)]
pub struct CallerRules(Vec<CallerRule>);

/// One `[[callers]]` rule: it names the caller of the calls that it fits.
#[derive(Clone, Debug)]
pub struct CallerRule {
    /// The caller's name.
    pub name: String,
    /// The conditions. A call has to meet all that are set.
    pub when: When,
}

/// The conditions of a [`CallerRule`].
#[derive(Clone, Debug, Default)]
pub struct When {
    /// Request headers, by lower-case name.
    pub header: BTreeMap<String, Regex>,
    /// Entries of the request's `metadata`.
    pub metadata: BTreeMap<String, Regex>,
    /// The model's name.
    pub model: Option<Regex>,
    /// The system prompt.
    pub system: Option<Regex>,
    /// The last message.
    pub message: Option<Regex>,
    /// The tools that the call offers.
    pub tools: Option<OfferedTools>,
}

/// What a caller rule expects of the tools that a call offers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OfferedTools {
    /// Whether the call offers any tools.
    Any(bool),
    /// Tools that the call has to offer. It may offer more.
    Named(Vec<String>),
}

impl CallerRules {
    /// Takes the rules in the order of the file. The first rule that fits a call names its caller.
    pub fn new(rules: Vec<CallerRule>) -> CallerRules {
        CallerRules(rules)
    }

    /// Returns the caller of a call: from the header, from the request's metadata, or from the first rule that fits.
    pub fn caller_of(&self, headers: &HeaderMap, call: &Call) -> Option<String> {
        let declared = headers.get(&CALLER_HEADER).and_then(|value| value.to_str().ok()).map(str::to_owned);
        let declared = declared.or_else(|| call.caller.clone()).filter(|caller| !caller.trim().is_empty());
        declared.or_else(|| self.0.iter().find(|rule| fits(&rule.when, headers, call)).map(|rule| rule.name.clone()))
    }
}

impl When {
    /// Whether no condition is set, so that every call fits.
    pub fn is_empty(&self) -> bool {
        let patterns = [&self.model, &self.system, &self.message];
        self.header.is_empty()
            && self.metadata.is_empty()
            && patterns.iter().all(|pattern| pattern.is_none())
            && self.tools.is_none()
    }
}

fn fits(when: &When, headers: &HeaderMap, call: &Call) -> bool {
    let header = |name: &str| headers.get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned());
    let metadata = |name: &str| call.metadata.as_ref()?.get(name).map(Json::python_str);
    let message = || call.messages.iter().rev().find(|m| m.kind == "human").map(|m| m.content.python_str());
    when.header.iter().all(|(name, pattern)| header(name).is_some_and(|value| pattern.is_match(&value)))
        && when.metadata.iter().all(|(name, pattern)| metadata(name).is_some_and(|value| pattern.is_match(&value)))
        && when.model.as_ref().is_none_or(|pattern| pattern.is_match(&call.model))
        && when.system.as_ref().is_none_or(|pattern| pattern.is_match(&call.system))
        && when.message.as_ref().is_none_or(|pattern| message().is_some_and(|text| pattern.is_match(&text)))
        && when.tools.as_ref().is_none_or(|tools| match tools {
            OfferedTools::Any(wanted) => *wanted == call.tools.as_array().is_some_and(|tools| !tools.is_empty()),
            OfferedTools::Named(names) => names.iter().all(|name| names_of_tools(&call.tools).contains(&name.as_str())),
        })
}

/// Returns the names in a list of tool definitions.
pub(super) fn names_of_tools(tools: &Json) -> Vec<&str> {
    // Gemini's tools are lists of functions.
    let functions = |tool| {
        ["functionDeclarations", "function_declarations"].into_iter().find_map(|key| Json::get(tool, key)?.as_array())
    };
    let tools = tools.as_array().unwrap_or_default();
    let tools = tools.iter().flat_map(|tool| functions(tool).unwrap_or(std::slice::from_ref(tool)));
    tools.filter_map(|tool| tool.pointer("/function/name").or_else(|| tool.get("name"))?.as_str()).collect()
}
