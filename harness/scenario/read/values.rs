//! The small values of a file, each read into a type of its own: durations, patterns, pointers, levels.
//!
//! Visitors report mistakes in these values, so that the TOML reader adds the place.

use std::fmt;
use std::time::Duration;

use regex::Regex;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{Deserialize, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use super::json::RawJson;
use super::spanned::Spanned;
use crate::options::{
    ClockFrom, Cost, Crash, Delays, Egress, ForkTools, Leaves, Level, Panics, Percent, Tokens, Unused,
};
use crate::pointer::Pointer;
use crate::step::{Dialogs, Framing};
use crate::{ToolsFrom, Unobserved};
use retake_base::text::listed;
use retake_core::events::{Detail, TextAs};
use retake_core::secrets::Suspected;
use retake_model::OfferedTools;

/// A duration, such as `"60s"`, `"500ms"` or `"2m"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RawDuration(pub(super) Duration);

/// A regular expression.
#[derive(Clone, Debug)]
pub(super) struct Pattern(pub(super) Regex);

/// A value whose type belongs to another crate, and is read here.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Foreign<T>(pub T);

/// The colour scheme of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colors(pub(super) &'static str);

/// The kind of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It drives a system.
    System,
    /// It executes recorded calls of tools again.
    Tools,
}

/// One HTTP status, or a list of several.
#[derive(Clone, Debug)]
pub(super) struct Statuses(pub(super) Vec<u16>);

/// The value of `stream`: a boolean, or a table with the first and the last event. `None` if there is no stream.
#[derive(Clone)]
pub(super) struct RawStream(pub(super) Option<RawStreamEnds>);

#[derive(Clone, Default, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawStreamEnds {
    /// The event that has to come first.
    /// Example: `"metadata"`.
    pub(super) first: Option<Spanned<String>>,
    /// The event at which the stream is over for the client: its name, or a table as for `after`.
    /// Example: `"end"`.
    pub(super) last: Option<Spanned<RawEvent>>,
    /// Goes on to the next step while the stream is open, as `listen` does for GET: for a run that waits for a person.
    /// Default: `false`. Example: `true`.
    pub(super) listen: Option<bool>,
}

/// An event, by its name or as a table.
#[derive(Clone)]
pub(super) enum RawEvent {
    Name(String),
    Table(Box<RawEventTable>),
}

#[derive(Clone, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawEventTable {
    /// The name of the event.
    /// Example: `"state"`.
    pub(super) event: Spanned<String>,
    /// Where in the event a value is looked at, as a JSON pointer.
    /// Example: `"/status"`.
    pub(super) at: Option<Spanned<Pointer>>,
    /// The value at that place.
    /// Example: `"finished"`.
    pub(super) is: Option<Spanned<RawJson>>,
    /// How many such events have to come.
    /// Default: `1`. Example: `2`.
    pub(super) times: Option<Spanned<usize>>,
}

/// The longest duration. With a much longer one, the clock's arithmetic would overflow.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

fn parse_duration(text: &str) -> Result<Duration, String> {
    let none = || format!("`{text}` is not a duration\nwrite \"60s\", \"500ms\" or \"2m\"");
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).ok_or_else(none)?);
    let of_unit: fn(u64) -> Duration = match unit {
        _ if number.is_empty() => return Err(none()),
        "ms" => Duration::from_millis,
        "s" => Duration::from_secs,
        "m" => |minutes| Duration::from_secs(minutes.saturating_mul(60)),
        _ => return Err(none()),
    };
    // Only a number that is too large fails to parse.
    let duration = of_unit(number.parse().unwrap_or(u64::MAX));
    if duration > LONGEST { Err(format!("`{text}` is more than a day")) } else { Ok(duration) }
}

/// Implements `Deserialize` for a type, with a visitor of the given methods: one for each kind of TOML value that is allowed.
macro_rules! read_as {
    ($type:ty, $expected:expr, { $($visit:tt)* }) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Reader;
                impl<'de> Visitor<'de> for Reader {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($expected)
                    }
                    $($visit)*
                }
                deserializer.deserialize_any(Reader)
            }
        }
    };
}

pub(super) use read_as;

read_as!(RawDuration, "a duration as text: \"60s\", \"500ms\" or \"2m\"", {
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<RawDuration, E> {
        parse_duration(text).map(RawDuration).map_err(E::custom)
    }
});

read_as!(Pattern, "a regular expression as text", {
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Pattern, E> {
        Regex::new(text).map(Pattern).map_err(|error| {
            let told = error.to_string();
            let why = told.rsplit_once("error: ").map_or(told.as_str(), |(_, why)| why);
            let why = why.lines().next().unwrap_or_default();
            E::custom(format!("`{text}` is not a regular expression: {why}"))
        })
    }
});

read_as!(Pointer, "a JSON pointer as text", {
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Pointer, E> {
        Pointer::parse(text).map_err(E::custom)
    }
});

read_as!(Tokens, "a number of tokens: 12000 or \"12k\"", {
    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Tokens, E> {
        u64::try_from(number).map(Tokens).map_err(|_| E::custom("a number of tokens is not negative"))
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Tokens, E> {
        let (number, times) = text.strip_suffix('k').map_or((text, 1), |number| (number, 1000));
        let tokens = number.parse::<u32>().map(|number| Tokens(u64::from(number) * times));
        tokens.map_err(|_| E::custom(format!("`{text}` is no number of tokens\nwrite 12000 or \"12k\"")))
    }
});

read_as!(Percent, "a share as text: \"80%\"", {
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Percent, E> {
        let percent = text.strip_suffix('%').and_then(|number| number.parse().ok()).filter(|percent| *percent <= 100);
        percent.map(Percent).ok_or_else(|| E::custom(format!("`{text}` is no share\nwrite it in percent: \"80%\"")))
    }
});

read_as!(Foreign<Option<Cost>>, "true, or a table with `calls`, `input` and `cached`", {
    fn visit_bool<E>(self, flag: bool) -> Result<Foreign<Option<Cost>>, E> {
        Ok(Foreign(flag.then(Cost::default)))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Foreign<Option<Cost>>, A::Error> {
        Cost::deserialize(MapAccessDeserializer::new(map)).map(|cost| Foreign(Some(cost)))
    }
});

read_as!(Statuses, "a status or a list of them", {
    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Statuses, E> {
        status(number).map(|status| Statuses(vec![status]))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Statuses, A::Error> {
        let numbers = Vec::deserialize(SeqAccessDeserializer::new(list))?;
        let statuses = numbers.into_iter().map(status::<A::Error>).collect::<Result<Vec<_>, _>>()?;
        if statuses.is_empty() {
            return Err(A::Error::custom("the list of statuses is empty"));
        }
        Ok(Statuses(statuses))
    }
});

fn status<E: serde::de::Error>(number: i64) -> Result<u16, E> {
    u16::try_from(number)
        .ok()
        .filter(|status| (100..600).contains(status))
        .ok_or_else(|| E::custom(format!("{number} is not an HTTP status: expected 100 to 599")))
}

read_as!(RawStream, "true, or a table with `first`, `last` and `listen`", {
    fn visit_bool<E>(self, flag: bool) -> Result<RawStream, E> {
        Ok(RawStream(flag.then(RawStreamEnds::default)))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawStream, A::Error> {
        RawStreamEnds::deserialize(MapAccessDeserializer::new(map)).map(|ends| RawStream(Some(ends)))
    }
});

read_as!(RawEvent, "the name of an event, or a table with `event`", {
    fn visit_str<E>(self, name: &str) -> Result<RawEvent, E> {
        Ok(RawEvent::Name(name.to_owned()))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawEvent, A::Error> {
        RawEventTable::deserialize(MapAccessDeserializer::new(map)).map(|table| RawEvent::Table(Box::new(table)))
    }
});

/// Implements `Deserialize` for an enum of a few words. (When serde's derived implementation finds another type, its error does
/// not list the words.)
macro_rules! read_word {
    ($type:ty: $first:literal => $value:expr $(, $word:literal => $other:expr)+) => {
        read_as!($type, concat!("one of `", $first, "`" $(, ", `", $word, "`")+), {
            fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<$type, E> {
                match word {
                    $first => Ok($value),
                    $($word => Ok($other),)+
                    other => Err(E::unknown_variant(other, &[$first, $($word),+])),
                }
            }
        });
    };
}

read_word!(Level: "ignore" => Level::Ignore, "note" => Level::Note, "fail" => Level::Fail);
read_word!(Kind: "system" => Kind::System, "tools" => Kind::Tools);
read_word!(ToolsFrom: "recorded" => ToolsFrom::Recorded, "live" => ToolsFrom::Live);
read_word!(Colors: "light" => Colors("light"), "dark" => Colors("dark"));
read_word!(Dialogs: "dismiss" => Dialogs::Dismiss, "accept" => Dialogs::Accept);
read_word!(Framing: "plain" => Framing::Plain, "socket.io" => Framing::SocketIo, "graphql-ws" => Framing::GraphQl);
read_word!(Unobserved: "skip" => Unobserved::Skip, "execute" => Unobserved::Execute);
read_word!(Panics: "fail" => Panics::Fail, "allow" => Panics::Allow);
read_word!(Foreign<Suspected>: "refuse" => Foreign(Suspected::Refuse), "mask" => Foreign(Suspected::Mask), "keep" => Foreign(Suspected::Keep));
read_word!(Foreign<TextAs>: "kind" => Foreign(TextAs::Kind), "lines" => Foreign(TextAs::Lines));
read_word!(Egress: "off" => Egress::Off, "note" => Egress::Note, "fail" => Egress::Fail, "proven" => Egress::Proven);
read_word!(Delays: "none" => Delays::None, "recorded" => Delays::Recorded);
read_word!(ClockFrom: "now" => ClockFrom::Now, "recorded" => ClockFrom::Recorded);
read_word!(Leaves: "stops" => Leaves::Stops, "finishes" => Leaves::Finishes);
read_word!(Crash: "resumes" => Crash::Resumes, "reports" => Crash::Reports);
read_word!(ForkTools: "recorded" => ForkTools::Recorded, "live" => ForkTools::Live);

read_as!(Foreign<Detail>, &format!("one of {}", listed(&Detail::WORDS)), {
    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Foreign<Detail>, E> {
        word.parse().map(Foreign).map_err(|_| E::unknown_variant(word, &Detail::WORDS))
    }
});

read_as!(Unused, "\"fail\", \"allow\" or a list of callers", {
    fn visit_str<E: serde::de::Error>(self, word: &str) -> Result<Unused, E> {
        match word {
            "fail" => Ok(Unused::Fail),
            "allow" => Ok(Unused::Allow),
            other => Err(E::custom(format!(
                "`{other}` is not one of `fail`, `allow`\nto let the turns of one caller stay unserved, write [\"{other}\"]"
            ))),
        }
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Unused, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(Unused::Callers)
    }
});

/// One text, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OneOrMore(pub(crate) Vec<String>);

read_as!(OneOrMore, "a text, or a list of texts", {
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<OneOrMore, E> {
        Ok(OneOrMore(vec![text.to_owned()]))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<OneOrMore, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(list)).map(OneOrMore)
    }
});

read_as!(Foreign<OfferedTools>, "true, false or a list of tool names", {
    fn visit_bool<E>(self, any: bool) -> Result<Foreign<OfferedTools>, E> {
        Ok(Foreign(OfferedTools::Any(any)))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Foreign<OfferedTools>, A::Error> {
        let names = Vec::<String>::deserialize(SeqAccessDeserializer::new(list))?;
        if names.is_empty() {
            return Err(A::Error::custom("the list of tools is empty\n`tools = false` matches calls without tools"));
        }
        Ok(Foreign(OfferedTools::Named(names)))
    }
});

#[cfg(test)]
mod tests;
