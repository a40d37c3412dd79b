//! The fields of `[[normalize]]`, as they are written in the file.

use serde::Deserialize;

use crate::read::spanned::Spanned;
use crate::read::values::Pattern;

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawNormalize {
    /// A regular expression, applied to each text on its own.
    /// Example: `"order-[0-9]+"`.
    pub pattern: Spanned<Pattern>,
    /// The replacement; `$1` is the first group.
    /// Example: `"<ORDER>"`.
    pub replace: Spanned<String>,
}
