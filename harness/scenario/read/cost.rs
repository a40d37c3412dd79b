//! Reads `cost`: whether goldens hold what model calls cost, and how much they may cost at most.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

use super::values::read_as;
use crate::options::{Cost, Percent, Tokens};

/// The value of `cost`: a boolean, or a table.
#[derive(Clone, Debug)]
pub(super) struct RawCost(pub(super) Option<Cost>);

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

read_as!(RawCost, "true, or a table with `calls`, `input` and `cached`", {
    fn visit_bool<E>(self, flag: bool) -> Result<RawCost, E> {
        Ok(RawCost(flag.then(Cost::default)))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<RawCost, A::Error> {
        Cost::deserialize(MapAccessDeserializer::new(map)).map(|cost| RawCost(Some(cost)))
    }
});
