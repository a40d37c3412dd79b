//! Reads `cost`: whether goldens hold what model calls cost, and how much they may cost at most.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::values::read_as;
use crate::options::{Budget, Cost};

/// The value of `cost`: a boolean, or a table.
#[derive(Clone, Debug)]
pub(super) enum RawCost {
    Flag(bool),
    Table(RawCostTable),
}

#[derive(Clone, Debug, Default, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawCostTable {
    /// The most model calls of the scenario.
    /// Example: `6`.
    pub(super) calls: Option<u32>,
    /// The most tokens that they read.
    /// Example: `"12k"`.
    pub(super) input: Option<Tokens>,
    /// How much of each call but a caller's first one has to equal the beginning of an earlier one, so that a provider's cache keeps
    /// it.
    /// Example: `"80%"`.
    pub(super) cached: Option<Percent>,
    /// The same for single callers, by name.
    /// Default: `{}`. Example: `{ lead_agent = { calls = 4 } }`.
    #[serde(default)]
    pub(super) callers: BTreeMap<String, RawBudget>,
}

#[derive(Clone, Debug, Default, serde::Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(super) struct RawBudget {
    /// The most model calls of the caller.
    /// Example: `4`.
    pub(super) calls: Option<u32>,
    /// The most tokens that they read.
    /// Example: `"9k"`.
    pub(super) input: Option<Tokens>,
    /// How much of each of them but the first has to equal the beginning of an earlier one.
    /// Example: `"90%"`.
    pub(super) cached: Option<Percent>,
}

/// A number of tokens.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tokens(u64);

#[derive(Clone, Copy, Debug)]
pub(super) struct Percent(u64);

read_as!(Tokens, "a number of tokens: 12000, \"12k\" or \"1.5M\"", {
    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<Tokens, E> {
        u64::try_from(number).map(Tokens).map_err(|_| E::custom("a number of tokens is not negative"))
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Tokens, E> {
        let unit =
            text.chars().last().and_then(|unit| [('k', 1e3), ('M', 1e6)].into_iter().find(|(name, _)| *name == unit));
        let number = text.trim_end_matches(['k', 'M']).trim_end().parse::<f64>().ok();
        let tokens = number.filter(|number| *number >= 0.0).map(|number| number * unit.map_or(1.0, |(_, times)| times));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is not negative, and a cast saturates"
        )]
        tokens
            .map(|tokens| Tokens(tokens as u64))
            .ok_or_else(|| E::custom(format!("`{text}` is no number of tokens\nwrite 12000, \"12k\" or \"1.5M\"")))
    }
});

read_as!(Percent, "a share as text: \"80%\"", {
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Percent, E> {
        let percent = text.strip_suffix('%').and_then(|number| number.trim_end().parse().ok());
        percent
            .filter(|percent| *percent <= 100)
            .map(Percent)
            .ok_or_else(|| E::custom(format!("`{text}` is no share\nwrite it in percent: \"80%\"")))
    }
});

read_as!(RawCost, "true, or a table with `calls`, `input` and `cached`", {
    fn visit_bool<E>(self, flag: bool) -> Result<RawCost, E> {
        Ok(RawCost::Flag(flag))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawCost, A::Error> {
        RawCostTable::deserialize(MapAccessDeserializer::new(map)).map(RawCost::Table)
    }
});

impl RawCost {
    /// What is asked of the cost; `None` if nothing is.
    pub(super) fn read(&self) -> Option<Cost> {
        let RawCostTable { calls, input, cached, callers } = match self {
            RawCost::Flag(flag) => return flag.then(Cost::default),
            RawCost::Table(table) => table.clone(),
        };
        let callers = callers.into_iter().map(|(caller, budget)| (caller, budget.read()));
        Some(Cost { all: RawBudget { calls, input, cached }.read(), callers: callers.collect() })
    }
}

impl RawBudget {
    fn read(self) -> Budget {
        let (input, cached) = (self.input.map(|tokens| tokens.0), self.cached.map(|percent| percent.0));
        Budget { calls: self.calls.map(u64::from), input, cached }
    }
}
