//! What is typed of a golden: `[golden]`.

use serde::Deserialize;

use crate::events::{Detail, TextAs};
use crate::scenario::pointer::Pointer;

#[derive(Clone, Default, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields, expecting = "a table")]
pub(crate) struct RawGolden {
    /// What is kept of an event beside its name and keys: nothing, the types of all that is in it, or the values.
    /// Default: `"types"`. Example: `"keys"`.
    pub(crate) detail: Option<Detail>,
    /// JSON pointers to values worth pinning; `-1` is the last element of a list.
    /// Default: `[]`. Example: `["/messages/-1/content"]`.
    pub(crate) show: Option<Vec<Pointer>>,
    /// Events of which a run counts as one: chunk boundaries are not a contract.
    /// Default: `[]`. Example: `["messages"]`.
    pub(crate) collapse: Option<Vec<String>>,
    /// Events that have no order among neighbours.
    /// Default: `[]`. Example: `["tool_result"]`.
    pub(crate) unordered: Option<Vec<String>>,
    /// Events that may come at any time and are left out; `*` is any part.
    /// Default: `[]`. Example: `["heartbeat"]`.
    pub(crate) ignore: Option<Vec<String>>,
    /// What is shown of lines and bodies that are no JSON, such as what a command-line agent prints: that they are
    /// text, or their lines, normalized.
    /// Default: `"kind"`. Example: `"lines"`.
    pub(crate) text: Option<TextAs>,
    /// Whether comments of a stream, such as heartbeats, are in it.
    /// Default: `false`. Example: `true`.
    pub(crate) comments: Option<bool>,
    /// Whether lengths and order of lists are in it, how many ids there are at a place, and the hash of all values.
    /// Default: `true`. Example: `false`.
    pub(crate) lengths: Option<bool>,
    /// Keys, beside `type`, `role`, `status` and the like, under which words are shown and not their type alone.
    /// Default: `[]`. Example: `["phase"]`.
    pub(crate) words: Option<Vec<String>>,
    /// Whether what a stream brings behind its `last` event is in it.
    /// Default: `true`. Example: `false`.
    pub(crate) after_last: Option<bool>,
    /// Events, or places in them, of which types alone are shown: `EVENT` or `EVENT:/pointer`, with `*` for any part.
    /// Default: `[]`. Example: `["values:/run_id"]`.
    pub(crate) loose: Option<Vec<String>>,
}
