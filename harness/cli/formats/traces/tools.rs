//! Spans of tools as requests to their servers, for doubles.

use std::collections::{BTreeMap, BTreeSet};

use retake_core::json::{Json, Layout};
use retake_wire::fixture::{ToolExchange, ToolExchanges};

use super::call::{ModelCall, kind};
use super::fields::{Kind, TOOL_ARGUMENTS, TOOL_NAME, TOOL_RESULT, TOOL_SERVER};
use super::message::arguments;
use super::span::{Span, field, names, opened};

/// What the tools' spans are for doubles, and lines about those that cannot be.
pub(super) fn exchanges(spans: &[Span], calls: &[ModelCall]) -> (ToolExchanges, Vec<String>) {
    let (mut servers, mut notes, mut without) = (ToolExchanges::new(), Vec::new(), BTreeSet::new());
    for span in spans.iter().filter(|span| kind(span) == Some(Kind::Tool)) {
        let name = span.first_text(TOOL_NAME).unwrap_or(&span.name);
        let Some(server) = span.first_text(TOOL_SERVER) else {
            without.insert(name.to_owned());
            continue;
        };
        let value = |of: &str| names(of).find_map(|name| span.value(name).ok()?);
        let held = value(TOOL_RESULT);
        let Some(Ok(mut answer)) = held.as_ref().map(opened) else {
            let what = if held.is_some() { "a result that was cut" } else { "no result" };
            notes.push(format!("tool `{name}` of `{server}`: its span {} holds {what}", span.id));
            continue;
        };
        // Either the server's own answer, or its text.
        if answer.get("content").and_then(Json::as_array).is_none() {
            let text = answer.as_str().map_or_else(|| answer.print(Layout::Python), str::to_owned);
            let content = Json::object([("text", text.into()), ("type", "text".into())]);
            let failed = span.failed.is_some().into();
            answer = Json::object([("content", Json::Array(vec![content])), ("isError", failed)]);
        }
        let sent = arguments(&value(TOOL_ARGUMENTS).unwrap_or_default());
        let params = Json::object([("arguments", sent), ("name", name.into())]);
        servers.entry(server.to_owned()).or_default().push(exchange("tools/call", params, answer));
    }
    if !without.is_empty() {
        let what = "the trace does not say which server they belong to; name it in [tools]";
        let names = without.into_iter().collect::<Vec<_>>().join(", ");
        notes.push(format!("tools without a double: {what}: {names}"));
    }
    let offered = definitions(calls);
    for (server, exchanges) in &mut servers {
        let called: BTreeSet<&str> = exchanges.iter().filter_map(|exchange| exchange.params.str_of("name")).collect();
        let missing = called.iter().copied().filter(|name| !offered.contains_key(*name));
        let missing = missing.collect::<Vec<_>>().join(", ");
        let tools: Vec<Json> = called.iter().filter_map(|name| offered.get(*name).cloned()).collect();
        let info = Json::object([("name", server.as_str().into()), ("version", "0".into())]);
        let capabilities = Json::object([("tools", Json::object::<String>([]))]);
        // The version that a double names if nothing was recorded.
        let hello = [("capabilities", capabilities), ("protocolVersion", "2025-06-18".into()), ("serverInfo", info)];
        exchanges.insert(0, exchange("initialize", Json::Null, Json::object(hello)));
        if missing.is_empty() {
            exchanges.insert(1, exchange("tools/list", Json::Null, Json::object([("tools", Json::Array(tools))])));
        } else {
            let why = "the trace has no definition of";
            notes.push(format!("the double of `{server}` cannot list its tools: {why} {missing}"));
        }
    }
    (servers, notes)
}

/// The definitions of tools that the calls offered, by name, as a server lists them.
pub(super) fn definitions(calls: &[ModelCall]) -> BTreeMap<String, Json> {
    let definition = |tool: &Json| {
        let tool = tool.get("function").unwrap_or(tool);
        let schema = field(tool, "parameters inputschema parametersjsonschema")?;
        let name = tool.str_of("name")?.to_owned();
        let about = tool.str_of("description").map(|about| ("description", Json::from(about)));
        let fields = [("inputSchema", schema.clone()), ("name", name.as_str().into())];
        Some((name, Json::object(fields.into_iter().chain(about))))
    };
    calls.iter().flat_map(|call| &call.tools).filter_map(definition).collect()
}

fn exchange(method: &str, params: Json, answer: Json) -> ToolExchange {
    ToolExchange { method: method.to_owned(), params, answer: Some(Ok(answer)), ..ToolExchange::default() }
}
