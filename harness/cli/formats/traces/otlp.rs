//! Reads OTLP: spans and log records, as the Collector's file exporter and the protocol itself write them.

use std::collections::BTreeMap;

use retake_core::json::{Json, Object};

use super::fields::TABLES;
use super::span::{Span, field, folded, names, text_field};

/// The spans of one OTLP message. A log record about a span becomes an event of a span with nothing else in it.
/// An error names the first field that is not what OTLP requires.
pub(super) fn spans(message: &Json) -> Result<Vec<Span>, String> {
    let message = inner(message);
    let mut spans = Vec::new();
    // Before OTLP 0.15, scopes were called libraries.
    for (resources, scopes, items) in [
        ("resourceSpans batches", "scopeSpans instrumentationLibrarySpans", "spans"),
        ("resourceLogs", "scopeLogs instrumentationLibraryLogs", "logRecords"),
    ] {
        for (at, resource) in list(message, resources, "")? {
            let about = attributes(resource.get("resource").unwrap_or(&Json::Null), &format!("{at}.resource"))?;
            let service = about.get_key_value("service.name").map(|(name, value)| (name.clone(), value.clone()));
            for (at, scope) in list(resource, scopes, &at)? {
                let name = scope.pointer("/scope/name").and_then(Json::as_str).unwrap_or_default();
                for (at, item) in list(scope, items, &at)? {
                    let mut span = if items == "spans" { span(item, &at)? } else { record(item, &at)? };
                    span.fields.insert("otel.scope.name".to_owned(), name.into());
                    span.fields.extend(service.clone());
                    spans.push(span);
                }
            }
        }
    }
    Ok(spans)
}

/// Whether a value is a message of OTLP.
pub(super) fn is_one(message: &Json) -> bool {
    field(inner(message), "resourcespans resourcelogs batches").is_some()
}

/// What a store of traces wraps in its answer.
fn inner(message: &Json) -> &Json {
    field(message, "trace result").filter(|inner| inner.as_object().is_some()).unwrap_or(message)
}

fn span(item: &Json, at: &str) -> Result<Span, String> {
    let mut events = Vec::new();
    for (at, event) in list(item, "events", at)? {
        let name = event.str_of("name").unwrap_or_default();
        let fields = attributes(event, &at)?.into_iter().chain([("event.name".to_owned(), name.into())]);
        events.push((time(event, "timeUnixNano"), fields.map(|(name, value)| (name.into(), value)).collect()));
    }
    let status = field(item, "status");
    // 2 is the error code; the file exporter may write its name.
    let code = status.and_then(|status| status.get("code"));
    let failed = matches!(code, Some(Json::Int(2))) || code.and_then(Json::as_str) == Some("STATUS_CODE_ERROR");
    let fields = attributes(item, at)?;
    // Some say it only by the exception, some only by its type; a status may hold the whole traceback.
    let thrown = events.iter().find_map(|(_, event): &(u64, Object)| event.get("exception.message")?.as_str());
    let said =
        || status.and_then(|status| text_field(status, "message")).or_else(|| fields.get("error.type")?.as_str());
    let said = thrown.or_else(|| failed.then(|| said().unwrap_or("no message")));
    let first = |said: &str| said.split(['\n', '\r']).next()?.split("Traceback (most recent").next().map(str::to_owned);
    let failed = said.and_then(first);
    Ok(Span {
        trace: id(item, "traceId", at)?,
        id: id(item, "spanId", at)?,
        parent: text_field(item, "parentspanid").unwrap_or_default().to_ascii_lowercase(),
        name: item.str_of("name").unwrap_or_default().to_owned(),
        start: time(item, "startTimeUnixNano"),
        end: time(item, "endTimeUnixNano"),
        dropped: number(field(item, "droppedattributescount")).unwrap_or(0),
        fields,
        events,
        failed,
    })
}

fn record(item: &Json, at: &str) -> Result<Span, String> {
    let mut fields = attributes(item, at)?;
    match item.get("body").map(value) {
        Some(Json::Object(body)) => fields.extend(body.into_iter().map(|(name, value)| (name.into(), value))),
        None | Some(Json::Null) => {}
        Some(other) => fields.extend([("body".to_owned(), other)]),
    }
    let name = text_field(item, "eventname").or_else(|| fields.get("event.name")?.as_str());
    let name = Json::from(name.unwrap_or_default());
    fields.insert("event.name".to_owned(), name);
    Ok(Span {
        trace: text_field(item, "traceid").unwrap_or_default().to_ascii_lowercase(),
        id: text_field(item, "spanid").unwrap_or_default().to_ascii_lowercase(),
        events: vec![(time(item, "timeUnixNano"), fields.into_iter().map(|(k, v)| (k.into(), v)).collect())],
        ..Span::default()
    })
}

/// Puts log records into the spans that they are about. Those about no span that was read stay as spans of their own.
pub(super) fn join_records(spans: Vec<Span>) -> Vec<Span> {
    let is_record = |span: &Span| span.name.is_empty() && span.start == 0 && span.events.len() == 1;
    let (records, mut spans): (Vec<Span>, Vec<Span>) = spans.into_iter().partition(is_record);
    let mut places: std::collections::HashMap<(String, String), usize> =
        spans.iter().enumerate().map(|(place, span)| ((span.trace.clone(), span.id.clone()), place)).collect();
    for record in records {
        let key = (record.trace.clone(), record.id.clone());
        let place = *places.entry(key).or_insert(spans.len());
        if place == spans.len() {
            spans.push(Span { start: record.events[0].0, name: "(log records)".to_owned(), ..record });
        } else {
            spans[place].events.extend(record.events);
        }
    }
    // An event may hold what attributes of the call hold elsewhere.
    let sides = || TABLES.iter().flat_map(|table| names(table.asked).chain(names(table.answered)));
    let holds = |event: &Object| sides().any(|name| event.contains_key(name));
    for Span { events, fields, .. } in &mut spans {
        let held = events.iter().map(|(_, event)| event).filter(|event| holds(event)).flat_map(Object::iter);
        for (name, value) in held.filter(|(name, _)| *name != "event.name") {
            fields.entry(name.to_string()).or_insert_with(|| value.clone());
        }
    }
    spans
}

/// The elements of the first of these lists that is there, each with its path; none if none is.
fn list<'a>(object: &'a Json, of: &str, at: &str) -> Result<Vec<(String, &'a Json)>, String> {
    let Some((name, held)) = names(of).find_map(|name| Some((name, field(object, &folded(name))?))) else {
        return Ok(Vec::new());
    };
    let path = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    let Json::Array(elements) = held else {
        return Err(format!("`{path}`: expected a list, found {}", held.kind()));
    };
    let element = |(index, element): (usize, &'a Json)| match element {
        Json::Object(_) => Ok((format!("{path}[{index}]"), element)),
        other => Err(format!("`{path}[{index}]`: expected an object, found {}", other.kind())),
    };
    elements.iter().enumerate().map(element).collect()
}

fn attributes(of: &Json, at: &str) -> Result<BTreeMap<String, Json>, String> {
    let attribute = |(at, attribute): (String, &Json)| match attribute.get("key") {
        Some(Json::Str(key)) => Ok((key.clone(), attribute.get("value").map_or(Json::Null, value))),
        other => Err(format!("`{at}.key`: expected a string, found {}", other.map_or("nothing", Json::kind))),
    };
    list(of, "attributes", at)?.into_iter().map(attribute).collect()
}

/// The value of an attribute. JSON writes integers as strings.
fn value(value: &Json) -> Json {
    let Some((kind, held)) = value.as_object().and_then(|fields| fields.iter().next()) else { return Json::Null };
    let elements = || held.get("values").and_then(Json::as_array).unwrap_or_default().iter();
    match &folded(kind)[..] {
        "intvalue" => number(Some(held)).map_or_else(|| held.clone(), Json::from),
        "arrayvalue" => Json::Array(elements().map(self::value).collect()),
        "kvlistvalue" => Json::object(elements().filter_map(|pair| {
            Some((pair.str_of("key")?.to_owned(), pair.get("value").map_or(Json::Null, self::value)))
        })),
        _ => held.clone(),
    }
}

fn id(item: &Json, name: &str, at: &str) -> Result<String, String> {
    match field(item, &folded(name)) {
        Some(Json::Str(id)) if !id.is_empty() => Ok(id.to_ascii_lowercase()),
        other => Err(format!("`{at}.{name}`: expected an id, found {}", other.map_or("nothing", Json::kind))),
    }
}

fn time(item: &Json, name: &str) -> u64 {
    number(field(item, &folded(name))).unwrap_or(0)
}

/// A number, which JSON may write as a string.
pub(super) fn number(value: Option<&Json>) -> Option<u64> {
    match value? {
        Json::Str(text) => text.trim().parse().ok(),
        Json::BigInt(digits) => digits.parse().ok(),
        other => other.as_u64(),
    }
}
