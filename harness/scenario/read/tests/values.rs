//! The schemas of the small values of a file.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::options::{
    ClockFrom, Cost, Crash, Delays, Egress, ForkTools, Leaves, Level, Panics, Percent, Tokens, Unused,
};
use crate::pointer::Pointer;
use crate::read::json::RawJson;
use crate::read::spanned::Spanned;
use crate::read::values::{
    Colors, Foreign, Kind, OneOrMore, Pattern, RawDuration, RawEvent, RawEventTable, RawStream, RawStreamEnds, Statuses,
};
use crate::read::worlds::{RawFaults, RawWorlds, RawWorldsTable};
use crate::step::{Dialogs, Framing};
use crate::{ToolsFrom, Unobserved};
use retake_core::events::{Detail, TextAs};
use retake_core::secrets::Suspected;
use retake_model::{FaultKind, OfferedTools};

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Implements `JsonSchema` for types whose schema is inlined where they are used. A title is the name of the type in the
/// reference.
macro_rules! inline {
    ($($type:ty => $schema:tt),+ $(,)?) => {
        $(impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        })+
    };
}

inline! {
    RawDuration => { "type": "string", "title": "duration", "pattern": "^0*([0-9]{1,8}ms|[0-9]{1,5}s|[0-9]{1,4}m)$" },
    Pattern => { "type": "string", "title": "regular expression" },
    Pointer => { "type": "string", "title": "JSON pointer", "pattern": "^(/([^~]|~[01])*)?$" },
    Statuses => { "anyOf": [
        { "type": "integer", "minimum": 100, "maximum": 599 },
        { "type": "array", "minItems": 1, "items": { "type": "integer", "minimum": 100, "maximum": 599 } },
    ] },
    RawJson => { "title": "any value" },
    Unused => { "anyOf": [
        { "type": "string", "enum": ["fail", "allow"] }, { "type": "array", "items": { "type": "string" } },
    ] },
    OneOrMore => { "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] },
    Foreign<OfferedTools> => { "anyOf": [
        { "type": "boolean" }, { "type": "array", "minItems": 1, "items": { "type": "string" } },
    ] },
    Level => { "type": "string", "enum": ["ignore", "note", "fail"] },
    Kind => { "type": "string", "enum": ["system", "tools"] },
    ToolsFrom => { "type": "string", "enum": ["recorded", "live"] },
    Unobserved => { "type": "string", "enum": ["skip", "execute"] },
    Colors => { "type": "string", "enum": ["light", "dark"] },
    Dialogs => { "type": "string", "enum": ["dismiss", "accept"] },
    Framing => { "type": "string", "enum": ["plain", "socket.io", "graphql-ws"] },
    Foreign<Suspected> => { "type": "string", "enum": ["refuse", "mask", "keep"] },
    Panics => { "type": "string", "enum": ["fail", "allow"] },
    Egress => { "type": "string", "enum": ["off", "note", "fail", "proven"] },
    ClockFrom => { "type": "string", "enum": ["now", "recorded"] },
    Delays => { "type": "string", "enum": ["none", "recorded"] },
    Leaves => { "type": "string", "enum": ["stops", "finishes"] },
    Crash => { "type": "string", "enum": ["resumes", "reports"] },
    ForkTools => { "type": "string", "enum": ["recorded", "live"] },
    Foreign<Detail> => { "type": "string", "enum": (Detail::WORDS) },
    Foreign<TextAs> => { "type": "string", "enum": ["kind", "lines"] },
    Tokens => { "anyOf": [
        { "type": "integer", "minimum": 0 }, { "type": "string", "pattern": "^[0-9]{1,9}k?$" },
    ] },
    Percent => { "type": "string", "title": "percent", "pattern": "^(100|[0-9]{1,2})%$" },
    RawFaults => { "anyOf": [
        { "type": "boolean" },
        { "type": "string", "enum": (FaultKind::words()) },
        { "type": "array", "items": { "type": "string", "enum": (FaultKind::words()) } },
    ] },
}

impl JsonSchema for RawStream {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "stream".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let ends = generator.subschema_for::<RawStreamEnds>();
        json_schema!({ "anyOf": [{ "type": "boolean" }, ends] })
    }
}

impl JsonSchema for RawEvent {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "event".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<RawEventTable>();
        json_schema!({ "anyOf": [{ "type": "string" }, table] })
    }
}

impl JsonSchema for Foreign<Option<Cost>> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "cost".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let table = generator.subschema_for::<Cost>();
        json_schema!({ "anyOf": [{ "type": "boolean" }, table] })
    }
}

impl JsonSchema for RawWorlds {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "worlds".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (faults, table) = (generator.subschema_for::<RawFaults>(), generator.subschema_for::<RawWorldsTable>());
        json_schema!({ "anyOf": [faults, table] })
    }
}
