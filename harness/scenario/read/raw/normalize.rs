//! What is typed of a rule: `[[normalize]]`.

use serde::Deserialize;

use crate::scenario::read::spanned::Spanned;
use crate::scenario::read::values::Pattern;

#[derive(Clone, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawNormalize {
    /// A regular expression. It acts on texts, one by one.
    /// Example: `"order-[0-9]+"`.
    pub(crate) pattern: Spanned<Pattern>,
    /// What stands in its place; `$1` is its first group.
    /// Example: `"<ORDER>"`.
    pub(crate) replace: Spanned<String>,
}
