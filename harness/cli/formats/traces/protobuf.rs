//! Reads OTLP's protobuf messages into the values that OTLP's JSON has for them, so that one reader serves both.
//!
//! Only the fields that are read later are listed. A whole protobuf library would only add generated types.

use retake_core::json::Json;

/// What a field holds.
#[derive(Clone, Copy)]
enum Holds {
    Text,
    /// Ids, which JSON writes in hexadecimal.
    Hex,
    Base64,
    Bool,
    Int,
    Fixed,
    Double,
    One(&'static Message),
    Many(&'static Message),
}

/// A message: the number, JSON name and content of each field.
struct Message(&'static [(u64, &'static str, Holds)]);

use Holds::{Base64, Bool, Double, Fixed, Hex, Int, Many, One, Text};

static VALUE: Message = Message(&[
    (1, "stringValue", Text),
    (2, "boolValue", Bool),
    (3, "intValue", Int),
    (4, "doubleValue", Double),
    (5, "arrayValue", One(&VALUES)),
    (6, "kvlistValue", One(&PAIRS)),
    (7, "bytesValue", Base64),
]);
static VALUES: Message = Message(&[(1, "values", Many(&VALUE))]);
static PAIRS: Message = Message(&[(1, "values", Many(&PAIR))]);
static PAIR: Message = Message(&[(1, "key", Text), (2, "value", One(&VALUE))]);
static RESOURCE: Message = Message(&[(1, "attributes", Many(&PAIR))]);
static SCOPE: Message = Message(&[(1, "name", Text), (2, "version", Text)]);
static EVENT: Message = Message(&[(1, "timeUnixNano", Fixed), (2, "name", Text), (3, "attributes", Many(&PAIR))]);
static STATUS: Message = Message(&[(2, "message", Text), (3, "code", Int)]);
static SPAN: Message = Message(&[
    (1, "traceId", Hex),
    (2, "spanId", Hex),
    (4, "parentSpanId", Hex),
    (5, "name", Text),
    (7, "startTimeUnixNano", Fixed),
    (8, "endTimeUnixNano", Fixed),
    (9, "attributes", Many(&PAIR)),
    (10, "droppedAttributesCount", Int),
    (11, "events", Many(&EVENT)),
    (15, "status", One(&STATUS)),
]);
static SCOPE_SPANS: Message = Message(&[(1, "scope", One(&SCOPE)), (2, "spans", Many(&SPAN))]);
static RESOURCE_SPANS: Message = Message(&[(1, "resource", One(&RESOURCE)), (2, "scopeSpans", Many(&SCOPE_SPANS))]);
static TRACES: Message = Message(&[(1, "resourceSpans", Many(&RESOURCE_SPANS))]);
static LOG: Message = Message(&[
    (1, "timeUnixNano", Fixed),
    (5, "body", One(&VALUE)),
    (6, "attributes", Many(&PAIR)),
    (9, "traceId", Hex),
    (10, "spanId", Hex),
    (12, "eventName", Text),
]);
static SCOPE_LOGS: Message = Message(&[(1, "scope", One(&SCOPE)), (2, "logRecords", Many(&LOG))]);
static RESOURCE_LOGS: Message = Message(&[(1, "resource", One(&RESOURCE)), (2, "scopeLogs", Many(&SCOPE_LOGS))]);
static LOGS: Message = Message(&[(1, "resourceLogs", Many(&RESOURCE_LOGS))]);

/// How deeply messages may nest; values of attributes nest in each other.
const DEPTH: usize = 100;

/// The body of a request to `/v1/traces` or `/v1/logs`, as its JSON.
/// An error says what is wrong with the bytes.
pub(super) fn to_json(logs: bool, bytes: &[u8]) -> Result<Json, String> {
    let message = if logs { &LOGS } else { &TRACES };
    read(message, bytes, 0).map_err(|reason| format!("not an OTLP message: {reason}"))
}

fn read(message: &Message, bytes: &[u8], depth: usize) -> Result<Json, &'static str> {
    if depth > DEPTH {
        return Err("it nests too deeply");
    }
    let mut rest = bytes;
    let mut fields: Vec<(&str, Json)> = Vec::new();
    while !rest.is_empty() {
        let tag = varint(&mut rest)?;
        let (number, wire) = (tag >> 3, tag & 7);
        let found = match wire {
            0 => Found::Number(varint(&mut rest)?),
            1 => Found::Number(u64::from_le_bytes(*take::<8>(&mut rest)?)),
            2 => {
                let length = usize::try_from(varint(&mut rest)?).map_err(|_| CUT)?;
                let (of_field, after) = rest.split_at_checked(length).ok_or(CUT)?;
                rest = after;
                Found::Bytes(of_field)
            }
            5 => Found::Number(u64::from(u32::from_le_bytes(*take::<4>(&mut rest)?))),
            _ => return Err("a field of an unknown type"),
        };
        let Some((_, name, holds)) = message.0.iter().find(|(known, ..)| *known == number) else { continue };
        let many = matches!(holds, Many(_));
        let value = match (holds, found) {
            (Text, Found::Bytes(bytes)) => Json::Str(String::from_utf8_lossy(bytes).into_owned()),
            (Hex, Found::Bytes(bytes)) => {
                Json::Str(bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]).map(digit).collect())
            }
            (Base64, Found::Bytes(bytes)) => Json::Str(retake_wire::to_base64(bytes)),
            (Bool, Found::Number(number)) => Json::Bool(number != 0),
            (Int, Found::Number(number)) => Json::Int(number.cast_signed()),
            (Fixed, Found::Number(number)) => Json::from(number),
            (Double, Found::Number(bits)) => Json::Float(f64::from_bits(bits)),
            (One(inner) | Many(inner), Found::Bytes(bytes)) => read(inner, bytes, depth + 1)?,
            _ => return Err("a field of the wrong type"),
        };
        match fields.iter_mut().find(|(known, _)| known == name) {
            Some((_, Json::Array(list))) if many => list.push(value),
            Some((_, known)) => *known = value,
            None if many => fields.push((name, Json::Array(vec![value]))),
            None => fields.push((name, value)),
        }
    }
    Ok(Json::object(fields))
}

enum Found<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

fn digit(half: u8) -> char {
    char::from_digit(u32::from(half), 16).unwrap_or_default()
}

const CUT: &str = "it ends within a field";

fn varint(rest: &mut &[u8]) -> Result<u64, &'static str> {
    let mut number = 0_u64;
    for shift in (0..64).step_by(7) {
        let [byte] = take::<1>(rest)?;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err("a number that is too long")
}

fn take<'a, const N: usize>(rest: &mut &'a [u8]) -> Result<&'a [u8; N], &'static str> {
    let (first, after) = rest.split_first_chunk::<N>().ok_or(CUT)?;
    *rest = after;
    Ok(first)
}
