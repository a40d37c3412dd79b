//! The fields of `[golden]`, as they are written in the file.

use crate::pointer::Pointer;
use crate::read::spanned::Spanned;
use crate::read::values::Foreign;
use retake_core::events::{Detail, TextAs};

tables! {
#[derive(Default)]
pub(crate) struct RawGolden {
    /// How much of an event the golden shows in addition to its name and top-level keys: nothing (`"keys"`), the types
    /// of everything in it, or the values.
    /// Default: `"types"`. Example: `"keys"`.
    pub detail: Option<Foreign<Detail>>,
    /// JSON pointers to values that the golden shows; `-1` is the last element of a list.
    /// Default: `[]`. Example: `["/messages/-1/content"]`.
    pub show: Option<Vec<Pointer>>,
    /// Events of which several in a row count as one, because chunk boundaries are not a contract.
    /// Default: `[]`. Example: `["messages"]`.
    pub collapse: Option<Vec<String>>,
    /// Events that may come in any order among each other: neighbours are sorted.
    /// Default: `[]`. Example: `["tool_result"]`.
    pub unordered: Option<Vec<String>>,
    /// Whether events of tool calls that the model made at once stay in the order in which they came. Otherwise neighbouring
    /// events that contain the ids of such calls are put into the order of the calls, since parallel tools have no order.
    /// Default: `false`. Example: `true`.
    pub ordered: Option<bool>,
    /// Events that may come at any time and are left out; `*` matches any part of a name.
    /// Default: `[]`. Example: `["heartbeat"]`.
    pub ignore: Option<Vec<String>>,
    /// What the golden shows of lines and bodies that are not JSON, such as the output of a command-line agent: only
    /// that they are text, or their normalized lines.
    /// Default: `"kind"`. Example: `"lines"`.
    pub text: Option<Foreign<TextAs>>,
    /// Whether the golden shows the comments of a stream, such as heartbeats.
    /// Default: `false`. Example: `true`.
    pub comments: Option<bool>,
    /// Whether the golden pins the lengths and the order of lists, the number of different ids in one place, and, with
    /// `detail = "values"`, a hash of all values together.
    /// Default: `true`. Example: `false`.
    pub lengths: Option<bool>,
    /// Keys whose words the golden shows, and not only their type, in addition to `type`, `role`, `status` and the
    /// like.
    /// Default: `[]`. Example: `["phase"]`.
    pub words: Option<Vec<String>>,
    /// Whether the golden shows what a stream sends after its `last` event.
    /// Default: `true`. Example: `false`.
    pub after_last: Option<bool>,
    /// Events, or places in them, of which the golden shows only the types: `EVENT` or `EVENT:/pointer`, where `*`
    /// matches any part.
    /// Default: `[]`. Example: `["values:/run_id"]`.
    pub loose: Option<Vec<String>>,
    /// Headers of answers that the golden shows also for steps that do not go into it otherwise. Of the steps that do, it shows
    /// all headers but those of transport.
    /// Default: that of the suite. Example: `["set-cookie", "cache-control"]`.
    pub headers: Option<Vec<Spanned<String>>>,
    /// The JSON pointer to what events are called, for services whose events all have the same name.
    /// Example: `"/result/kind"`.
    pub event_name: Option<Pointer>,
}

/// What the goldens of all scenarios contain.
#[derive(Default)]
pub(crate) struct RawSuiteGolden {
    /// Headers of answers that each golden shows also for steps that do not go into it otherwise. Of the steps that do, it
    /// shows all headers but those of transport.
    /// Default: `[]`. Example: `["set-cookie", "cache-control"]`.
    pub headers: Option<Vec<Spanned<String>>>,
}
}
