//! The files field by field, as a person writes them, before fields are checked against each other.
//!
//! A new field begins here, in its struct. All lists of fields are generated from these types (`fields`). The doc comments of
//! the fields are the texts of the guide's reference and of the schemas.

/// Makes the types of tables, each of which refuses fields that it does not have.
macro_rules! tables {
    ($($(#[$about:meta])* $visibility:vis struct $name:ident { $($fields:tt)* })+) => {
        $($(#[$about])*
        #[derive(Clone, serde::Deserialize)]
        #[cfg_attr(test, derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields, expecting = "a table")]
        $visibility struct $name { $($fields)* })+
    };
}

mod golden;
mod scenario;
mod step;
mod suite;
mod system;
mod tool;

pub(super) use golden::RawGolden;
pub(super) use scenario::{RawRecord, RawScenario};
pub(super) use step::{RawAct, RawCancel, RawInside, RawStep, fields};
pub(super) use suite::{RawApi, RawCaller, RawNormalize, RawPrice, RawSuite, RawSuspects};
pub(super) use system::{RawModel, RawReady, RawSystem};
pub(super) use tool::RawTool;

/// Makes a table of one table's fields and, where they are not set, those of another one; then come the fields that are neither.
macro_rules! over {
    ($type:ident, $base:ident, $own:ident; $($field:ident),+; $($other:ident: $value:expr),*) => {
        $type { $($field: $own.$field.or($base.$field),)+ $($other: $value),* }
    };
}
pub(super) use over;
